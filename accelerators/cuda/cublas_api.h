/*!
 * \file cublas_api.h
 * \brief The part of cuBLAS's C interface that is called, since version 11; it is loaded at run
 * time and need not be there to compile.
 */
#ifndef CUDAACC_CUBLAS_API_H_
#define CUDAACC_CUBLAS_API_H_

struct CUstream_st;

namespace cudaacc {
namespace cublas {

using Handle = struct cublasContext*;
/*! \brief 0 for success. */
using Status = int;

enum Operation : int { kAsItIs = 0, kTransposed = 1 };
enum DataType : int { kReal32 = 0, kReal64 = 1, kReal16 = 2, kBrain16 = 14 };
enum ComputeType : int { kCompute32 = 68, kCompute64 = 70, kComputeTF32 = 77 };
enum Algorithm : int { kDefaultAlgorithm = -1 };
/*! \brief Sums of two-byte floats are kept in four bytes all the way. */
enum MathMode : int { kNoReducedPrecision = 16 };
constexpr Status kNotSupported = 15;
constexpr Status kAllocationFailed = 3;

using Create = Status (*)(Handle* handle);
using Destroy = Status (*)(Handle handle);
using SetStream = Status (*)(Handle handle, CUstream_st* stream);
using SetMathMode = Status (*)(Handle handle, MathMode mode);
using GetVersion = Status (*)(Handle handle, int* version);
using GetStatusString = const char* (*)(Status status);
using Gemm = Status (*)(Handle handle, Operation of_a, Operation of_b, int m, int n, int k,
                        const void* alpha, const void* a, DataType a_type, int a_leading,
                        long long a_stride, const void* b, DataType b_type, int b_leading,
                        long long b_stride, const void* beta, void* c, DataType c_type,
                        int c_leading, long long c_stride, int batch, ComputeType compute,
                        Algorithm algorithm);

}  // namespace cublas
}  // namespace cudaacc

#endif  // CUDAACC_CUBLAS_API_H_
