// Polynomials of arrays.
#include <mxnet/runtime/registry.h>

#include <vector>

namespace {

using namespace mxnet::runtime;

// The arguments are borrowed: the array is the caller's own memory, whatever library made it.
NDArray Evaluate(const DLTensor* x, const std::vector<double>& coefficients) {
  if (x->dtype != kFloat64 || !IsContiguous(*x)) {
    MXNET_THROW("TypeError") << "polynomial.evaluate: x must be a contiguous array of float64";
  }
  NDArray result = NDArray::Empty(TensorShape(*x), kFloat64);
  const auto* from = static_cast<const double*>(TensorData(*x));
  auto* to = result.data_as<double>();
  for (int64_t i = 0; i < TensorSize(*x); ++i) {
    double value = 0;
    for (size_t k = coefficients.size(); k-- > 0;) value = value * from[i] + coefficients[k];
    to[i] = value;
  }
  return result;
}

std::vector<double> Derivative(std::vector<double> coefficients) {
  if (coefficients.empty()) return coefficients;
  coefficients.erase(coefficients.begin());
  for (size_t k = 0; k < coefficients.size(); ++k) coefficients[k] *= static_cast<double>(k + 1);
  return coefficients;
}

MXNET_REGISTER_API("polynomial.evaluate")
    .describe("Value of a polynomial at each element of an array.")
    .arg("x", "Where, an array of float64 of any shape.")
    .arg("coefficients", "Of 1, x, x**2 and so on.")
    // Other Python threads may run meanwhile, if the array is large enough to be worth it.
    .release_gil(1 << 16)
    .set_body_typed(&Evaluate);

MXNET_REGISTER_API("polynomial.derivative")
    .describe("Coefficients of the derivative of a polynomial.")
    .arg("coefficients", "Of 1, x, x**2 and so on.")
    .set_body_typed(&Derivative);

}  // namespace
