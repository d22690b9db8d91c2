/*!
 * \file take.cc
 * \brief take, which may fail on its data.
 */
#include <cstring>

#include "accelerators/sdk/status.h"
#include "executor.h"

namespace planted {
namespace {

class TakeExecutor : public Executor {
 public:
  explicit TakeExecutor(const Request& request)
      : values_(request.IndexOf(*request.FindInput("a"))),
        indices_(request.IndexOf(*request.FindInput("indices"))),
        count_(request.input(values_).shape[0]),
        step_(request.input(values_).strides[0]),
        axes_(2) {
    const MXAccDLTensor& out = request.output();
    const MXAccDLTensor& indices = request.input(indices_);
    axes_.shape.assign(out.shape, out.shape + out.ndim);
    axes_.strides[0].assign(out.strides, out.strides + out.ndim);
    axes_.strides[1].assign(indices.strides, indices.strides + indices.ndim);
  }

  void Compute(const Slots& slots) override {
    const Slot& values = slots.all[static_cast<size_t>(values_)];
    const Slot& indices = slots.all[static_cast<size_t>(indices_)];
    const auto item = static_cast<size_t>(mxacc::BitsOf(values.dtype)) / 8;
    Walk(axes_, [&](const int64_t* at, const int64_t*) {
      const int64_t given = cudaacc::Load<int64_t>(indices, at[1], DType::kInt64);
      const int64_t index = given < 0 ? given + count_ : given;
      if (index < 0 || index >= count_) {
        const std::string text = "take: the index " + std::to_string(given) + " is out of range";
        if (slots.in_stream) throw mxacc::Failure(kMXAccBadIndex, text);
        mxacc::Unsupported(text);
      }
      const auto address_of = [&](const Slot& slot, int64_t i) {
        return static_cast<char*>(slot.data) + i * static_cast<int64_t>(item);
      };
      std::memcpy(address_of(slots.output(), at[0]), address_of(values, index * step_), item);
      return true;
    });
  }

 private:
  const int values_;
  const int indices_;
  const int64_t count_;
  const int64_t step_;
  Axes axes_;
};

}  // namespace

std::unique_ptr<Executor> MakeTake(const Request& request) {
  if (request.name() != "take") return nullptr;
  const MXAccDLTensor* values = request.FindInput("a");
  const MXAccDLTensor* indices = request.FindInput("indices");
  const std::optional<mxacc::AttributeValue> mode = request.Attribute("mode");
  const bool one_axis = values != nullptr && values->ndim == 1 && indices != nullptr;
  if (!one_axis || !mxacc::IsInt(mxacc::DTypeOf(indices->dtype))) {
    mxacc::Unsupported("take from another than one axis, or by other than integers");
  }
  if (mode && mode->text != "raise") mxacc::Unsupported("take in the mode " + mode->text);
  return std::make_unique<TakeExecutor>(request);
}

}  // namespace planted
