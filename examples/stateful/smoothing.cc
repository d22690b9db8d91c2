// A class that keeps state between calls: a mean that follows the newest values.
#include <mxnet/runtime/class.h>

#include <optional>
#include <vector>

namespace {

using namespace mxnet::runtime;

class Exponential {
 public:
  explicit Exponential(double weight) : weight_(weight) {
    if (!(weight > 0 && weight <= 1)) {
      MXNET_THROW("ValueError") << "smoothing.Exponential: weight must be in (0, 1], got "
                                << weight;
    }
  }

  double Next(double value) {
    mean_ = mean_ ? *mean_ + weight_ * (value - *mean_) : value;
    return *mean_;
  }
  double weight() const { return weight_; }
  std::optional<double> mean() const { return mean_; }

 private:
  double weight_;
  std::optional<double> mean_;
};

// Python has the object, C++ what is in it: it lives as long as either holds it.
MXNET_REGISTER_CLASS(Exponential, "smoothing.Exponential")
    .describe("The weighted mean of all values that it has been given.")
    .def_init<double>()
    .arg("weight", 0.5, "How much the newest value counts, above 0 and at most 1.")
    .def_property("weight", &Exponential::weight, "How much the newest value counts.")
    .def_property("mean", &Exponential::mean, "The mean, None before the first value.")
    .def("next", &Exponential::Next, "Takes a value in and returns the mean.")
    .arg("value", "The newest value.")
    .def_copy();

// A function takes the same object, and changes it.
MXNET_REGISTER_API("smoothing.smooth")
    .describe("The means after each of some values.")
    .arg("values", "The values.")
    .arg("state", "What has been seen before; it goes on from there.")
    .set_body_typed([](std::vector<double> values, Exponential& state) {
      for (double& value : values) value = state.Next(value);
      return values;
    });

}  // namespace
