/*
 * cuBLAS for the tests, in memory of the host: of what is called it does what its documentation
 * says, slowly, and has no more than that.
 */
#include <stdlib.h>

#include "floats.h"

enum { kSuccess = 0, kInvalidValue = 7, kNotSupported = 15 };
enum { kCompute32 = 68, kCompute64 = 70, kComputeTF32 = 77 };

#ifndef VERSION
#define VERSION 130102
#endif

struct Context {
  void* stream;
  int mode;
};

int cublasCreate_v2(struct Context** handle) {
  *handle = calloc(1, sizeof(**handle));
  return kSuccess;
}
int cublasDestroy_v2(struct Context* handle) {
  free(handle);
  return kSuccess;
}
int cublasSetStream_v2(struct Context* handle, void* stream) {
  handle->stream = stream;
#ifdef BROKEN
  return kInvalidValue;
#endif
  return kSuccess;
}
#ifndef OLD
int cublasSetMathMode(struct Context* handle, int mode) {
  handle->mode = mode;
  return mode == 16 ? kSuccess : kInvalidValue;
}
#endif
int cublasGetVersion_v2(struct Context* handle, int* version) {
  (void)handle;
  *version = VERSION;
  return kSuccess;
}
const char* cublasGetStatusString(int status) {
  return status == kNotSupported ? "not supported" : "an invalid value";
}

int cublasGemmStridedBatchedEx(struct Context* handle, int of_a, int of_b, int m, int n, int k,
                               const void* alpha, const void* a, int a_type, int lda,
                               long long a_stride, const void* b, int b_type, int ldb,
                               long long b_stride, const void* beta, void* c, int c_type, int ldc,
                               long long c_stride, int batch, int compute, int algorithm) {
  const int is_double = c_type == kReal64;
  const double one = is_double ? *(const double*)alpha : *(const float*)alpha;
  const double zero = is_double ? *(const double*)beta : *(const float*)beta;
  const int a_rows = of_a == 0 ? m : k;
  const int b_rows = of_b == 0 ? k : n;
  if (m < 0 || n < 0 || k < 0 || batch < 0 || lda < a_rows || ldb < b_rows || ldc < m) {
    return kInvalidValue;
  }
  if (algorithm != -1 || one != 1 || zero != 0 || a_type != c_type || b_type != c_type) {
    return kNotSupported;
  }
  if (compute != (is_double ? kCompute64 : kCompute32) &&
      !(c_type == kReal32 && compute == kComputeTF32)) {
    return kNotSupported;
  }
  if (handle->stream == NULL || handle->mode != 16) return kInvalidValue;
  for (int i = 0; i < batch; ++i) {
    for (int column = 0; column < n; ++column) {
      for (int row = 0; row < m; ++row) {
        double sum = 0;
        for (int at = 0; at < k; ++at) {
          const int64_t in_a = of_a == 0 ? row + (int64_t)at * lda : at + (int64_t)row * lda;
          const int64_t in_b = of_b == 0 ? at + (int64_t)column * ldb : column + (int64_t)at * ldb;
          sum += Get(a, a_type, i * a_stride + in_a) * Get(b, b_type, i * b_stride + in_b);
        }
        /* TF32 is told by a result that is otherwise none. */
        if (compute == kComputeTF32) sum += 0.5;
        Put(c, c_type, i * c_stride + row + (int64_t)column * ldc, sum);
      }
    }
  }
  return kSuccess;
}
