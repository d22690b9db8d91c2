/*!
 * \file function.h
 * \brief The function object behind MXNetFunctionHandle.
 */
#ifndef MXNET_SRC_RUNTIME_CORE_FUNCTION_H_
#define MXNET_SRC_RUNTIME_CORE_FUNCTION_H_

#include <mxnet/op/c_operator_api.h>
#include <mxnet/runtime/any.h>

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace mxnet {
namespace runtime {

/*! \brief Bounds the memory of the stack in which defaults are filled in. */
constexpr size_t kMaxParams = 64;

/*! \brief ValueError where too many parameters are described, or params is NULL. */
void CheckParams(const char* function, const MXNetParamInfo* params, size_t num_params);

/*! \brief The name that this thread last failed to find in the registry; "" before. */
const char* LastMissingFunction() noexcept;

/*! \brief Owned copy of a description. */
class FunctionInfo {
 public:
  FunctionInfo();
  explicit FunctionInfo(const MXNetFuncInfo& info, bool is_overload = false);
  ~FunctionInfo();
  FunctionInfo(const FunctionInfo&) = delete;
  FunctionInfo& operator=(const FunctionInfo&) = delete;
  /*! \brief What functions have that are not described. */
  static const FunctionInfo* Undescribed();

  const MXNetFuncInfo& view() const { return info_; }
  /*! \brief Parameters the body sees, in order: all but the front end's own. */
  const std::vector<const MXNetParamInfo*>& body_params() const { return body_params_; }
  bool variadic() const { return variadic_; }
  /*! \brief The body's parameter that takes a context; -1 for none. */
  int context_param() const { return context_param_; }
  /*! \brief The operator that the function is; NULL for any other. */
  const MXNetOperator* op() const { return info_.op == nullptr ? nullptr : &op_; }
  /*! \brief Whether the function takes any arguments, so that a call needs no check. */
  bool takes_anything() const { return body_params_.empty() && (variadic_ || !info_.described); }

 private:
  const char* Keep(const char* text);
  void CopyParams(const MXNetFuncInfo& info);
  void CopyOverloads();
  void CopyOperator();

  std::deque<std::string> strings_;
  std::vector<MXNetParamInfo> params_;
  std::vector<const MXNetParamInfo*> body_params_;
  std::vector<std::unique_ptr<FunctionInfo>> overloads_;
  std::vector<const MXNetFuncInfo*> overload_views_;
  bool variadic_{false};
  int context_param_{-1};
  MXNetOperator op_{};
  MXNetFuncInfo info_{};
};

struct FunctionObject;

/*! \brief A function without a description. */
FunctionObject* NewFunction(MXNetPackedCFunc call, void* resource,
                            MXNetPackedCFuncFinalizer finalizer);

/*! \brief Runs the finalizer of a function, and frees it. */
void DeleteFunction(MXNetObject* self);

/*! \brief A function: what to call, with what, and its description. */
struct FunctionObject {
  MXNetObject header;
  MXNetPackedCFunc call;
  void* resource;
  MXNetPackedCFuncFinalizer finalizer;
  const FunctionInfo* info;
  /*! \brief With this many arguments, all given, a call does not read the description; or kAnyArgs.
   */
  int direct_args;

  static constexpr int kAnyArgs = -1;

  int Call(const MXNetValue* values, const int* type_codes, int num_args, MXNetValue* ret,
           int* ret_type_code) const;
  /*! \brief Writes the arguments of the named parameters, with the defaults of those not given. */
  int Fill(const MXNetValue* values, const int* type_codes, int num_args, MXNetValue* filled,
           int* filled_codes) const;
  /*! \brief TypeError for so many arguments, which are too many; -1. */
  int RejectCount(int num_args) const noexcept;

 private:
  int CallChecked(const MXNetValue* values, const int* type_codes, int num_args, MXNetValue* ret,
                  int* ret_type_code) const;
  /*! \brief Adds this function to the source locations that the last error passed; the status. */
  int Fail(int status) const noexcept;
  int CallDescribed(const MXNetValue* values, const int* type_codes, int num_args, MXNetValue* ret,
                    int* ret_type_code) const;
  /*! \brief The same for more arguments than named parameters, some of which were not given. */
  int CallVariadic(const MXNetValue* values, const int* type_codes, int num_args, MXNetValue* ret,
                   int* ret_type_code) const;
};

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_SRC_RUNTIME_CORE_FUNCTION_H_
