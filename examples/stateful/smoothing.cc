// An operator that remembers: each call of smoothing.exponential makes a function with its own
// state.
#include <mxnet/runtime/registry.h>

#include <memory>
#include <optional>

namespace {

using namespace mxnet::runtime;

// The state lives as long as the function that Python holds, and no longer.
class Exponential {
 public:
  explicit Exponential(double weight) : weight_(weight) {
    if (!(weight > 0 && weight <= 1)) {
      MXNET_THROW("ValueError") << "smoothing.exponential: weight must be in (0, 1], got "
                                << weight;
    }
  }
  double Next(double value) {
    mean_ = mean_ ? *mean_ + weight_ * (value - *mean_) : value;
    return *mean_;
  }

 private:
  double weight_;
  std::optional<double> mean_;
};

MXNET_REGISTER_API("smoothing.exponential")
    .describe("Makes a function that returns the weighted mean of all that it has been given.")
    .arg("weight", 0.5, "How much the newest value counts, above 0 and at most 1.")
    .returns("Callable[[float], float]")
    .set_body_typed([](double weight) {
      auto state = std::make_shared<Exponential>(weight);
      return TypedPackedFunc<double(double)>([state](double x) { return state->Next(x); }).packed();
    });

}  // namespace
