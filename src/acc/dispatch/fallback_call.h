/*!
 * \file fallback_call.h
 * \brief An operator executed on the host, for arrays of an accelerator.
 */
#ifndef MXNET_SRC_ACC_DISPATCH_FALLBACK_CALL_H_
#define MXNET_SRC_ACC_DISPATCH_FALLBACK_CALL_H_

#include <mxnet/runtime/container/array.h>

#include <deque>

#include "acc/device/stats.h"
#include "acc/dispatch/arguments.h"

namespace mxnet {
namespace acc {

/*! \brief The arguments of a call, with copies on the host for what is on an accelerator. */
class FallbackCall {
 public:
  explicit FallbackCall(const Call& call);

  /*! \brief Runs the body; copies mutated arguments back, and the result to the target. Throws. */
  void Run(Context target, MXNetValue* ret, int* ret_type_code);

  const CallCost& cost() const { return cost_; }

 private:
  /*! \brief An array of an accelerator with its copy on the host. */
  struct Copied {
    NDArray original;
    NDArray on_host;
    bool mutated;
  };

  /*! \brief The copy on the host that stands for an array. */
  NDArray Copy(const NDArray& array, bool mutated);
  NDArray Bring(const NDArray& array, Context ctx);
  Any MovedTo(const Any& value, Context target);
  const Copied* CopyOf(const void* on_host) const;

  CallCost cost_;
  std::deque<Copied> copies_;
  const Call& call_;
  Arguments::Replace replace_;
  Arguments args_;
};

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_DISPATCH_FALLBACK_CALL_H_
