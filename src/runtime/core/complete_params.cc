/*!
 * \file complete_params.cc
 * \brief Completes the description of parameters from the signature of the body.
 */
#include <array>
#include <string>
#include <vector>

#include "runtime/core/c_api_guard.h"
#include "runtime/core/function.h"

namespace mxnet {
namespace runtime {
namespace {

bool Has(const MXNetParamInfo& param, int32_t flag) { return (param.flags & flag) != 0; }

bool IsRequired(const MXNetParamInfo& param) {
  return !Has(param, kMXNetParamOptional) && !Has(param, kMXNetParamVariadic);
}

/*! \brief "arg0" and so on, for as many parameters as a description may have. */
const char* UsualName(size_t index) {
  static const auto* names = [] {
    auto* made = new std::array<std::string, kMaxParams>();
    for (size_t i = 0; i < made->size(); ++i) (*made)[i] = "arg" + std::to_string(i);
    return made;
  }();
  return (*names)[index].c_str();
}

/*! \brief Completes one parameter; those behind it may all be left out if rest_optional. */
void Merge(const char* function, const MXNetParamSignature& signature, bool rest_optional,
           MXNetParamInfo* param) {
  const bool takes_all = (signature.flags & kMXNetParamVariadic) != 0;
  if (Has(*param, kMXNetParamVariadic) && !takes_all) {
    MXNET_THROW("ValueError") << function << ": '" << param->name
                              << "' is described as variadic, the C++ body takes one "
                              << signature.type_name;
  }
  if (takes_all) param->flags = kMXNetParamVariadic;
  if (Has(*param, kMXNetParamOptional) && signature.takes(&param->default_value) == 0) {
    const MXNetAny& given = param->default_value;
    MXNET_THROW("TypeError") << function << ": the default of '" << param->name << "' is "
                             << TypeNameOf(given.value, given.type_code) << ", the C++ body takes "
                             << signature.type_name;
  }
  if (param->role == kMXNetRoleAttribute) param->role = signature.role;
  if (param->type != nullptr) return;
  param->type = signature.type;
  const bool nullable = (signature.flags & kMXNetParamOptional) != 0;
  if (nullable && rest_optional && !takes_all) param->flags |= kMXNetParamOptional;
}

void MergeAll(const char* function, const std::vector<MXNetParamInfo*>& params,
              const MXNetParamSignature* signature) {
  // From the last to the first: one may be left out only if all behind it may.
  bool rest_optional = true;
  for (size_t i = params.size(); i-- > 0;) {
    if (signature[i].type_name == nullptr || signature[i].takes == nullptr) {
      MXNET_THROW("ValueError") << function << ": the signature of '" << params[i]->name
                                << "' has no name of its type, or no function that checks a value";
    }
    const bool by_name = Has(*params[i], kMXNetParamKeywordOnly);
    Merge(function, signature[i], rest_optional || by_name, params[i]);
    if (!by_name) rest_optional = rest_optional && !IsRequired(*params[i]);
  }
}

/*! \brief As in Python: by position, then by name only, then variadic; defaults at the end. */
void CheckOrder(const char* function, const MXNetParamInfo* params, size_t num_params) {
  bool optional = false;
  for (size_t i = 0; i < num_params; ++i) {
    const MXNetParamInfo& param = params[i];
    if (Has(param, kMXNetParamVariadic)) {
      if (i + 1 == num_params) break;
      MXNET_THROW("ValueError") << function << ": '" << param.name
                                << "' is variadic and not the last parameter";
    }
    if (Has(param, kMXNetParamKeywordOnly)) continue;
    if (optional && !Has(param, kMXNetParamOptional)) {
      MXNET_THROW("ValueError") << function << ": '" << param.name
                                << "' has no default, a parameter before it has one";
    }
    optional = Has(param, kMXNetParamOptional);
  }
}

void Complete(const char* function, MXNetParamInfo* params, size_t num_params,
              const MXNetParamSignature* signature, size_t num_signature) {
  CheckParams(function, params, num_params);
  std::vector<MXNetParamInfo*> of_body;
  for (size_t i = 0; i < num_params; ++i) {
    if (params[i].name == nullptr) params[i].name = UsualName(i);
    if (!Has(params[i], kMXNetParamFrontEnd)) of_body.push_back(&params[i]);
  }
  if (signature != nullptr) {
    if (of_body.size() != num_signature) {
      MXNET_THROW("ValueError") << function << ": " << of_body.size()
                                << " parameters are described, the C++ body takes "
                                << num_signature;
    }
    MergeAll(function, of_body, signature);
  }
  CheckOrder(function, params, num_params);
}

}  // namespace
}  // namespace runtime
}  // namespace mxnet

int MXNetFuncCompleteParams(const char* function, MXNetParamInfo* params, size_t num_params,
                            const MXNetParamSignature* signature, size_t num_signature) {
  return mxnet::runtime::Guard([&] {
    mxnet::runtime::RequireNotNull(function, "MXNetFuncCompleteParams", "function");
    mxnet::runtime::Complete(function, params, num_params, signature, num_signature);
  });
}
