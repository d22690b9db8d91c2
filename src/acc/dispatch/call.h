/*!
 * \file call.h
 * \brief A call of an operator, and the devices that its arguments are on.
 */
#ifndef MXNET_SRC_ACC_DISPATCH_CALL_H_
#define MXNET_SRC_ACC_DISPATCH_CALL_H_

#include <mxnet/runtime/ndarray.h>

#include <string>

#include "acc/device/arrays.h"
#include "runtime/core/devices.h"

namespace mxnet {
namespace acc {

/*! \brief The devices that the arguments of a call are on. */
struct CallDevices {
  Context arrays{kDLCPU, 0};  /*!< of the arrays on an accelerator; else the CPU */
  Context context{kDLCPU, 0}; /*!< what is given for the parameter ctx */
  int context_index{-1};      /*!< the body's parameter for a context; -1 for none */
  bool given{false};          /*!< whether that was given, and not None */
  bool is_wrong{false};       /*!< whether that was given, and is no context */
  bool has_array{false};      /*!< whether an array is given at all */
  bool has_host_array{false}; /*!< whether one with axes is given that is on the CPU */
  bool has_borrowed{false};   /*!< whether one with axes is borrowed, and so no array of MXNet */
  Context others{kDLCPU, 0};  /*!< a second accelerator or device that arrays are on, if any */
  const MXNetNDArrayObject* array{nullptr}; /*!< one of arrays, if there are any */
};

/*! \brief A call of an operator. */
struct Call {
  /*! \brief Looks through the arguments; never throws. */
  Call(const FunctionObject& function, const CallArguments& arguments);

  const FunctionObject& func;
  const CallArguments& args;
  CallDevices devices;
  /*! \brief Why a body that reads only layouts could not execute the call; else "". */
  std::string reason;

  /*! \brief As registered, "_npi.add". */
  const char* name() const { return func.info->view().name; }
  /*! \brief Whether the function has a flag of MXNetFuncFlag. */
  bool has(uint64_t flag) const { return (func.info->view().flags & flag) != 0; }
  /*! \brief The context given as an argument. Throws what the body would. */
  Context ContextArgument() const;

 private:
  void LookAtContext(int index);
};

/*! \brief The items of a sequence of values; NULL where it is none. */
inline const MXNetAnyArray* ItemsOf(const MXNetValue& value, int type_code) {
  switch (type_code) {
    case kMXNetTuple:
    case kMXNetList:
    case kMXNetDict:
      return &value.v_seq;
    case kMXNetObjectHandle: {
      const uint32_t type = static_cast<const MXNetObject*>(value.v_handle)->type_index;
      const bool is_sequence = type == kMXNetObjectTuple || type == kMXNetObjectArray;
      return is_sequence ? &static_cast<const MXNetSeqObject*>(value.v_handle)->items : nullptr;
    }
    default:
      return nullptr;
  }
}

/*! \brief An array of the host that is borrowed for the call, as NumPy's are; else NULL. */
inline const DLTensor* BorrowedTensor(const MXNetValue& value, int type_code) {
  const bool borrowed = type_code == kMXNetArrayHandle || type_code == kMXNetReadOnlyArray ||
                        type_code == kMXNetBorrowedArray;
  const auto* tensor = static_cast<const DLTensor*>(value.v_handle);
  return borrowed && tensor->device.device_type == kDLCPU ? tensor : nullptr;
}

/*! \brief A scalar with a type as a 0-d array of the host that the call borrows; else NULL. */
inline const DLTensor* TypedNumber(const MXNetValue& value, int type_code) {
  const DLTensor* tensor = BorrowedTensor(value, type_code);
  return tensor != nullptr && tensor->ndim == 0 ? tensor : nullptr;
}

inline const DLTensor& TensorOf(const MXNetValue& array) {
  return static_cast<const MXNetNDArrayObject*>(array.v_handle)->tensor;
}

/*!
 * \brief Whether an argument that is no input of the operator, as a shape or an axis, is an array
 * of a device, or has one among its items.
 */
bool HasAttributeElsewhere(const FunctionObject& func, const CallArguments& args);

/*! \brief Whether a sequence is given for one input, with an array of a device among its items. */
bool HasSequenceElsewhere(const FunctionObject& func, const CallArguments& args);

/*! \brief Whether libraries are asked for the operator: those that have infer and a run alone. */
bool IsOffered(const FunctionObject& func);

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_DISPATCH_CALL_H_
