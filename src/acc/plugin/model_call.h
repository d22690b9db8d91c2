/*!
 * \file model_call.h
 * \brief What a library may ask of MXNet while it compiles or runs a model.
 */
#ifndef MXNET_SRC_ACC_PLUGIN_MODEL_CALL_H_
#define MXNET_SRC_ACC_PLUGIN_MODEL_CALL_H_

#include <mxnet_acc.h>

#include <memory>
#include <vector>

namespace mxnet {
namespace acc {

/*! \brief A call of loadModel or infer, whose argument `call` is the address of one. */
class ModelCall {
 public:
  ModelCall() = default;
  virtual ~ModelCall() = default;
  ModelCall(const ModelCall&) = delete;
  ModelCall& operator=(const ModelCall&) = delete;

  virtual MXAccStatus AllocOutput(int32_t index, MXAccDataType dtype, int32_t ndim,
                                  const int64_t* shape, MXTensor* out);
  virtual bool ShouldStop() { return false; }
};

/*! \brief Sets the members of the runtime that models use; its context is a library's own. */
void SetModelFunctions(MXAccRuntime* runtime);

/*! \brief The weights of a loadModel that is under way, whose data its library may retain. */
class OfferedWeights {
 public:
  /*! \brief owners has what keeps the data of each. */
  OfferedWeights(const MXTensor* weights, std::vector<std::shared_ptr<const void>> owners);
  ~OfferedWeights();
  OfferedWeights(const OfferedWeights&) = delete;
  OfferedWeights& operator=(const OfferedWeights&) = delete;

 private:
  std::vector<const void*> data_;
};

/*! \brief Forgets what a library retained and never released: it is gone. */
void ReleaseWeightsOf(const void* context);

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_PLUGIN_MODEL_CALL_H_
