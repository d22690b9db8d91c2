/*!
 * \file clip.cc
 * \brief Quick ways of clip and round.
 */
#include "op/elementwise/clip.h"

#include <cstring>
#include <utility>

#include "api/quick/arguments.h"
#include "api/quick/attach.h"
#include "op/elementwise/round_decimals.h"
#include "op/tensor/axes.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief A limit of a float32 or float64 array: an array of its type, a Python number, or none. */
class QuickLimit {
 public:
  /*! \brief False for anything else. */
  bool Read(const MXNetArgs& args, int i, DLDataType dtype) {
    tensor_ = DLTensor{&element_, Context{kDLCPU, 0}, 0, dtype, nullptr, nullptr, 0};
    switch (args.type_codes[i]) {
      case kMXNetNull:
        tensor_.ndim = -1;
        return true;
      case kMXNetFloat:
        return Store(args.values[i].v_float64);
      case kMXNetInt:
        return Store(static_cast<double>(args.values[i].v_int64));
      default:
        break;
    }
    const DLTensor* array = HostArray(args, i);
    if (array == nullptr || array->dtype != dtype) return false;
    tensor_ = *array;
    return true;
  }
  const DLTensor& tensor() const noexcept { return tensor_; }

 private:
  bool Store(double number) {
    if (tensor_.dtype == kFloat64) {
      std::memcpy(&element_, &number, sizeof(number));
    } else {
      const auto element = static_cast<float>(number);
      std::memcpy(&element_, &element, sizeof(element));
    }
    return true;
  }

  DLTensor tensor_;
  ElementBuffer element_;
};

/*! \brief Of an array of float32 or float64, and limits that are no wider, into a new array. */
bool QuickClip(const MXNetArgs& args, MXNetRetValue* ret) {
  const DLTensor* a = HostArray(args, 0);
  const bool is_plain = a != nullptr && (a->dtype == kFloat32 || a->dtype == kFloat64) &&
                        args.type_codes[3] == kMXNetNull && args.type_codes[4] == kMXNetNull &&
                        args.type_codes[5] == kMXNetNull;
  QuickLimit low;
  QuickLimit high;
  if (!is_plain || !low.Read(args, 1, a->dtype) || !high.Read(args, 2, a->dtype)) return false;
  ShapeView shapes[3] = {TensorShape(*a)};
  int count = 1;
  for (const QuickLimit* limit : {&low, &high}) {
    if (IsGiven(limit->tensor())) shapes[count++] = TensorShape(limit->tensor());
  }
  DimBuffer shape;
  BroadcastShapes(shapes, count, &shape);
  NDArray result = NDArray::Empty(shape.view(), a->dtype, a->device);
  ClipInto(*a, low.tensor(), high.tensor(), result.tensor());
  *ret = std::move(result);
  return true;
}

/*! \brief Of row-major numbers, into a new array. */
bool QuickRound(const MXNetArgs& args, MXNetRetValue* ret) {
  const DLTensor* x = HostArray(args, 0);
  const bool is_plain = x != nullptr && args.type_codes[1] == kMXNetInt &&
                        args.type_codes[2] == kMXNetNull && !IsBoolDType(x->dtype);
  if (!is_plain) return false;
  NDArray result = NDArray::Empty(TensorShape(*x), x->dtype, x->device);
  RoundInto(*x, args.values[1].v_int64, result.tensor());
  *ret = std::move(result);
  return true;
}

MXNET_QUICK("_npi.clip", &QuickClip);
MXNET_QUICK("_npi.round", &QuickRound);

}  // namespace
}  // namespace op
}  // namespace mxnet
