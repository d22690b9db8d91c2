/*!
 * \file quick.cc
 * \brief Elementwise operators on arrays of one type and shape: nothing is allocated but the
 * result.
 *
 * Small calls spend their time on the way to the loop, so what most calls are, dense, is asked
 * first. Other lines of elements, and those that are converted first, come after that.
 */
#include <utility>

#include "op/elementwise/quick_lines.h"
#include "op/elementwise/quick_operands.h"

namespace mxnet {
namespace op {
namespace {

/*! \brief Whether an array is row-major, of nonzero extents and aligned; its size. */
bool IsDense(const DLTensor& array, int64_t item, int64_t* size) {
  int64_t expected = 1;
  for (int d = array.ndim - 1; d >= 0; --d) {
    if (array.strides[d] != expected) return false;
    expected *= array.shape[d];
  }
  *size = expected;
  return (reinterpret_cast<uintptr_t>(array.data) & static_cast<uintptr_t>(item - 1)) == 0;
}

/*! \brief Whether b has the shape of a, is dense as a is, and has its type. */
bool IsDenseLike(const DLTensor& b, const DLTensor& a, int64_t item) {
  if (b.ndim != a.ndim || b.dtype != a.dtype) return false;
  for (int d = 0; d < a.ndim; ++d) {
    if (b.shape[d] != a.shape[d] || b.strides[d] != a.strides[d]) return false;
  }
  return (reinterpret_cast<uintptr_t>(b.data) & static_cast<uintptr_t>(item - 1)) == 0;
}

/*! \brief Whether out can be written in place: dense like a and either an input or apart. */
bool TakesResult(const MXNetArgs& args, int i, const DLTensor& a, const DLTensor& b,
                 ResultRule rule, int64_t item, int64_t size) {
  const auto* array = static_cast<const MXNetNDArrayObject*>(args.values[i].v_handle);
  if (rule != ResultRule::kSame || (array->flags & kMXNetNDArrayReadOnly) != 0) return false;
  if (!IsDenseLike(array->tensor, a, item)) return false;
  const auto* out = static_cast<const char*>(array->tensor.data);
  for (const DLTensor* input : {&a, &b}) {
    const auto* data = static_cast<const char*>(input->data);
    if (data != out && data < out + size * item && out < data + size * item) return false;
  }
  return true;
}

/*! \brief The operands of a call that the fast path can take. */
struct DenseCall {
  const DLTensor* shaped; /*!< an operand that is an array */
  char* data[3];          /*!< out, x1, x2 */
  int64_t strides[3];
  int64_t size;
  InnerLoop loop;
  ElementBuffer scalar;
};

/*! \brief Reads x1 and x2; false where they need the slow path. */
bool ReadDense(const BinaryOp& op, const MXNetArgs& args, DenseCall* call) {
  const DLTensor* left = OperandArg(args, 0);
  const DLTensor* right = OperandArg(args, 1);
  if (left == nullptr && right == nullptr) return false;
  const DLTensor& a = left != nullptr ? *left : *right;
  const int index = IndexOfDType(a.dtype);
  if (index < 0 || (call->loop = op.table.loops[index]) == nullptr) return false;
  const bool is_checked = op.check_integers != nullptr && IsIntDType(a.dtype);
  if (__builtin_expect(is_checked, 0)) return false;
  const int64_t item = ItemSize(a.dtype);
  if (!IsDense(a, item, &call->size)) return false;
  call->shaped = &a;
  call->strides[1] = call->strides[2] = item;
  call->data[1] = call->data[2] = static_cast<char*>(a.data);
  if (left != nullptr && right != nullptr) {
    call->data[2] = static_cast<char*>(right->data);
    return IsDenseLike(*right, a, item);
  }
  const int other = left != nullptr ? 1 : 0;
  call->data[other + 1] = call->scalar.bytes;
  call->strides[other + 1] = 0;
  return ReadScalar(index, args.values[other], args.type_codes[other], &call->scalar);
}

/*! \brief Runs a loop over so many operands; a long one on several threads. */
template <int Count>
[[gnu::noinline]] void RunLong(InnerLoop loop, char* const* data, const int64_t* strides,
                               int64_t size) {
  InParallel(size, kElementsTimed, [&](int64_t begin, int64_t end) {
    char* moved[Count];
    for (int i = 0; i < Count; ++i) moved[i] = data[i] + begin * strides[i];
    loop(moved, strides, end - begin);
  });
}

template <int Count>
inline void RunDense(InnerLoop loop, char* const* data, const int64_t* strides, int64_t size) {
  if (__builtin_expect(size < kFewForThreads, 1)) return loop(data, strides, size);
  RunLong<Count>(loop, data, strides, size);
}

}  // namespace

bool QuickBinary(const void* data, const MXNetArgs& args, MXNetRetValue* ret) {
  const auto& op = *static_cast<const BinaryOp*>(data);
  DenseCall call;
  if (__builtin_expect(!ReadDense(op, args, &call), 0)) return QuickBinaryLines(op, args, ret);
  const DLTensor& a = *call.shaped;
  const int64_t item = ItemSize(a.dtype);
  if (args.type_codes[2] == kMXNetNull) {
    const DLDataType dtype = ResultDType(op.result, a.dtype);
    NDArray result = NDArray::Empty(TensorShape(a), dtype, a.device);
    call.data[0] = static_cast<char*>(result.data());
    call.strides[0] = ItemSize(dtype);
    RunDense<3>(call.loop, call.data, call.strides, call.size);
    *ret = std::move(result);
    return true;
  }
  const DLTensor* right = OperandArg(args, 1);
  const DLTensor& b = right != nullptr ? *right : a;
  if (args.type_codes[2] != kMXNetNDArrayHandle ||
      !TakesResult(args, 2, a, b, op.result, item, call.size)) {
    return QuickBinaryLines(op, args, ret);
  }
  call.data[0] = static_cast<char*>(ArrayArg(args, 2).data);
  call.strides[0] = item;
  RunDense<3>(call.loop, call.data, call.strides, call.size);
  *ret = args[2];
  return true;
}

bool QuickUnary(const void* data, const MXNetArgs& args, MXNetRetValue* ret) {
  const auto& op = *static_cast<const UnaryOp*>(data);
  const DLTensor* operand = OperandArg(args, 0);
  if (operand == nullptr || args.type_codes[1] != kMXNetNull) return false;
  const DLTensor& x = *operand;
  const int index = IndexOfDType(x.dtype);
  const int64_t item = ItemSize(x.dtype);
  int64_t size;
  const bool is_dense = index >= 0 && op.table.loops[index] != nullptr && IsDense(x, item, &size);
  if (__builtin_expect(!is_dense, 0)) return QuickUnaryLine(op, x, ret);
  const DLDataType dtype = ResultDType(op.result, x.dtype);
  NDArray result = NDArray::Empty(TensorShape(x), dtype, x.device);
  char* const pointers[2] = {static_cast<char*>(result.data()), static_cast<char*>(x.data)};
  const int64_t strides[2] = {ItemSize(dtype), item};
  RunDense<2>(op.table.loops[index], pointers, strides, size);
  *ret = std::move(result);
  return true;
}

}  // namespace op
}  // namespace mxnet
