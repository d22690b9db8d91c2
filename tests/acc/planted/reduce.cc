/*!
 * \file reduce.cc
 * \brief Sums and products of matrices.
 */
#include <mxnet/op/narrow_floats.h>

#include <algorithm>
#include <cmath>

#include "accelerators/sdk/operators/product.h"
#include "accelerators/sdk/operators/reduction.h"
#include "accelerators/sdk/status.h"
#include "executor.h"
#include "fault.h"

namespace planted {
namespace {

namespace narrow = mxnet::op::narrow_floats;
using mxacc::ReduceAxes;
using mxacc::ReduceKind;

/*! \brief What is added up: float16 and float32 in float64, integers without a sign, as they wrap.
 */
template <typename C>
using Total = std::conditional_t<std::is_floating_point_v<C>, double, uint64_t>;

/*! \brief Elements of one or two inputs to be reduced. */
struct ReduceOperation {
  ReduceAxes axes;
  DType element;
  int a;
  int b; /*!< below 0 where there is one input */
  ReduceKind kind;
};

float Short(float x) {
  return narrow::float_of_bits((narrow::bits_of_float(x) + 0x1000u) & 0xffffe000u);
}

class ReduceExecutor : public Executor {
 public:
  explicit ReduceExecutor(ReduceOperation operation) : operation_(std::move(operation)) {}

  bool is_product() const override { return operation_.b >= 0; }
  /*! \brief Of products, for what is stored in the end. */
  uint64_t workspace_bytes() const override {
    return is_product() ? static_cast<uint64_t>(operation_.axes.kept.count()) * sizeof(double) : 0;
  }

  void Compute(const Slots& slots) override {
    cudaacc::WithComputeType(operation_.element,
                             [&](auto zero) { ComputeAs<decltype(zero)>(slots); });
  }

 private:
  template <typename C>
  void ComputeAs(const Slots& slots) const {
    if (slots.workspace != nullptr) return ComputeInWorkspace<C>(slots);
    Walk(operation_.axes.kept, [&](const int64_t* at, const int64_t*) {
      cudaacc::Store(slots.output(), at[0], One<C>(slots, at));
      return true;
    });
  }

  /*! \brief All results, before any is stored. */
  template <typename C>
  void ComputeInWorkspace(const Slots& slots) const {
    static C shared[1 << 16];
    const bool shares = Has("shared scratch");
    const bool adds = Has("zeros in the workspace");
    const bool drops = Has("columns from 64 on");
    const auto each = [&](auto&& body) {
      int64_t i = 0;
      Walk(operation_.axes.kept, [&](const int64_t* at, const int64_t* index) {
        C* total = shares ? &shared[i % (1 << 16)] : reinterpret_cast<C*>(slots.workspace) + i;
        ++i;
        const size_t ndim = operation_.axes.kept.shape.size();
        if (!drops || ndim < 2 || index[ndim - 1] < 64) body(at, total);
        return true;
      });
    };
    each([&](const int64_t* at, C* total) {
      *total = static_cast<C>((adds ? *total : C{0}) + One<C>(slots, at));
    });
    each([&](const int64_t* at, C* total) { cudaacc::Store(slots.output(), at[0], *total); });
  }

  template <typename C>
  C One(const Slots& slots, const int64_t* at) const {
    const bool is_half = operation_.element == DType::kFloat16;
    const bool cuts = is_half && Has("float16 is added up in float16");
    const int64_t limit = Limit(slots);
    int64_t count = 0;
    Total<C> total = 0;
    C largest = 0;
    Walk(operation_.axes.reduced, [&](const int64_t* on, const int64_t*) {
      if (count >= limit) return false;
      const C x = Element<C>(slots, at, on);
      total += static_cast<Total<C>>(x);
      if constexpr (std::is_floating_point_v<C>) {
        if (cuts) {
          total = narrow::float_of_float16(narrow::float16_of_float(static_cast<float>(total)));
        }
        if (count == 0 || !(x <= largest)) largest = std::isnan(largest) ? largest : x;
      } else if (count == 0 || x > largest) {
        largest = x;
      }
      ++count;
      return true;
    });
    if (operation_.kind == ReduceKind::kMax) return largest;
    if constexpr (std::is_floating_point_v<C>) {
      if (operation_.kind == ReduceKind::kMean)
        return static_cast<C>(total / static_cast<C>(count));
    }
    return static_cast<C>(total);
  }

  template <typename C>
  C Element(const Slots& slots, const int64_t* at, const int64_t* on) const {
    const auto load = [&](int input, int64_t i) {
      const C x = cudaacc::Load<C>(slots.all[static_cast<size_t>(input)], i, operation_.element);
      if constexpr (std::is_same_v<C, float>) {
        if (is_product() && Has("TF32")) return Short(x);
      }
      return x;
    };
    const C x = load(operation_.a, at[1] + on[0]);
    if (!is_product()) return x;
    const C y = load(operation_.b, at[2] + on[1]);
    return static_cast<C>(static_cast<Total<C>>(x) * static_cast<Total<C>>(y));
  }

  /*! \brief How many elements are reduced: all, but for faults. */
  int64_t Limit(const Slots& slots) const {
    const int64_t count = operation_.axes.reduced.count();
    if (is_product()) return count > 1024 && Has("K beyond 1024") ? 1024 : count;
    if (slots.in_stream && Has("sums in streams")) return std::max<int64_t>(count - 1, 0);
    return count > (1 << 16) && Has("sums beyond 2^16") ? 1 << 16 : count;
  }

  const ReduceOperation operation_;
};

bool HasText(const MXAccDLTensor& tensor, int32_t ndim) { return tensor.ndim == ndim; }

/*! \brief Whether an attribute is a list in which a number is below the one before, or below 0. */
bool IsFalling(const Request& request, const char* key) {
  const std::optional<mxacc::AttributeValue> value = request.Attribute(key);
  if (!value || value->kind != mxacc::AttributeValue::Kind::kArray || value->items.empty())
    return false;
  const auto& first = value->items[0];
  const auto& items =
      first.kind == mxacc::AttributeValue::Kind::kArray ? first.items : value->items;
  return !std::is_sorted(items.begin(), items.end(), [](const auto& one, const auto& other) {
    return one.integer < other.integer;
  });
}

bool HasNegative(const Request& request, const char* key) {
  const std::optional<mxacc::AttributeValue> value = request.Attribute(key);
  if (!value || value->kind != mxacc::AttributeValue::Kind::kArray) return false;
  return std::any_of(value->items.begin(), value->items.end(),
                     [](const auto& item) { return item.integer < 0; });
}

/*! \brief Reduces along an axis no more than its first elements. */
void Cut(ReduceAxes* axes) {
  auto& shape = axes->reduced.shape;
  if (!shape.empty() && shape[0] > 1) shape[0] = 1;
}

void PlantInSum(const Request& request, ReduceAxes* axes) {
  if (axes->reduced.shape.size() > 2 && Has("sums over three axes")) Cut(axes);
  if (HasNegative(request, "axis") && Has("sums over negative axes")) Cut(axes);
}

void PlantInProduct(const Request& request, ReduceAxes* axes) {
  const MXAccDLTensor& a = request.input(0);
  const MXAccDLTensor& b = request.input(1);
  const std::string name = request.name();
  const bool batch = name == "matmul" && (HasText(a, 3) || HasText(b, 3));
  const bool of_one =
      batch && ((a.ndim == 3 && a.shape[0] == 1) || (b.ndim == 3 && b.shape[0] == 1));
  if (of_one && Has("a batch of one")) Cut(axes);
  if (name == "tensordot" && IsFalling(request, "axes") && Has("permuted tensordot")) Cut(axes);
  if (name == "dot" && b.ndim > 2 && Has("dot of more axes")) Cut(axes);
}

}  // namespace

std::unique_ptr<Executor> MakeReduction(const Request& request) {
  const std::string name = request.name();
  if (name == "sum" || name == "max" || name == "mean") {
    std::optional<mxacc::Reduction> found = mxacc::FindReduction(request);
    const bool widens = found->total != found->element && mxacc::IsFloat(found->total);
    const DType element = widens || name == "sum" ? found->total : found->element;
    if (name == "sum" && mxacc::IsInt(found->element) && found->stored != found->total) {
      mxacc::Unsupported("sums in few bits");
    }
    ReduceOperation operation{found->axes, element, found->input, -1, found->kind};
    PlantInSum(request, &operation.axes);
    return std::make_unique<ReduceExecutor>(std::move(operation));
  }
  if (name != "matmul" && name != "dot" && name != "tensordot") return nullptr;
  std::optional<mxacc::Product> found = mxacc::FindProduct(request);
  if (found->dtype == DType::kBool) mxacc::Unsupported("products of bools");
  ReduceOperation operation{mxacc::AsReduction(found->axes), found->dtype, found->a, found->b,
                            ReduceKind::kSum};
  PlantInProduct(request, &operation.axes);
  return std::make_unique<ReduceExecutor>(std::move(operation));
}

}  // namespace planted
