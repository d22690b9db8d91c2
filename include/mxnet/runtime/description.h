/*!
 * \file mxnet/runtime/description.h
 * \brief What is said of one signature: its parameters, with their types, defaults and docs.
 */
#ifndef MXNET_RUNTIME_DESCRIPTION_H_
#define MXNET_RUNTIME_DESCRIPTION_H_

#include <mxnet/runtime/packed_func.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace mxnet {
namespace runtime {
namespace details {

/*! \brief One described parameter. An empty type is that of the C++ parameter. */
struct Param {
  std::string name;
  std::string type;
  std::string doc;
  int32_t flags;
  Any default_value;

  bool is_front_end() const { return (flags & kMXNetParamFrontEnd) != 0; }
  bool is_optional() const { return (flags & kMXNetParamOptional) != 0; }
  bool is_variadic() const { return (flags & kMXNetParamVariadic) != 0; }
};

/*! \brief What the C++ signature says of one parameter. */
struct CxxParam {
  std::string type;      /*!< what Python may pass */
  std::string type_name; /*!< what messages call it */
  bool variadic;
  bool nullable; /*!< a std::optional, which may be left out */
  Match (*check)(const MXNetAny& value);
};

template <typename T>
[[gnu::cold]] CxxParam CxxParamOf() {
  if constexpr (IsVariadic<T>::value) {
    CxxParam param = CxxParamOf<typename T::value_type>();
    param.variadic = true;
    return param;
  } else {
    return {ArgumentAnnotation<T>(), TypeTraits<T>::Name(), false, IsOptional<T>::value,
            [](const MXNetAny& value) {
              T read{};
              return TypeTraits<T>::TryFrom(value.value, value.type_code, &read);
            }};
  }
}

/*! \brief Collects a description, and completes it from the C++ signature. */
class Description {
 public:
  std::string doc;
  std::string returns;

  [[gnu::cold]] void Add(std::string name, std::string type, std::string doc_text, int32_t flags,
                         Any default_value = Any()) {
    described_ = true;
    if (keyword_only_ && (flags & kMXNetParamVariadic) == 0) flags |= kMXNetParamKeywordOnly;
    params_.push_back(
        {std::move(name), std::move(type), std::move(doc_text), flags, std::move(default_value)});
  }

  /*! \brief Adds flags to the parameter added last. */
  [[gnu::cold]] void MarkLast(int32_t flags) {
    if (!params_.empty()) params_.back().flags |= flags;
  }

  /*! \brief Parameters added from now on are taken by name only, variadic ones apart. */
  void BeginKeywordOnly() { keyword_only_ = true; }

  /*! \brief Reads the parameters and the result of a callable type. */
  template <typename F>
  [[gnu::cold]] void TakeSignature() {
    described_ = true;
    derive_ = [](Description* self) {
      if (self->returns.empty()) self->returns = ResultAnnotation<ResultOf<F>>();
      self->TakeParams(static_cast<typename FunctionSignature<F>::Arguments*>(nullptr));
    };
  }

  /*! \brief Completes the description; ValueError where it contradicts the C++ signature. */
  [[gnu::cold]] void Complete(const std::string& function) {
    if (derive_ != nullptr) {
      derive_(this);
      CompleteTypes(function);
    }
    CheckOrder(function);
  }

  bool described() const { return described_; }
  const std::vector<Param>& params() const { return params_; }

  /*! \brief The parameters as the C interface has them, borrowed from this. */
  [[gnu::cold]] std::vector<MXNetParamInfo> Borrowed() const {
    std::vector<MXNetParamInfo> params;
    for (const Param& p : params_) {
      params.push_back({p.name.c_str(), p.type.empty() ? nullptr : p.type.c_str(), p.doc.c_str(),
                        p.flags, 0, AsBorrowed(p.default_value)});
    }
    return params;
  }

  /*! \brief The description in the C form, borrowed from this, from params and from name. */
  [[gnu::cold]] MXNetFuncInfo Describe(const std::string& name,
                                       const std::vector<MXNetParamInfo>& params) const {
    MXNetFuncInfo info{};
    info.struct_size = sizeof(info);
    info.abi_major = MXNET_RUNTIME_ABI_MAJOR;
    info.abi_minor = MXNET_RUNTIME_ABI_MINOR;
    info.name = name.c_str();
    info.doc = doc.c_str();
    info.returns = returns.empty() ? nullptr : returns.c_str();
    info.described = described_ ? 1 : 0;
    info.params = params.data();
    info.num_params = params.size();
    info.release_lock_bytes = -1;
    return info;
  }

  /*! \brief Text of a default travels as kMXNetStr, not as an object. */
  [[gnu::cold]] static MXNetAny AsBorrowed(const Any& value) {
    MXNetAny raw = value.raw();
    std::string_view text;
    if (MapKey::AsText(raw, &text)) {
      raw.type_code = kMXNetStr;
      raw.value.v_str = MXNetByteArray{text.data(), text.size()};
    }
    return raw;
  }

 private:
  [[gnu::cold]] void CompleteTypes(const std::string& function) {
    if (params_.empty()) NameParams();
    std::vector<Param*> body;
    for (Param& param : params_) {
      if (!param.is_front_end()) body.push_back(&param);
    }
    if (body.size() != cxx_params_.size()) {
      MXNET_THROW("ValueError") << function << ": " << body.size()
                                << " parameters are described, the C++ body takes "
                                << cxx_params_.size();
    }
    // From the last to the first: one may be left out only if all behind it may.
    const auto by_name = [](const Param& p) { return (p.flags & kMXNetParamKeywordOnly) != 0; };
    bool rest_optional = true;
    for (size_t i = body.size(); i-- > 0;) {
      Merge(function, body[i], cxx_params_[i], rest_optional || by_name(*body[i]));
      const bool required = !body[i]->is_optional() && !body[i]->is_variadic();
      if (!by_name(*body[i])) rest_optional = rest_optional && !required;
    }
  }

  /*! \brief As in Python: by position, then by name only, then variadic; defaults at the end. */
  [[gnu::cold]] void CheckOrder(const std::string& function) const {
    bool optional = false;
    for (size_t i = 0; i < params_.size(); ++i) {
      const Param& param = params_[i];
      if (param.is_variadic()) {
        if (i + 1 == params_.size()) break;
        MXNET_THROW("ValueError") << function << ": '" << param.name
                                  << "' is variadic and not the last parameter";
      }
      if ((param.flags & kMXNetParamKeywordOnly) != 0) continue;
      if (optional && !param.is_optional()) {
        MXNET_THROW("ValueError") << function << ": '" << param.name
                                  << "' has no default, a parameter before it has one";
      }
      optional = param.is_optional();
    }
  }

  template <typename... Args>
  [[gnu::cold]] void TakeParams(std::tuple<Args...>*) {
    cxx_params_ = {CxxParamOf<Args>()...};
  }

  [[gnu::cold]] void NameParams() {
    for (size_t i = 0; i < cxx_params_.size(); ++i) {
      Add("arg" + std::to_string(i), "", "", kMXNetParamRequired);
    }
  }

  [[gnu::cold]] static void Merge(const std::string& function, Param* param, const CxxParam& cxx,
                                  bool rest_optional) {
    if (param->is_variadic() && !cxx.variadic) {
      MXNET_THROW("ValueError") << function << ": '" << param->name
                                << "' is described as variadic, the C++ body takes one "
                                << cxx.type_name;
    }
    if (cxx.variadic) param->flags = kMXNetParamVariadic;
    if (param->is_optional() && !param->is_front_end() &&
        cxx.check(param->default_value.raw()) != Match::kOk) {
      MXNET_THROW("TypeError") << function << ": the default of '" << param->name << "' is "
                               << TypeNameOf(param->default_value.value(),
                                             param->default_value.type_code())
                               << ", the C++ body takes " << cxx.type_name;
    }
    if (!param->type.empty()) return;
    param->type = cxx.type;
    if (cxx.nullable && rest_optional && !param->is_variadic()) {
      param->flags |= kMXNetParamOptional;
    }
  }

  std::vector<Param> params_;
  std::vector<CxxParam> cxx_params_;
  bool described_{false};
  bool keyword_only_{false};
  /*! \brief Reads the C++ signature. Done late: types may be registered after their use. */
  void (*derive_)(Description* self){nullptr};
};

/*! \brief Ways to call a function, which overload.h collects. */
class Overloads {
 public:
  virtual ~Overloads() = default;
  /*! \brief Completes their descriptions and adds them to that of the function. */
  virtual void Describe(MXNetFuncInfo* info) = 0;
};

}  // namespace details
}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_RUNTIME_DESCRIPTION_H_
