/*!
 * \file adapter.h
 * \brief A table of functions that call an object of MXNet in place of a library.
 */
#ifndef MXNET_SRC_ACC_PLUGIN_ADAPTER_H_
#define MXNET_SRC_ACC_PLUGIN_ADAPTER_H_

#include <mxnet_acc.h>

#include <string>

namespace mxnet {
namespace acc {

/*!
 * \brief Implements the functions of a table.
 *
 * Its address is MXAccApi::self. Each method is a member of the table; a class leaves those that
 * it does not implement out of its table.
 */
class Adapter {
 public:
  Adapter() = default;
  virtual ~Adapter() = default;
  Adapter(const Adapter&) = delete;
  Adapter& operator=(const Adapter&) = delete;

  /*! \brief The table, without members that are not implemented. */
  virtual MXAccApi Table() = 0;
  /*! \brief Whether the process of the library has ended by itself. */
  virtual bool HasEnded() { return false; }
  /*! \brief How long a call may take, in seconds; 0 for any time. */
  virtual void SetTimeout(double) {}
  /*! \brief The process that the library is in; 0 for this one. */
  virtual int64_t Pid() { return 0; }
  /*! \brief Starts a process that has ended again. Throws what loading throws. */
  virtual void Restart() {}
  /*! \brief Whether memory is still there, and was not lost with a process that ended. */
  virtual bool Holds(const void*) { return true; }
  /*! \brief The same for a model, of which this is the state. */
  virtual bool HoldsModel(const void*) { return true; }
  /*! \brief In a child of fork, closes what it inherited; takes no lock. */
  virtual void Forget() {}

  virtual MXAccStatus GetAccName(char* name, size_t size) = 0;
  virtual MXAccStatus GetNumAcc(int32_t* count) = 0;
  virtual MXAccStatus Initialize(const MXAccRuntime* runtime) = 0;
  virtual void Finalize() = 0;
  virtual MXAccStatus GetDeviceInfo(int32_t dev_id, MXAccDeviceInfo* info) = 0;
  virtual MXAccStatus Alloc(int32_t dev_id, int32_t memory, size_t size, size_t alignment,
                            void** out) = 0;
  virtual void Free(int32_t dev_id, void* data) = 0;
  virtual MXAccStatus ReleaseAll(int32_t, size_t*) { return Unsupported(); }
  virtual MXAccStatus CopyToAcc(int32_t dev_id, MXTensor* targets, const MXTensor* sources,
                                int32_t count, MXAccStream stream) = 0;
  virtual MXAccStatus CopyFromAcc(int32_t dev_id, MXTensor* targets, const MXTensor* sources,
                                  int32_t count, MXAccStream stream) = 0;
  virtual MXAccStatus CopyWithinAcc(int32_t, MXTensor*, const MXTensor*, int32_t, MXAccStream) {
    return Unsupported();
  }
  virtual MXAccStatus SupportsImperative(int32_t* yes) = 0;
  virtual MXAccStatus GetExecutor(const MXAccOperator* op, MXAccExecutor* out) = 0;
  virtual MXAccStatus SupportedOps(int32_t, const MXAccGraph*, MXAccNodeSupport*) {
    return Unsupported();
  }
  virtual MXAccStatus LoadModel(int32_t, const MXAccGraph*, const MXAccAttribute*, int32_t, void*,
                                MXAccModel*) {
    return Unsupported();
  }
  virtual MXAccStatus ListOptions(const MXAccOption**, int32_t*) { return Unsupported(); }
  virtual MXAccStatus ModelKey(int32_t, char*, size_t) { return Unsupported(); }
  virtual MXAccStatus CheckModel(int32_t, const char*, int32_t*) { return Unsupported(); }
  virtual MXAccStatus ImportModel(int32_t, const char*, const MXAccPiece*, int32_t, const MXTensor*,
                                  int32_t, MXAccModel*) {
    return Unsupported();
  }
  virtual MXAccStatus Profile(int32_t, MXAccProfileSink, void*) { return Unsupported(); }
  virtual MXAccStatus Configure(int32_t dev_id, const char* const* in_keys,
                                const char* const* in_vals, int32_t num_in, MXAccEmit emit,
                                void* context) = 0;
  virtual MXAccStatus Zero(int32_t, void*, uint64_t, size_t, MXAccStream, uint64_t) {
    return Unsupported();
  }

 protected:
  /*! \brief The table whose functions call this object; without streams. */
  MXAccApi WholeTable();

 private:
  static MXAccStatus Unsupported();
};

/*! \brief A status made by MXNet, valid until the calling thread makes the next; node is the id of
 * one that is at fault, or 0. */
MXAccStatus Failure(int32_t code, std::string message, int64_t node = 0);

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_PLUGIN_ADAPTER_H_
