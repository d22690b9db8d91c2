/*!
 * \file devices.h
 * \brief The interface by which the runtime reaches devices other than the CPU, and the current
 * one.
 */
#ifndef MXNET_SRC_RUNTIME_CORE_DEVICES_H_
#define MXNET_SRC_RUNTIME_CORE_DEVICES_H_

#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

#include "runtime/core/function.h"

namespace mxnet {
namespace runtime {

struct ArrayObject;

/*! \brief Memory of a device, and how it is given back. */
struct DeviceBlock {
  void* data;
  void* owner;
  void (*release)(void* owner, size_t size);
};

/*! \brief The arguments of a call, borrowed. */
struct CallArguments {
  const MXNetValue* values;
  const int* type_codes;
  int size;
};

/*! \brief Devices beside the CPU. Any thread may call. */
class DeviceProvider {
 public:
  virtual ~DeviceProvider() = default;
  /*! \brief Memory, which is never NULL; throws MemoryError and, for an unknown device, ValueError.
   */
  // By reference: the context was stored as two halves, and loading it at once, to pass it by
  // value, would stall the processor.
  virtual DeviceBlock Alloc(const DLDevice& ctx, size_t bytes, bool zeroed) = 0;
  /*! \brief The name of a kind of device, which lives as long as the process; NULL where unknown.
   */
  virtual const char* KindName(int device_type) = 0;
  /*! \brief The number of a kind of device; 0 where no kind has the name. */
  virtual int KindNumber(const std::string& name) = 0;
  /*! \brief The names of the kinds of which there are devices now. */
  virtual std::vector<std::string> KindNames() = 0;
  /*! \brief Waits for the work that fills an array of a device; throws where that has failed. */
  virtual void AwaitContent(const ArrayObject* array) = 0;
  /*!
   * \brief Calls an operator that has to do with one of the devices; false for any other.
   *
   * *status is 0, or -1 with the last error set.
   */
  virtual bool TryCall(const FunctionObject& func, const CallArguments& args, MXNetValue* ret,
                       int* ret_type_code, int* status) = 0;
};

/*! \brief The provider, set once by the code that has one; NULL before. */
extern std::atomic<DeviceProvider*> device_provider;

/*!
 * \brief What the library with the operators asks of the code that drives devices.
 *
 * Each function gives 0, or -1 with the last error set: no exception leaves its library.
 */
struct DeviceTransfers {
  /*! \brief Copies elements, wherever each array is; shapes and types agree. */
  int (*assign)(MXNetNDArrayHandle target, MXNetNDArrayHandle source);
  /*! \brief The same from a borrowed tensor of the host. */
  int (*assign_borrowed)(MXNetNDArrayHandle target, const DLTensor* source);
  /*! \brief The same within a device; *done is 0 where its library cannot. */
  int (*assign_within)(MXNetNDArrayHandle target, MXNetNDArrayHandle source, int* done);
  /*! \brief Whether libraries may be asked for operators; `acc_fallback("whole")` forbids it. */
  bool (*may_ask_for_operators)();
  /*!
   * \brief Has a device's library execute a call of an operator, whose arrays are there; *done is 0
   * where it does not.
   */
  int (*call_operator)(MXNetFunctionHandle func, const MXNetValue* values, const int* type_codes,
                       int num_args, DLDevice ctx, MXNetValue* ret, int* ret_type_code, int* done);
};

/*! \brief Set once by the code that has them; NULL where nothing drives devices. */
extern std::atomic<const DeviceTransfers*> device_transfers;

/*!
 * \brief The contexts of each thread's `with` blocks, kept by whoever makes arrays in the current
 * one. Its functions throw nothing.
 */
struct ContextStack {
  void (*push)(DLDevice ctx);
  bool (*pop)(); /*!< false where nothing was pushed */
  DLDevice (*current)();
};

/*! \brief Set once by the code that has one, with runtime.use_context_stack; NULL before. */
extern std::atomic<const ContextStack*> context_stack;

}  // namespace runtime
}  // namespace mxnet

/*! \brief Gives device_transfers to other libraries, which do not see this one's variables. */
extern "C" MXNET_DLL const mxnet::runtime::DeviceTransfers* MXNetDeviceGetTransfers();

#endif  // MXNET_SRC_RUNTIME_CORE_DEVICES_H_
