/*!
 * \file anywhere.h
 * \brief Functions whose arrays may be on any device, and that have a body of their own.
 */
#ifndef MXNET_SRC_API_CALL_ANYWHERE_H_
#define MXNET_SRC_API_CALL_ANYWHERE_H_

#include <mxnet/runtime/packed_func.h>

#include <memory>
#include <utility>

#include "op/tensor/strided.h"
#include "runtime/core/operator.h"

namespace mxnet {
namespace op {

/*!
 * \brief Runs the body of a function, which is said of what it throws.
 *
 * kElementsElsewhere for ElementsElsewhere: whoever knows the device executes the call.
 */
template <typename Body>
int GuardedCall(MXNetFunctionHandle func, const Body& body) {
  const auto run = [&] {
    try {
      return body();
    } catch (const ElementsElsewhere& error) {
      error.SetLast();
      return kElementsElsewhere;
    }
  };
  return runtime::details::Guarded(
      run, [func](const Error& error) { return runtime::details::SetLastOf(func, error); });
}

/*!
 * \brief A body of arrays of any device.
 *
 * It may throw ElementsElsewhere where it has done nothing yet.
 */
struct AnywhereBody {
  using Body = void (*)(const MXNetArgs& args, MXNetRetValue* ret);

  static PackedFunc New(Body body, std::shared_ptr<void> kept = nullptr) {
    auto* made = new AnywhereBody{nullptr, body, std::move(kept)};
    MXNET_CHECK_CALL(MXNetFuncCreateFromCFunc(&Call, made, &Delete, &made->self));
    return PackedFunc(ObjectRef::Steal(made->self));
  }

  MXNetFunctionHandle self;
  Body body;
  std::shared_ptr<void> kept; /*!< what the description of an operator refers to */

  static int Call(void* resource, const MXNetValue* values, const int* type_codes, int num_args,
                  MXNetValue* ret, int* ret_type_code) {
    const auto& function = *static_cast<const AnywhereBody*>(resource);
    return GuardedCall(function.self, [&] {
      MXNetRetValue result;
      const MXNetArgs args{values, type_codes, num_args, function.self};
      function.body(args, &result);
      result.MoveTo(ret, ret_type_code);
      return 0;
    });
  }

  static void Delete(void* resource) { delete static_cast<AnywhereBody*>(resource); }
};

/*! \brief The same of an operator, for OperatorRegistry::body. */
template <AnywhereBody::Body body>
PackedFunc NewAnywhere(std::shared_ptr<void> typed) {
  return AnywhereBody::New(body, std::move(typed));
}

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_API_CALL_ANYWHERE_H_
