/*!
 * \file quick_lines.cc
 * \brief Lines of elements: finds the loop, converts what it does not take, and runs it.
 */
#include "op/elementwise/quick_lines.h"

#include <mxnet/op/promotion.h>

#include <algorithm>
#include <memory>

#include "op/elementwise/quick_operands.h"
#include "op/kernels/elementwise/lookup.h"

namespace mxnet {
namespace op {
namespace {

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

/*! \brief Looks up what integers of 8 bits give. */
void RunLookUp(const uint16_t* results, const LineCall& call) {
  const auto run = [&](int64_t begin, int64_t end) {
    LookUpBytes(results, call.data[1] + begin * call.strides[1], call.strides[1], end - begin,
                reinterpret_cast<uint16_t*>(call.data[0]) + begin);
  };
  if (call.size < kFewForThreads) return run(0, call.size);
  InParallel(call.size, kElementsTimed, run);
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

bool QuickBinaryLines(const BinaryOp& op, const MXNetArgs& args, MXNetRetValue* ret) {
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

bool QuickUnaryLine(const UnaryOp& op, const DLTensor& x, MXNetRetValue* ret) {
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

}  // namespace op
}  // namespace mxnet
