// A typed function in tvm-ffi; the untyped ones come with tvm-ffi itself ("testing.nop", ...).
#include <tvm/ffi/container/shape.h>
#include <tvm/ffi/dtype.h>
#include <tvm/ffi/function.h>

namespace {

void Zeros(const tvm::ffi::Shape&, DLDataType, const tvm::ffi::String&) {}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(typed_zeros, Zeros);
