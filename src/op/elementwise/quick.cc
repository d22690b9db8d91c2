/*!
 * \file quick.cc
 * \brief Elementwise operators on arrays of one type and shape whose elements lie at even steps:
 * nothing is allocated but the result.
 *
 * Small calls spend their time on the way to the loop, so what most calls are, dense, is asked
 * first. Other lines of elements, and those that are converted first, come after that.
 */
#include <mxnet/op/promotion.h>

#include <algorithm>
#include <memory>

#include "op/elementwise/elementwise.h"
#include "op/kernels/elementwise/lookup.h"

namespace mxnet {
namespace op {
namespace {

const DLTensor& ArrayArg(const MXNetArgs& args, int i) {
  return static_cast<const MXNetNDArrayObject*>(args.values[i].v_handle)->tensor;
}

/*!
 * \brief The operand, if it is one the fast path may take: an array object, or a tensor that the
 * caller passes with its strides. NULL for any other; numbers with a type have rules of their own.
 */
const DLTensor* OperandArg(const MXNetArgs& args, int i) {
  const int type_code = args.type_codes[i];
  if (__builtin_expect(type_code == kMXNetNDArrayHandle, 1)) return &ArrayArg(args, i);
  if (type_code != kMXNetArrayHandle && type_code != kMXNetReadOnlyArray) return nullptr;
  const auto* tensor = static_cast<const DLTensor*>(args.values[i].v_handle);
  const bool plain = tensor->ndim > 0 && tensor->strides != nullptr && tensor->byte_offset == 0 &&
                     tensor->device.device_type == kDLCPU;
  return plain ? tensor : nullptr;
}

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

/*! \brief The element of an integer type that a Python int becomes, where it is one. */
bool ReadInteger(int index, int64_t number, ElementBuffer* out) {
  return DispatchDType(kDTypes[index], [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (kIsIntType<T>) {
      const T element = static_cast<T>(number);
      if (static_cast<int64_t>(element) != number || (element < T(0)) != (number < 0)) return false;
      std::memcpy(out, &element, sizeof(element));
      return true;
    }
    return false;
  });
}

/*! \brief The element a Python scalar becomes, where that needs no checks beyond these. */
bool ReadScalar(int index, const MXNetValue& value, int type_code, ElementBuffer* out) {
  double number;
  if (type_code == kMXNetFloat) {
    number = value.v_float64;
  } else if (type_code == kMXNetInt) {
    number = static_cast<double>(value.v_int64);
  } else {
    return false;
  }
  if (index == kIndexFloat32) {
    const float element = static_cast<float>(number);
    std::memcpy(out, &element, sizeof(element));
    return true;
  }
  if (index == kIndexFloat64) {
    std::memcpy(out, &number, sizeof(number));
    return true;
  }
  return type_code == kMXNetInt && ReadInteger(index, value.v_int64, out);
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

/* ---- lines: elements at even steps, of a type that may not be the one that is computed in ---- */

/*! \brief Of what is converted, as many elements as stay in the nearest cache. */
constexpr int64_t kConvertedChunk = 256;

/*! \brief Whether an array's elements, in row-major order, lie at even steps; their number. */
bool IsLine(const DLTensor& array, int64_t item, int64_t* stride, int64_t* size) {
  int64_t count = 1;
  int64_t step = 1;
  for (int d = array.ndim - 1; d >= 0; --d) {
    if (array.shape[d] == 1) continue;
    if (count == 1) step = array.strides[d];
    if (array.strides[d] != step * count) return false;
    count *= array.shape[d];
  }
  *stride = step * item;
  *size = count;
  return count > 0 && (reinterpret_cast<uintptr_t>(array.data) & (item - 1)) == 0;
}

bool AreOfOneShape(const DLTensor& a, const DLTensor& b) {
  if (a.ndim != b.ndim) return false;
  for (int d = 0; d < a.ndim; ++d) {
    if (a.shape[d] != b.shape[d]) return false;
  }
  return true;
}

/*! \brief The operands of a call, as lines, and how they are computed with. */
struct LineCall {
  const DLTensor* shaped; /*!< an operand that is an array */
  char* data[3];          /*!< out, x1, x2 */
  int64_t strides[3];
  int64_t size;
  int number;   /*!< which operand is a Python number; 0 for none */
  int stored;   /*!< the DTypeIndex of the arrays */
  int computed; /*!< that of the loop */
  int result;   /*!< that of what the loop gives, before it is of the type of the output */
  InnerLoop loop;
  ElementBuffer scalar;
};

/*!
 * \brief Finds the loop for arrays of a type with, where `with_float`, a Python float; false where
 * there is none or a rule of its own decides on the type.
 */
bool FindLoop(const LoopTable& table, MXNetTypeRule rule, ResultRule result, bool with_float,
              LineCall* call) {
  const DLDataType dtype = kDTypes[call->stored];
  const bool is_whole = !IsFloatDType(dtype) && !IsComplexDType(dtype);
  call->computed = call->stored;
  if (is_whole && (with_float || table.loops[call->stored] == nullptr)) {
    const bool is_known = rule == kMXNetTypesCommon || rule == kMXNetTypesCommonNoBool ||
                          rule == kMXNetTypesTrueDivide || rule == kMXNetTypesFloat;
    if (!is_known || result != ResultRule::kSame || dtype == kBool) return false;
    const DLDataType common = with_float ? kFloat64 : dtype;
    call->computed = IndexOfDType(promotion::TypeByRule(static_cast<int>(rule), common));
  }
  call->result = call->computed;
  // Of float16 the loops compute with float.
  if (call->computed != call->stored && call->computed == kIndexFloat16) {
    call->computed = kIndexFloat32;
  }
  call->loop = table.loops[call->computed];
  return call->loop != nullptr;
}

/*! \brief Reads x1 and x2; false where they need the slow path. */
bool ReadLines(const BinaryOp& op, const MXNetArgs& args, LineCall* call) {
  const DLTensor* operands[2] = {OperandArg(args, 0), OperandArg(args, 1)};
  const DLTensor* shaped = operands[0] != nullptr ? operands[0] : operands[1];
  if (shaped == nullptr) return false;
  call->shaped = shaped;
  call->number = operands[0] == nullptr ? 1 : operands[1] == nullptr ? 2 : 0;
  call->stored = IndexOfDType(shaped->dtype);
  const bool with_float = call->number != 0 && args.type_codes[call->number - 1] == kMXNetFloat;
  if (call->stored < 0 || !FindLoop(op.table, op.rule, op.result, with_float, call)) return false;
  const int64_t item = ItemSize(shaped->dtype);
  for (int i = 1; i <= 2; ++i) {
    if (i == call->number) {
      call->data[i] = call->scalar.bytes;
      call->strides[i] = 0;
      const MXNetValue& value = args.values[i - 1];
      // A number is of the type of the arrays first.
      if (!with_float && !ReadScalar(call->stored, value, kMXNetInt, &call->scalar)) return false;
      if (!ReadScalar(call->computed, value, args.type_codes[i - 1], &call->scalar)) return false;
      continue;
    }
    const DLTensor& array = *operands[i - 1];
    if (array.dtype != shaped->dtype || !AreOfOneShape(array, *shaped)) return false;
    if (!IsLine(array, item, &call->strides[i], &call->size)) return false;
    call->data[i] = static_cast<char*>(array.data);
  }
  return true;
}

/*! \brief Throws where the operator rejects integers of x2. */
void CheckIntegers(const BinaryOp& op, const MXNetArgs& args, LineCall* call) {
  if (op.check_integers == nullptr || !IsIntDType(kDTypes[call->computed])) return;
  if (call->number != 2) return op.check_integers(op, *OperandArg(args, 1));
  const DLTensor number{
      &call->scalar, Context{kDLCPU, 0}, 0, kDTypes[call->computed], nullptr, nullptr, 0};
  op.check_integers(op, number);
}

/*! \brief The loop over elements from begin to end, operands of which are converted first. */
template <int Count>
void RunConverted(const LineCall& call, int64_t begin, int64_t end) {
  alignas(64) char buffers[Count][kConvertedChunk * sizeof(double)];
  const InnerLoop read = CastLoop(call.stored, call.computed);
  const InnerLoop write = CastLoop(call.computed, call.result);
  const int64_t item = ItemSize(kDTypes[call.computed]);
  const bool narrows = call.computed != call.result;
  for (int64_t done = begin; done < end; done += kConvertedChunk) {
    const int64_t n = std::min(kConvertedChunk, end - done);
    char* data[Count];
    int64_t strides[Count];
    for (int i = 1; i < Count; ++i) {
      data[i] = call.number == i ? call.data[i] : buffers[i];
      strides[i] = call.number == i ? 0 : item;
      if (call.number == i) continue;
      char* const pair[2] = {buffers[i], call.data[i] + done * call.strides[i]};
      const int64_t steps[2] = {item, call.strides[i]};
      read(pair, steps, n);
    }
    char* const out = call.data[0] + done * call.strides[0];
    data[0] = narrows ? buffers[0] : out;
    strides[0] = narrows ? item : call.strides[0];
    call.loop(data, strides, n);
    if (!narrows) continue;
    char* const pair[2] = {out, buffers[0]};
    const int64_t steps[2] = {call.strides[0], item};
    write(pair, steps, n);
  }
}

/*! \brief Runs the loop of a call; one over many elements on several threads. */
template <int Count>
void RunLines(const LineCall& call, DLDataType out) {
  const int64_t item = ItemSize(kDTypes[call.stored]);
  const int64_t items[3] = {ItemSize(out), item, item};
  const auto run = [&](int64_t begin, int64_t end) {
    if (call.computed != call.stored) return RunConverted<Count>(call, begin, end);
    char* moved[Count];
    for (int i = 0; i < Count; ++i) moved[i] = call.data[i] + begin * call.strides[i];
    RunStrided(call.loop, items, Count, moved, call.strides, end - begin);
  };
  if (call.size < kFewForThreads) return run(0, call.size);
  InParallel(call.size, kElementsTimed, run);
}

/*! \brief Whether two lines share no byte. */
bool AreApart(const char* a, int64_t a_stride, const char* b, int64_t b_stride, int64_t size,
              int64_t item) {
  const int64_t a_span = (size - 1) * a_stride;
  const int64_t b_span = (size - 1) * b_stride;
  const char* const a_low = a_span < 0 ? a + a_span : a;
  const char* const b_low = b_span < 0 ? b + b_span : b;
  return a_low + std::abs(a_span) + item <= b_low || b_low + std::abs(b_span) + item <= a_low;
}

/*! \brief Makes an output that is given that of a call, if each input is it or apart from it. */
bool TakesLine(const MXNetArgs& args, int i, LineCall* call) {
  if (args.type_codes[i] != kMXNetNDArrayHandle || call->computed != call->stored) return false;
  const auto* given = static_cast<const MXNetNDArrayObject*>(args.values[i].v_handle);
  const DLTensor& out = given->tensor;
  const DLTensor& shaped = *call->shaped;
  const int64_t item = ItemSize(shaped.dtype);
  int64_t size;
  if ((given->flags & kMXNetNDArrayReadOnly) != 0 || out.dtype != shaped.dtype) return false;
  if (!AreOfOneShape(out, shaped) || !IsLine(out, item, &call->strides[0], &size)) return false;
  call->data[0] = static_cast<char*>(out.data);
  if (call->strides[0] == 0 && size > 1) return false;
  for (int input = 1; input <= 2; ++input) {
    if (input == call->number) continue;
    const bool is_same =
        call->data[input] == call->data[0] && call->strides[input] == call->strides[0];
    if (!is_same && !AreApart(call->data[0], call->strides[0], call->data[input],
                              call->strides[input], size, item)) {
      return false;
    }
  }
  return true;
}

[[gnu::noinline]] bool QuickBinaryLines(const BinaryOp& op, const MXNetArgs& args,
                                        MXNetRetValue* ret) {
  LineCall call;
  if (!ReadLines(op, args, &call)) return false;
  const DLDataType dtype = ResultDType(op.result, kDTypes[call.result]);
  const bool makes = args.type_codes[2] == kMXNetNull;
  if (!makes && (op.result != ResultRule::kSame || !TakesLine(args, 2, &call))) return false;
  CheckIntegers(op, args, &call);
  if (!makes) {
    RunLines<3>(call, dtype);
    *ret = args[2];
    return true;
  }
  NDArray result = NDArray::Empty(TensorShape(*call.shaped), dtype, call.shaped->device);
  call.data[0] = static_cast<char*>(result.data());
  call.strides[0] = ItemSize(dtype);
  RunLines<3>(call, dtype);
  *ret = std::move(result);
  return true;
}

/*! \brief Looks up what integers of 8 bits give. */
void RunLookUp(const uint16_t* results, const LineCall& call) {
  const auto run = [&](int64_t begin, int64_t end) {
    LookUpBytes(results, call.data[1] + begin * call.strides[1], call.strides[1], end - begin,
                reinterpret_cast<uint16_t*>(call.data[0]) + begin);
  };
  if (call.size < kFewForThreads) return run(0, call.size);
  InParallel(call.size, kElementsTimed, run);
}

[[gnu::noinline]] bool QuickUnaryLine(const UnaryOp& op, const DLTensor& x, MXNetRetValue* ret) {
  LineCall call;
  call.shaped = &x;
  call.number = 0;
  call.stored = IndexOfDType(x.dtype);
  if (call.stored < 0 || !FindLoop(op.table, op.rule, op.result, false, &call)) return false;
  if (!IsLine(x, ItemSize(x.dtype), &call.strides[1], &call.size)) return false;
  const DLDataType dtype = ResultDType(op.result, kDTypes[call.result]);
  NDArray result = NDArray::Empty(TensorShape(x), dtype, x.device);
  call.data[0] = static_cast<char*>(result.data());
  call.data[1] = static_cast<char*>(x.data);
  call.strides[0] = ItemSize(dtype);
  if (call.result == kIndexFloat16 && call.stored != kIndexFloat16 && x.dtype.bits == 8) {
    RunLookUp(op.of_bytes.Find(op.table.loops[kIndexFloat16], call.stored), call);
  } else {
    RunLines<2>(call, dtype);
  }
  *ret = std::move(result);
  return true;
}

}  // namespace

const uint16_t* ResultsOfBytes::Find(InnerLoop loop, int index) const {
  std::atomic<const uint16_t*>& results = results_[index == kIndexInt8 ? 0 : 1];
  const uint16_t* found = results.load(std::memory_order_acquire);
  if (__builtin_expect(found != nullptr, 1)) return found;
  uint8_t bytes[kByteValues];
  for (int i = 0; i < kByteValues; ++i) bytes[i] = static_cast<uint8_t>(i);
  auto made = std::make_unique<uint16_t[]>(kByteValues);
  char* const numbers[2] = {reinterpret_cast<char*>(made.get()), reinterpret_cast<char*>(bytes)};
  const int64_t cast_strides[2] = {sizeof(uint16_t), sizeof(uint8_t)};
  CastLoop(index, kIndexFloat16)(numbers, cast_strides, kByteValues);
  char* const in_place[2] = {numbers[0], numbers[0]};
  const int64_t strides[2] = {sizeof(uint16_t), sizeof(uint16_t)};
  loop(in_place, strides, kByteValues);
  // Where another thread has been faster, its results are the same.
  if (!results.compare_exchange_strong(found, made.get(), std::memory_order_acq_rel)) return found;
  return made.release();
}

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
