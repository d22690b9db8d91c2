/*
 * cuDNN for the tests, in memory of the host: of what is called it does what its documentation
 * says, slowly, and has no more than that.
 */
#include <stdlib.h>

#include "floats.h"

enum { kSuccess = 0, kBadParam = 2000, kNotSupported = 3000 };
enum { kBrain16 = 9, kAccurate = 1, kLog = 2, kChannel = 1 };

#ifndef VERSION
#define VERSION 90501
#endif
/* What cudnnSoftmaxForward answers instead of doing it. */
#ifndef ANSWER
#define ANSWER kSuccess
#endif

struct Context {
  void* stream;
};
struct Tensor {
  int type;
  int n, c, h, w;
};

int cudnnCreate(struct Context** handle) {
  *handle = calloc(1, sizeof(**handle));
  return kSuccess;
}
int cudnnDestroy(struct Context* handle) {
  free(handle);
  return kSuccess;
}
int cudnnSetStream(struct Context* handle, void* stream) {
  handle->stream = stream;
  return kSuccess;
}
size_t cudnnGetVersion(void) { return VERSION; }
const char* cudnnGetErrorString(int status) {
  return status == kBadParam ? "a bad parameter" : "an error";
}
int cudnnCreateTensorDescriptor(struct Tensor** tensor) {
  *tensor = calloc(1, sizeof(**tensor));
  return kSuccess;
}
int cudnnDestroyTensorDescriptor(struct Tensor* tensor) {
  free(tensor);
  return kSuccess;
}
int cudnnSetTensor4dDescriptor(struct Tensor* tensor, int format, int type, int n, int c, int h,
                               int w) {
  const struct Tensor told = {type, n, c, h, w};
  const int known = type == kReal32 || type == kReal64 || type == kReal16 || type == kBrain16;
  if (format != 0 || !known || n <= 0 || c <= 0 || h <= 0 || w <= 0) return kBadParam;
  *tensor = told;
  return kSuccess;
}

#ifndef OLD
/* Of the c elements that are step apart. */
static void Row(int is_log, int type, int c, int64_t step, const void* x, void* y, int64_t first) {
  double largest = -INFINITY;
  double sum = 0;
  for (int i = 0; i < c; ++i) largest = fmax(largest, Get(x, type, first + i * step));
  for (int i = 0; i < c; ++i) sum += exp(Get(x, type, first + i * step) - largest);
  for (int i = 0; i < c; ++i) {
    const double below = Get(x, type, first + i * step) - largest;
    Put(y, type, first + i * step, is_log ? below - log(sum) : exp(below) / sum);
  }
}

int cudnnSoftmaxForward(struct Context* handle, int algorithm, int mode, const void* alpha,
                        const struct Tensor* of_x, const void* x, const void* beta,
                        const struct Tensor* of_y, void* y) {
  const int is_double = of_x->type == kReal64;
  const double one = is_double ? *(const double*)alpha : *(const float*)alpha;
  const double zero = is_double ? *(const double*)beta : *(const float*)beta;
  const int64_t inner = (int64_t)of_x->h * of_x->w;
  if (ANSWER != kSuccess) return ANSWER;
  if (handle->stream == NULL || of_x->n == 0 || of_x != of_y) return kBadParam;
  if (algorithm != kAccurate && algorithm != kLog) return kNotSupported;
  if (mode != kChannel || one != 1 || zero != 0) return kNotSupported;
  for (int64_t i = 0; i < of_x->n * inner; ++i) {
    const int64_t first = i / inner * of_x->c * inner + i % inner;
    Row(algorithm == kLog, of_x->type, of_x->c, inner, x, y, first);
  }
  return kSuccess;
}
#endif
