/*!
 * \file lines.cc
 * \brief Lines of elements: finds the loop, converts what it does not take, and runs it.
 */
#include "op/elementwise/lines.h"

#include <mxnet/op/promotion.h>

#include <algorithm>
#include <memory>
#include <utility>

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

/*! \brief The loop over elements from begin to end, operands of which are converted first. */
template <int Count>
void RunConverted(const ElementLines& lines, int64_t begin, int64_t end) {
  alignas(64) char buffers[Count][kConvertedChunk * sizeof(double)];
  const InnerLoop read = CastLoop(lines.stored, lines.computed);
  const InnerLoop write = CastLoop(lines.computed, lines.result);
  const int64_t item = ItemSize(kDTypes[lines.computed]);
  const bool narrows = lines.computed != lines.result;
  for (int64_t done = begin; done < end; done += kConvertedChunk) {
    const int64_t n = std::min(kConvertedChunk, end - done);
    char* data[Count];
    int64_t strides[Count];
    for (int i = 1; i < Count; ++i) {
      data[i] = lines.number == i ? lines.data[i] : buffers[i];
      strides[i] = lines.number == i ? 0 : item;
      if (lines.number == i) continue;
      char* const pair[2] = {buffers[i], lines.data[i] + done * lines.strides[i]};
      const int64_t steps[2] = {item, lines.strides[i]};
      read(pair, steps, n);
    }
    char* const out = lines.data[0] + done * lines.strides[0];
    data[0] = narrows ? buffers[0] : out;
    strides[0] = narrows ? item : lines.strides[0];
    lines.loop(data, strides, n);
    if (!narrows) continue;
    char* const pair[2] = {out, buffers[0]};
    const int64_t steps[2] = {lines.strides[0], item};
    write(pair, steps, n);
  }
}

/*! \brief Runs the loop of a call; one over many elements on several threads. */
template <int Count>
void RunLines(const ElementLines& lines, DLDataType out) {
  const int64_t item = ItemSize(kDTypes[lines.stored]);
  const int64_t items[3] = {ItemSize(out), item, item};
  const auto run = [&](int64_t begin, int64_t end) {
    if (lines.computed != lines.stored) return RunConverted<Count>(lines, begin, end);
    char* moved[Count];
    for (int i = 0; i < Count; ++i) moved[i] = lines.data[i] + begin * lines.strides[i];
    RunStrided(lines.loop, items, Count, moved, lines.strides, end - begin, lines.is_light);
  };
  if (lines.size < kFewForThreads) return run(0, lines.size);
  InParallel(lines.size, kElementsTimed, run);
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

/*! \brief Looks up what integers of 8 bits give. */
void RunLookUp(const uint16_t* results, const ElementLines& lines) {
  const auto run = [&](int64_t begin, int64_t end) {
    LookUpBytes(results, lines.data[1] + begin * lines.strides[1], lines.strides[1], end - begin,
                reinterpret_cast<uint16_t*>(lines.data[0]) + begin);
  };
  if (lines.size < kFewForThreads) return run(0, lines.size);
  InParallel(lines.size, kElementsTimed, run);
}

/*! \brief A new array for the results of a loop, which is made the output. */
NDArray MakeOutput(ResultRule rule, ElementLines* lines) {
  const DLTensor& shaped = lines->shaped;
  const DLDataType dtype = ResultDType(rule, kDTypes[lines->result]);
  NDArray made = NDArray::Empty(TensorShape(shaped), dtype, shaped.device);
  lines->data[0] = static_cast<char*>(made.data());
  lines->strides[0] = ItemSize(dtype);
  return made;
}

}  // namespace

bool ElementLines::FindLoop(const LoopTable& table, MXNetTypeRule rule, ResultRule result_rule,
                            bool with_float) {
  if (stored < 0) return false;
  const DLDataType dtype = kDTypes[stored];
  const bool is_whole = !IsFloatDType(dtype) && !IsComplexDType(dtype);
  computed = stored;
  if (is_whole && (with_float || table.loops[stored] == nullptr)) {
    const bool is_known = rule == kMXNetTypesCommon || rule == kMXNetTypesCommonNoBool ||
                          rule == kMXNetTypesTrueDivide || rule == kMXNetTypesFloat;
    if (!is_known || result_rule != ResultRule::kSame || dtype == kBool) return false;
    const DLDataType common = with_float ? kFloat64 : dtype;
    computed = IndexOfDType(promotion::TypeByRule(static_cast<int>(rule), common));
  }
  result = computed;
  // Of float16 the loops compute with float.
  if (computed != stored && computed == kIndexFloat16) computed = kIndexFloat32;
  loop = table.loops[computed];
  is_light = table.is_light;
  return loop != nullptr;
}

bool ElementLines::SetInput(int i, const DLTensor& array) {
  if (array.dtype != shaped.dtype || !AreOfOneShape(array, shaped)) return false;
  if (!IsLine(array, ItemSize(shaped.dtype), &strides[i], &size)) return false;
  data[i] = static_cast<char*>(array.data);
  return true;
}

void ElementLines::SetNumber() noexcept {
  data[number] = scalar.bytes;
  strides[number] = 0;
}

bool ElementLines::SetOutput(const DLTensor& out) {
  if (computed != stored || out.dtype != shaped.dtype) return false;
  const int64_t item = ItemSize(shaped.dtype);
  int64_t out_size;
  if (!AreOfOneShape(out, shaped) || !IsLine(out, item, &strides[0], &out_size)) return false;
  data[0] = static_cast<char*>(out.data);
  if (strides[0] == 0 && out_size > 1) return false;
  for (int input = 1; input <= 2; ++input) {
    if (input == number) continue;
    const bool is_same = data[input] == data[0] && strides[input] == strides[0];
    if (!is_same && !AreApart(data[0], strides[0], data[input], strides[input], size, item)) {
      return false;
    }
  }
  return true;
}

void ElementLines::CheckIntegers(const BinaryOp& op, const DLTensor* x2) const {
  if (op.check_integers == nullptr || !IsIntDType(kDTypes[computed])) return;
  if (number != 2) return op.check_integers(op, *x2);
  ElementBuffer element = scalar;
  const DLTensor tensor{&element, Context{kDLCPU, 0}, 0, kDTypes[computed], nullptr, nullptr, 0};
  op.check_integers(op, tensor);
}

void ElementLines::RunBinary() const { RunLines<3>(*this, kDTypes[result]); }

NDArray ElementLines::MakeBinary(const BinaryOp& op) {
  NDArray made = MakeOutput(op.result, this);
  RunLines<3>(*this, made.dtype());
  return made;
}

NDArray ElementLines::MakeUnary(const UnaryOp& op) {
  NDArray made = MakeOutput(op.result, this);
  if (result == kIndexFloat16 && stored != kIndexFloat16 && shaped.dtype.bits == 8) {
    RunLookUp(op.of_bytes.Find(op.table.loops[kIndexFloat16], stored), *this);
  } else {
    RunLines<2>(*this, made.dtype());
  }
  return made;
}

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

}  // namespace op
}  // namespace mxnet
