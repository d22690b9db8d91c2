/*!
 * \file host_call.h
 * \brief An operator carried out on the host, for arrays of an accelerator.
 */
#ifndef MXNET_SRC_ACC_HOST_CALL_H_
#define MXNET_SRC_ACC_HOST_CALL_H_

#include <mxnet/runtime/container/array.h>
#include <mxnet/runtime/ndarray.h>

#include <deque>
#include <vector>

#include "acc/status.h"
#include "runtime/devices.h"

namespace mxnet {
namespace acc {

/*! \brief What the arguments of a call say of where it belongs. */
struct Places {
  Context arrays{kDLCPU, 0};  /*!< of the arrays on an accelerator; else the CPU */
  Context context{kDLCPU, 0}; /*!< what is given for the parameter ctx */
  int context_index{-1};      /*!< the body's parameter for a context; -1 for none */
  bool given{false};          /*!< whether that was given, and not None */
  bool is_wrong{false};       /*!< whether that was given, and is no context */
  bool has_array{false};      /*!< whether an array is given at all */
  bool has_host_array{false}; /*!< whether one with axes is given that is on the CPU */
  Context others{kDLCPU, 0};  /*!< a second accelerator or device that arrays are on, if any */
};

/*! \brief The context given as an argument. Throws what the body would. */
Context ContextArgument(const FunctionObject& func, const CallArguments& args, int index);

/*! \brief Looks through the arguments; never throws. */
Places FindPlaces(const FunctionObject& func, const CallArguments& args);

/*! \brief The arguments of a call, with copies on the host for what is on an accelerator. */
class HostCall {
 public:
  HostCall(const FunctionObject& func, const CallArguments& args, const Places& places);

  /*! \brief Runs the body, brings back what it wrote, and what it made to the target. Throws. */
  void Run(Context target, MXNetValue* ret, int* ret_type_code);

 private:
  /*! \brief An array of an accelerator with its copy on the host. */
  struct Copied {
    NDArray original;
    NDArray on_host;
    bool written;
  };

  void Convert(MXNetValue* value, int* type_code, bool written);
  void ConvertSequence(const MXNetAny* items, size_t size, MXNetValue* value, bool written);
  Any Placed(const Any& value, Context target) const;
  const Copied* CopyOf(const void* on_host) const;

  const FunctionObject& func_;
  std::vector<MXNetValue> values_;
  std::vector<int> type_codes_;
  std::deque<std::vector<MXNetAny>> sequences_;
  std::deque<Copied> copies_;
};

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_HOST_CALL_H_
