#include "blas.h"

#include <algorithm>
#include <limits>
#include <string>

#include "scalars.h"

namespace cudaacc {
namespace {

using mxacc::DType;

cublas::DataType DataTypeOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return cublas::kReal64;
    case DType::kFloat16:
      return cublas::kReal16;
    case DType::kBFloat16:
      return cublas::kBrain16;
    default:
      return cublas::kReal32;
  }
}

cublas::Operation OperationOf(const BlasProduct::Matrix& matrix) {
  return matrix.transposed ? cublas::kTransposed : cublas::kAsItIs;
}

}  // namespace

const BlasLibrary& BlasLibrary::Get() {
  // Never destroyed: at the end of the process threads may be inside.
  static const auto* const library = new BlasLibrary();
  return *library;
}

BlasLibrary::BlasLibrary()
    : OptionalLibrary("MXACC_CUBLAS", {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"}) {
  Find("cublasCreate_v2", &create);
  Find("cublasDestroy_v2", &destroy);
  Find("cublasSetStream_v2", &set_stream);
  Find("cublasSetMathMode", &set_math_mode);
  Find("cublasGetVersion_v2", &get_version);
  Find("cublasGemmStridedBatchedEx", &gemm);
  FindIfThere("cublasGetStatusString", &get_status_string);  // since 11.4
}

void BlasLibrary::Check(cublas::Status status, const char* call) const {
  if (status == 0) return;
  int32_t code = kMXAccFailed;
  if (status == cublas::kAllocationFailed) code = kMXAccOutOfMemory;
  if (status == cublas::kNotSupported) code = kMXAccUnsupported;
  const std::string text =
      get_status_string == nullptr ? "status" : std::string(get_status_string(status));
  throw Failure(code, std::string(call) + ": " + text + " (" + std::to_string(status) + ")");
}

bool BlasProduct::fits() const {
  const int64_t sizes[] = {rows, columns, summed, batch, out.leading, a.leading, b.leading};
  return mxacc::IsFloat(dtype) &&
         *std::max_element(std::begin(sizes), std::end(sizes)) <= std::numeric_limits<int>::max();
}

Blas::Blas() : library_(BlasLibrary::Get()) {
  library_.Check(library_.create(&handle_), "cublasCreate");
  library_.Check(library_.set_math_mode(handle_, cublas::kNoReducedPrecision), "cublasSetMathMode");
}

Blas::~Blas() { library_.destroy(handle_); }

int Blas::version() const {
  int version = 0;
  library_.Check(library_.get_version(handle_, &version), "cublasGetVersion");
  return version;
}

void Blas::Multiply(StreamHandle stream, const BlasProduct& product, bool allows_tf32) {
  library_.Check(library_.set_stream(handle_, stream), "cublasSetStream");
  const bool is_double = product.dtype == DType::kFloat64;
  const Scalars scalars = ScalarsFor(product.dtype);
  cublas::ComputeType compute = is_double ? cublas::kCompute64 : cublas::kCompute32;
  if (product.dtype == DType::kFloat32 && allows_tf32) compute = cublas::kComputeTF32;
  const cublas::DataType type = DataTypeOf(product.dtype);
  const auto size = [](int64_t value) { return static_cast<int>(value); };
  // Its matrices lie column by column: rows of ours are columns there, and so b comes before a.
  const BlasProduct::Matrix& a = product.b;
  const BlasProduct::Matrix& b = product.a;
  const BlasProduct::Matrix& c = product.out;
  library_.Check(library_.gemm(handle_, OperationOf(a), OperationOf(b), size(product.columns),
                               size(product.rows), size(product.summed), scalars.one, a.data, type,
                               size(a.leading), a.stride, b.data, type, size(b.leading), b.stride,
                               scalars.zero, c.data, type, size(c.leading), c.stride,
                               size(product.batch), compute, cublas::kDefaultAlgorithm),
                 "cublasGemmStridedBatchedEx");
}

}  // namespace cudaacc
