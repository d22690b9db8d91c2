/*!
 * \file cudnn_api.h
 * \brief The part of cuDNN's C interface that is called, of versions 8 and 9; it is loaded at run
 * time and need not be there to compile.
 */
#ifndef CUDAACC_CUDNN_API_H_
#define CUDAACC_CUDNN_API_H_

#include <cstddef>

struct CUstream_st;

namespace cudaacc {
namespace cudnn {

using Handle = struct cudnnContext*;
using TensorDescriptor = struct cudnnTensorStruct*;
/*! \brief 0 for success. */
using Status = int;

enum Format : int { kRowMajor = 0 };
enum DataType : int { kReal32 = 0, kReal64 = 1, kReal16 = 2, kBrain16 = 9 };
enum Algorithm : int { kAccurate = 1, kLog = 2 };
/*! \brief Softmax along the second axis, separately at each position of the other axes. */
enum Mode : int { kChannel = 1 };

/*! \brief In version 9, the thousands of a status are the kind of error. */
inline bool IsNotSupported(Status status) { return status == 9 || status / 1000 == 3; }
inline bool IsOutOfMemory(Status status) { return status == 2 || status == 4003 || status == 4004; }

using Create = Status (*)(Handle* handle);
using Destroy = Status (*)(Handle handle);
using SetStream = Status (*)(Handle handle, CUstream_st* stream);
using GetVersion = size_t (*)();
using GetErrorString = const char* (*)(Status status);
using CreateTensorDescriptor = Status (*)(TensorDescriptor* descriptor);
using DestroyTensorDescriptor = Status (*)(TensorDescriptor descriptor);
using SetTensor4dDescriptor = Status (*)(TensorDescriptor descriptor, Format format, DataType type,
                                         int n, int c, int h, int w);
using SoftmaxForward = Status (*)(Handle handle, Algorithm algorithm, Mode mode, const void* alpha,
                                  TensorDescriptor of_x, const void* x, const void* beta,
                                  TensorDescriptor of_y, void* y);

}  // namespace cudnn
}  // namespace cudaacc

#endif  // CUDAACC_CUDNN_API_H_
