/*!
 * \file fold.cc
 * \brief Sums and products of matrices.
 */
#include <algorithm>
#include <cmath>

#include "accelerators/sdk/operators/product.h"
#include "accelerators/sdk/operators/reduction.h"
#include "accelerators/sdk/status.h"
#include "executor.h"
#include "fault.h"

namespace planted {
namespace {

using mxacc::FoldAxes;
using mxacc::FoldKind;

/*! \brief What is added up: float16 and float32 in float64, integers without a sign, as they wrap.
 */
template <typename C>
using Total = std::conditional_t<std::is_floating_point_v<C>, double, uint64_t>;

/*! \brief Elements of one or two inputs to be folded. */
struct Fold {
  FoldAxes axes;
  DType element;
  int a;
  int b; /*!< below 0 where there is one input */
  FoldKind kind;
};

float Short(float x) {
  const auto bits = cudaacc::BitsAs<uint32_t>(x);
  return cudaacc::BitsAs<float>((bits + 0x1000u) & 0xffffe000u);
}

class FoldExecutor : public Executor {
 public:
  explicit FoldExecutor(Fold fold) : fold_(std::move(fold)) {}

  bool is_product() const override { return fold_.b >= 0; }

  void Compute(const Places& places) override {
    cudaacc::WithComputeType(fold_.element, [&](auto zero) { ComputeAs<decltype(zero)>(places); });
  }

 private:
  template <typename C>
  void ComputeAs(const Places& places) const {
    if (is_product() && Has("shared scratch")) return ComputeInScratch<C>(places);
    const bool drops = is_product() && Has("columns from 64 on");
    Walk(fold_.axes.kept, [&](const int64_t* at, const int64_t* index) {
      const size_t ndim = fold_.axes.kept.shape.size();
      if (drops && ndim > 1 && index[ndim - 1] >= 64) return true;
      cudaacc::Store(places.output(), at[0], One<C>(places, at));
      return true;
    });
  }

  /*! \brief By way of memory that all threads share. */
  template <typename C>
  void ComputeInScratch(const Places& places) const {
    static C scratch[1 << 16];
    const auto begin = [&](auto&& each) {
      size_t i = 0;
      Walk(fold_.axes.kept, [&](const int64_t* at, const int64_t*) {
        each(at, &scratch[i++ % (1 << 16)]);
        return true;
      });
    };
    begin([&](const int64_t* at, C* place) { *place = One<C>(places, at); });
    begin([&](const int64_t* at, C* place) { cudaacc::Store(places.output(), at[0], *place); });
  }

  template <typename C>
  C One(const Places& places, const int64_t* at) const {
    const bool is_half = fold_.element == DType::kFloat16;
    const bool cuts = is_half && Has("float16 is added up in float16");
    const int64_t limit = Limit(places);
    int64_t count = 0;
    Total<C> total = 0;
    C largest = 0;
    Walk(fold_.axes.folded, [&](const int64_t* on, const int64_t*) {
      if (count >= limit) return false;
      const C x = Element<C>(places, at, on);
      total += static_cast<Total<C>>(x);
      if constexpr (std::is_floating_point_v<C>) {
        if (cuts) total = cudaacc::FloatOfHalf(cudaacc::HalfOfFloat(static_cast<float>(total)));
        if (count == 0 || !(x <= largest)) largest = std::isnan(largest) ? largest : x;
      } else if (count == 0 || x > largest) {
        largest = x;
      }
      ++count;
      return true;
    });
    if (fold_.kind == FoldKind::kLargest) return largest;
    if constexpr (std::is_floating_point_v<C>) {
      if (fold_.kind == FoldKind::kMean) return static_cast<C>(total / static_cast<C>(count));
    }
    return static_cast<C>(total);
  }

  template <typename C>
  C Element(const Places& places, const int64_t* at, const int64_t* on) const {
    const auto load = [&](int input, int64_t i) {
      const C x = cudaacc::Load<C>(places.slots[static_cast<size_t>(input)], i, fold_.element);
      if constexpr (std::is_same_v<C, float>) {
        if (is_product() && Has("TF32")) return Short(x);
      }
      return x;
    };
    const C x = load(fold_.a, at[1] + on[0]);
    if (!is_product()) return x;
    const C y = load(fold_.b, at[2] + on[1]);
    return static_cast<C>(static_cast<Total<C>>(x) * static_cast<Total<C>>(y));
  }

  /*! \brief How many elements are folded: all, but for faults. */
  int64_t Limit(const Places& places) const {
    const int64_t count = fold_.axes.folded.count();
    if (is_product()) return count > 1024 && Has("K beyond 1024") ? 1024 : count;
    if (places.in_stream && Has("sums in streams")) return std::max<int64_t>(count - 1, 0);
    return count > (1 << 16) && Has("sums beyond 2^16") ? 1 << 16 : count;
  }

  const Fold fold_;
};

bool HasText(const MXAccGeometry& tensor, int32_t ndim) { return tensor.ndim == ndim; }

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

/*! \brief Folds along an axis no more than its first elements. */
void Cut(FoldAxes* axes) {
  auto& shape = axes->folded.shape;
  if (!shape.empty() && shape[0] > 1) shape[0] = 1;
}

void PlantInSum(const Request& request, FoldAxes* axes) {
  if (axes->folded.shape.size() > 2 && Has("sums over three axes")) Cut(axes);
  if (HasNegative(request, "axis") && Has("sums over negative axes")) Cut(axes);
}

void PlantInProduct(const Request& request, FoldAxes* axes) {
  const MXAccGeometry& a = request.input(0);
  const MXAccGeometry& b = request.input(1);
  const std::string name = request.name();
  const bool batch = name == "matmul" && (HasText(a, 3) || HasText(b, 3));
  const bool of_one =
      batch && ((a.ndim == 3 && a.shape[0] == 1) || (b.ndim == 3 && b.shape[0] == 1));
  if (of_one && Has("a batch of one")) Cut(axes);
  if (name == "tensordot" && IsFalling(request, "axes") && Has("permuted tensordot")) Cut(axes);
  if (name == "dot" && b.ndim > 2 && Has("dot of more axes")) Cut(axes);
}

}  // namespace

std::unique_ptr<Executor> MakeFold(const Request& request) {
  const std::string name = request.name();
  if (name == "sum" || name == "max" || name == "mean") {
    std::optional<mxacc::Reduction> found = mxacc::FindReduction(request);
    const bool widens = found->total != found->element && mxacc::IsFloat(found->total);
    const DType element = widens || name == "sum" ? found->total : found->element;
    if (name == "sum" && mxacc::IsInt(found->element) && found->stored != found->total) {
      mxacc::Unsupported("sums in few bits");
    }
    Fold fold{found->axes, element, found->input, -1, found->kind};
    PlantInSum(request, &fold.axes);
    return std::make_unique<FoldExecutor>(std::move(fold));
  }
  if (name != "matmul" && name != "dot" && name != "tensordot") return nullptr;
  std::optional<mxacc::Product> found = mxacc::FindProduct(request);
  if (found->dtype == DType::kBool) mxacc::Unsupported("products of bools");
  Fold fold{mxacc::AsFold(found->axes), found->dtype, found->a, found->b, FoldKind::kSum};
  PlantInProduct(request, &fold.axes);
  return std::make_unique<FoldExecutor>(std::move(fold));
}

}  // namespace planted
