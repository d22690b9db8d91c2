/*!
 * \file dnn.h
 * \brief softmax by cuDNN, where it is.
 */
#ifndef CUDAACC_DNN_H_
#define CUDAACC_DNN_H_

#include <cstdint>

#include "../sdk/operators/dtype.h"
#include "cudnn_api.h"
#include "optional_library.h"
#include "runtime.h"

namespace cudaacc {

/*! \brief cuDNN as it was found once: at the path in MXACC_CUDNN, or else by the loader. */
class DnnLibrary : public OptionalLibrary {
 public:
  static const DnnLibrary& Get();

  cudnn::Create create{};
  cudnn::Destroy destroy{};
  cudnn::SetStream set_stream{};
  cudnn::GetVersion get_version{};
  cudnn::GetErrorString get_error_string{};
  cudnn::CreateTensorDescriptor create_tensor_descriptor{};
  cudnn::DestroyTensorDescriptor destroy_tensor_descriptor{};
  cudnn::SetTensor4dDescriptor set_tensor_4d_descriptor{};
  cudnn::SoftmaxForward softmax_forward{};

  void Check(cudnn::Status status, const char* call) const;

 private:
  DnnLibrary();
};

/*! \brief softmax or log_softmax of row-major elements, along one of three axes. */
struct DnnSoftmax {
  bool is_log;
  mxacc::DType dtype; /*!< of the input and the output */
  int64_t outer;      /*!< extents: of the axes before, of the axis, of those behind it */
  int64_t length;
  int64_t inner;
  const void* input;
  void* out; /*!< may be the input */

  /*! \brief Whether cuDNN has the type, and its int holds all sizes. */
  bool fits() const;
};

/*! \brief cuDNN for one device; one thread at a time. The device is the thread's. */
class Dnn {
 public:
  using Library = DnnLibrary;

  Dnn();
  ~Dnn();
  Dnn(const Dnn&) = delete;
  Dnn& operator=(const Dnn&) = delete;

  /*! \brief False where cuDNN cannot do it after all. */
  bool Compute(StreamHandle stream, const DnnSoftmax& softmax);

 private:
  const DnnLibrary& library_;
  cudnn::Handle handle_{nullptr};
  cudnn::TensorDescriptor descriptor_{nullptr};
};

}  // namespace cudaacc

#endif  // CUDAACC_DNN_H_
