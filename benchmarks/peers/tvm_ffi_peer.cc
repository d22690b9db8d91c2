// Typed functions in tvm-ffi; the untyped ones come with tvm-ffi itself ("testing.nop", ...).
#include <tvm/ffi/container/shape.h>
#include <tvm/ffi/dtype.h>
#include <tvm/ffi/function.h>

#include <cmath>
#include <cstdint>

namespace {

void Zeros(const tvm::ffi::Shape&, DLDataType, const tvm::ffi::String&) {}

double Work(int64_t steps) {
  double x = 1;
  for (int64_t i = 0; i < steps; ++i) x = std::sqrt(x + 1);
  return x;
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(typed_zeros, Zeros);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(work, Work);
