/*!
 * \file clip.cc
 * \brief clip: the larger of an element and a lower limit, then the smaller of that and an upper.
 */
#include "op/elementwise/clip.h"

#include <mxnet/op/operator.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "op/elementwise/elementwise.h"
#include "op/kernels/elementwise/gather.h"
#include "op/schema/describe.h"
#include "op/semantics/input_types.h"

namespace mxnet {
namespace op {
namespace {

// Inputs, in the order of the parameters; a limit has two names.
constexpr int kLow = 1;
constexpr int kHigh = 2;
constexpr int kLowAgain = 3;
constexpr int kHighAgain = 4;

/*! \brief A limit by whichever of its two names it was given. */
template <typename Input>
Input& LimitOf(Input* in, int name, int other) {
  return IsGiven(in[name]) ? in[name] : in[other];
}

void CheckOnce(const MXNetTensorSpec* in, int name, int other, const char* names) {
  if (IsGiven(in[name]) && IsGiven(in[other])) MXNET_THROW("ValueError") << names;
}

/*! \brief The type of an array and its limits, of which arrays count before Python numbers. */
DLDataType ClippedDType(const InputType* inputs, int count) {
  CommonType tensors;
  for (int i = 0; i < count; ++i) {
    if (IsTensor(inputs[i])) tensors.Add(inputs[i].dtype);
  }
  int first = 0;
  InputType common{{}, WeakKind::kNone, WeakKind::kNone};
  if (tensors.is_empty()) {
    common = inputs[first++];
  } else {
    common.dtype = tensors.dtype();
  }
  for (int i = first; i < count; ++i) {
    if (!IsTensor(inputs[i])) common = {CommonOf(common, inputs[i]), {}, {}};
  }
  return common.dtype;
}

bool IsPythonInt(const MXNetTensorSpec& input) {
  return input.ndim == 0 && input.weak == kMXNetWeakInt;
}

void PromoteClip(MXNetTensorSpec* in, int num_in, const NoAttributes&) {
  CheckOnce(in, kLow, kLowAgain, "argument 1 ('a_min') is given again by argument 4 ('min')");
  CheckOnce(in, kHigh, kHighAgain, "argument 2 ('a_max') is given again by argument 5 ('max')");
  InputType types[3];
  int count = 0;
  types[count++] = TypeOf(in[0]);
  // An integer that is clipped has a type of its own, as in NumPy; only a limit gives way.
  if (IsPythonInt(in[0])) types[0].kind = WeakKind::kNone;
  for (const MXNetTensorSpec* input :
       {&LimitOf(in, kLow, kLowAgain), &LimitOf(in, kHigh, kHighAgain)}) {
    if (IsGiven(*input)) types[count++] = TypeOf(*input);
  }
  const DLDataType dtype = ClippedDType(types, count);
  in[0].dtype = dtype;
  for (int i = 1; i < num_in; ++i) {
    // A limit that no element is beyond is none, and need be no value of the type.
    if (IsGiven(in[i]) && !(IsIntDType(dtype) && IsPythonInt(in[i]))) in[i].dtype = dtype;
  }
}

void InferClip(const InferCall& call, const NoAttributes&) {
  ShapeView shapes[3];
  int count = 0;
  for (const MXNetTensorSpec* input :
       {&call.in[0], &LimitOf(call.in, kLow, kLowAgain), &LimitOf(call.in, kHigh, kHighAgain)}) {
    if (IsGiven(*input)) shapes[count++] = ShapeOf(*input);
  }
  DimBuffer shape;
  BroadcastShapes(shapes, count, &shape);
  SetSpec(call.in[0].dtype, shape.view(), call.out);
}

[[noreturn]] void ThrowOutOfBounds(const DLTensor& number, DLDataType dtype) {
  const int64_t value = *static_cast<const int64_t*>(TensorData(number));
  MXNET_THROW("OverflowError") << "Python integer "
                               << (number.dtype == kUInt64
                                       ? std::to_string(static_cast<uint64_t>(value))
                                       : std::to_string(value))
                               << " out of bounds for " << DataTypeName(dtype);
}

/*! \brief A limit in the type of the elements. */
class Limit {
 public:
  Limit(const DLTensor& given, DLDataType dtype, bool is_lower) : tensor_(given) {
    if (!IsGiven(given) || given.dtype == dtype) return;
    // Only a Python int has kept a type of its own.
    const int side = SideOf(given, dtype);
    if (side == (is_lower ? 1 : -1)) ThrowOutOfBounds(given, dtype);
    if (side != 0) {
      tensor_.ndim = -1;
      return;
    }
    tensor_ = DLTensor{&element_, given.device, 0, dtype, nullptr, nullptr, 0};
    CopyCast(given, tensor_);
  }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;

  const DLTensor& tensor() const noexcept { return tensor_; }

 private:
  DLTensor tensor_;
  ElementBuffer element_;
};

/*! \brief Clips dense elements to two limits for all of them; out may be x. */
template <typename T>
struct ClipBody {
  static MXNET_ALWAYS_INLINE void Run(const T* x, T low, T high, T* out, int64_t n) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = formulas::clip::Apply(x[i], low, high);
  }
};

/*! \brief Clips elements at even steps into dense ones. */
template <typename T>
void ClipToNumbers(const char* x, int64_t stride, T low, T high, T* out, int64_t n) {
  static const auto clip = ForWideCpu<ClipBody<T>>();
  constexpr auto kItem = static_cast<int64_t>(sizeof(T));
  constexpr int64_t kChunk = 4096 / kItem;
  if (stride == kItem) return clip(reinterpret_cast<const T*>(x), low, high, out, n);
  for (int64_t begin = 0; begin < n; begin += kChunk) {
    const int64_t count = std::min(kChunk, n - begin);
    GatherStrided(x + begin * stride, stride, kItem, count, reinterpret_cast<char*>(out + begin));
    clip(out + begin, low, high, out + begin, count);
  }
}

/*! \brief ClipToNumbers where that is what is asked for; whether it was. */
bool TryClipToNumbers(int index, char* const* data, const int64_t* strides, int64_t n) {
  if (strides[2] != 0 || strides[3] != 0) return false;
  return DispatchDType(kDTypes[index], [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (kIsIntType<T> || std::is_floating_point_v<T>) {
      if (strides[0] != static_cast<int64_t>(sizeof(T))) return false;
      ClipToNumbers(data[1], strides[1], LoadAt<T>(data[2]), LoadAt<T>(data[3]),
                    reinterpret_cast<T*>(data[0]), n);
      return true;
    }
    return false;
  });
}

/*! \brief Limits n elements from both sides; data and strides are of out, a, low, high. */
void ClipBoth(int index, int64_t item, char* const* data, const int64_t* strides, int64_t n) {
  if (TryClipToNumbers(index, data, strides, n)) return;
  const InnerLoop maximum = MaximumLoops().loops[index];
  const InnerLoop minimum = MinimumLoops().loops[index];
  const int64_t items[3] = {item, item, item};
  alignas(64) char tile[4096];
  const int64_t most = static_cast<int64_t>(sizeof(tile)) / item;
  for (int64_t begin = 0; begin < n; begin += most) {
    const int64_t count = std::min(most, n - begin);
    char* const lower[3] = {tile, data[1] + begin * strides[1], data[2] + begin * strides[2]};
    const int64_t lower_strides[3] = {item, strides[1], strides[2]};
    RunStrided(maximum, items, 3, lower, lower_strides, count);
    char* const upper[3] = {data[0] + begin * strides[0], tile, data[3] + begin * strides[3]};
    const int64_t upper_strides[3] = {strides[0], item, strides[3]};
    RunStrided(minimum, items, 3, upper, upper_strides, count);
  }
}

}  // namespace

void ClipInto(const DLTensor& a, const DLTensor& low, const DLTensor& high, const DLTensor& out) {
  const int index = CheckedIndexOfDType(out.dtype);
  const bool has_low = IsGiven(low);
  const bool has_high = IsGiven(high);
  if (!has_low && !has_high) return CopyCast(a, out);
  if (!has_low || !has_high) {
    const DLTensor inputs[2] = {a, has_low ? low : high};
    const LoopTable& table = has_low ? MaximumLoops() : MinimumLoops();
    return Walk(table.loops[index], inputs, 2, out);
  }
  StridedLoop<4> walk(TensorShape(out));
  walk.Set(0, out);
  walk.Set(1, a);
  walk.Set(2, low);
  walk.Set(3, high);
  const int64_t item = ItemSize(out.dtype);
  walk.RunParallel([&](char* const* data, const int64_t* strides, int64_t n) {
    ClipBoth(index, item, data, strides, n);
  });
}

namespace {

void RunClip(const RunCall& call, const NoAttributes&) {
  const DLTensor& out = call.out[0];
  const Limit low(LimitOf(call.in, kLow, kLowAgain), out.dtype, true);
  const Limit high(LimitOf(call.in, kHigh, kHighAgain), out.dtype, false);
  ClipInto(call.in[0], low.tensor(), high.tensor(), out);
}

MXNET_REGISTER_OPERATOR("_npi.clip", NoAttributes)
    .describe("Limit the elements of an array to a range.")
    .input("a", kArrayDoc)
    .optional_input("a_min", "Lower limit; none if None.")
    .optional_input("a_max", "Upper limit; none if None.")
    .out()
    .optional_input("min", "Another name of a_min.")
    .optional_input("max", "Another name of a_max.")
    .types(&PromoteClip)
    .properties(kMXNetOpElementwise | kMXNetOpInPlace | kMXNetOpStridedOutput)
    .release_gil(kReleaseBytes)
    .infer(&InferClip)
    .run(&RunClip);

}  // namespace
}  // namespace op
}  // namespace mxnet
