/*!
 * \file stand_in.h
 * \brief A table of functions that an object of ours stands behind, instead of a library.
 */
#ifndef MXNET_SRC_ACC_STAND_IN_H_
#define MXNET_SRC_ACC_STAND_IN_H_

#include <mxnet_acc.h>

#include <string>

namespace mxnet {
namespace acc {

/*!
 * \brief Does what the functions of a table do.
 *
 * The functions of MXAccApi are given nothing that would tell libraries apart. So each object takes
 * one of a few sets of functions. Methods are the members of the table; they throw nothing.
 */
class StandIn {
 public:
  /*! \brief ImportError where all sets of functions are taken. */
  StandIn();
  virtual ~StandIn();
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;

  virtual MXAccStatus GetAccName(char* name, size_t size) = 0;
  virtual MXAccStatus GetNumAcc(int32_t* count) = 0;
  virtual MXAccStatus Initialize(const MXAccHost* host) = 0;
  virtual void Finalize() = 0;
  virtual MXAccStatus GetDeviceInfo(int32_t dev_id, MXAccDeviceInfo* info) = 0;
  virtual MXAccStatus Alloc(int32_t dev_id, size_t size, size_t alignment, void** out) = 0;
  virtual void Free(int32_t dev_id, void* data) = 0;
  virtual MXAccStatus ReleaseAll(int32_t dev_id, size_t* live) = 0;
  virtual MXAccStatus CopyToAcc(int32_t dev_id, MXTensor* targets, const MXTensor* sources,
                                int32_t count, MXAccStream stream) = 0;
  virtual MXAccStatus CopyFromAcc(int32_t dev_id, MXTensor* targets, const MXTensor* sources,
                                  int32_t count, MXAccStream stream) = 0;
  virtual MXAccStatus CopyWithinAcc(int32_t dev_id, MXTensor* targets, const MXTensor* sources,
                                    int32_t count, MXAccStream stream) = 0;
  virtual MXAccStatus SupportsImperative(int32_t* yes) = 0;
  virtual MXAccStatus GetExecutor(const MXAccOperator* op, MXAccExecutor* out) = 0;
  virtual MXAccStatus SupportedOps(int32_t dev_id, const MXAccGraph* graph,
                                   MXAccNodeSupport* nodes) = 0;
  virtual MXAccStatus LoadModel(const char* model_id, const MXAccGraph* graph, int32_t dev_id) = 0;
  virtual MXAccStatus UnloadModel(const char* model_id) = 0;
  virtual MXAccStatus Infer(const char* model_id, const MXTensor* in_data, int32_t num_in,
                            MXTensor* out_data, int32_t num_out, MXAccStream stream,
                            void* call) = 0;
  virtual MXAccStatus Configure(int32_t dev_id, const char* const* in_keys,
                                const char* const* in_vals, int32_t num_in, MXAccEmit emit,
                                void* context) = 0;

 protected:
  /*! \brief The table whose functions call this object; without streams. */
  MXAccApi WholeTable() const;

 private:
  int place_;
};

/*! \brief A status of ours, valid until the calling thread's next. */
MXAccStatus Failure(int32_t code, std::string message);

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_STAND_IN_H_
