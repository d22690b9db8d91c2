#include "reduce.h"

#include <algorithm>

namespace opencl {
namespace {

/*! \brief A work item reduces at least so many elements, if there are enough. */
constexpr int64_t kItemElements = 256;
/*! \brief More work items than this make no device faster. */
constexpr int64_t kManyItems = 65536;
/*! \brief Parts that the last work item of an output has to merge, at most. */
constexpr int64_t kMaxParts = 1024;

/*! \brief Parts that the elements of one output are reduced in. */
int64_t PartsFor(int64_t outputs, int64_t elements) {
  const int64_t by_size = elements / kItemElements;
  const int64_t by_outputs = kManyItems / std::max<int64_t>(outputs, 1);
  return std::max<int64_t>(1, std::min({by_size, by_outputs, kMaxParts}));
}

// Neighbouring work items take turns with the elements: on a GPU they read neighbouring memory, and
// a CPU does several in one vector. A part is added up in blocks, so that its rounding stays small.
constexpr char kReduceSource[] = R"(
#define BLOCK 256
#define STEP_KEPT(position, axis)            \
  at_out += (position) * kept.strides[0][axis]; \
  at_0 += (position) * kept.strides[1][axis];   \
  at_1 += (position) * kept.strides[2][axis];
#define STEP_REDUCED(position, axis)          \
  i_0 += (position) * reduced.strides[0][axis];  \
  i_1 += (position) * reduced.strides[1][axis];

ACC reduce_part(const Layout reduced, const long count, const long first, const long step,
              __global const IN_0* in_0, const long at_0, __global const IN_1* in_1,
              const long at_1) {
  ACC total = START;
  long position = first;
  while (position < count) {
    ACC acc = START;
    for (int k = 0; k < BLOCK && position < count; ++k, position += step) {
      long i_0 = at_0;
      long i_1 = at_1;
      ADVANCE(reduced, position, STEP_REDUCED);
      const C x = ELEMENT;
      acc = COMBINE;
    }
    const ACC other = acc;
    acc = total;
    total = MERGE;
  }
  return total;
}
)";

constexpr char kWholeSource[] = R"(
__kernel void reduce_whole(const long outputs, const Layout kept, const Layout reduced,
                         const long count, __global OUT* out, long at_out,
                         __global const IN_0* in_0, long at_0, __global const IN_1* in_1,
                         long at_1) {
  const long i = get_global_id(0);
  if (i >= outputs) return;
  ADVANCE(kept, i, STEP_KEPT);
  const ACC acc = reduce_part(reduced, count, 0, 1, in_0, at_0, in_1, at_1);
  const TOTAL result = RESULT;
  STORE;
}
)";

constexpr char kPartsSource[] = R"(
__kernel void reduce_parts(const long items, const Layout kept, const Layout reduced,
                         const long count, const long parts, __global char* workspace,
                         const long at_parts, __global const IN_0* in_0, long at_0,
                         __global const IN_1* in_1, long at_1) {
  const long i = get_global_id(0);
  if (i >= items) return;
  __global ACC* part = (__global ACC*)(workspace + at_parts);
  long at_out = 0;
  ADVANCE(kept, i / parts, STEP_KEPT);
  part[i] = reduce_part(reduced, count, i % parts, parts, in_0, at_0, in_1, at_1);
}

__kernel void reduce_rest(const long outputs, const Layout kept, const long count, const long parts,
                        __global const char* workspace, const long at_parts,
                        __global OUT* out, long at_out) {
  const long i = get_global_id(0);
  if (i >= outputs) return;
  __global const ACC* part = (__global const ACC*)(workspace + at_parts);
  long at_0 = 0;
  long at_1 = 0;
  ADVANCE(kept, i, STEP_KEPT);
  ACC acc = part[i * parts];
  for (long k = 1; k < parts; ++k) {
    const ACC other = part[i * parts + k];
    acc = MERGE;
  }
  const TOTAL result = RESULT;
  STORE;
}
)";

class ReduceWork : public Work {
 public:
  ReduceWork(const Request& request, const Reducer& reducer, const ReduceAxes& axes, bool in_order,
             const std::vector<int>& inputs);
  void Run(Commands* commands, const Location* locations) override;
  uint64_t workspace_bytes() const override {
    return static_cast<uint64_t>(outputs_ * parts_) * part_size_;
  }

 private:
  std::string Source(const Request& request, const Reducer& reducer) const;

  const int output_;
  const std::vector<int> inputs_;
  const int64_t outputs_;
  const int64_t count_;
  const int64_t parts_;
  size_t part_size_{0};
  Layout kept_{};
  Layout reduced_{};
  std::mutex mutex_;
  Kernel whole_; /*!< reduce_parts where there are several */
  Kernel rest_;
};

std::string ReduceWork::Source(const Request& request, const Reducer& reducer) const {
  bool with_double = false;
  for (DType dtype : {reducer.element, reducer.total, reducer.stored}) {
    with_double |= dtype == DType::kFloat64;
  }
  std::string types;
  std::string elements[2];
  for (size_t k = 0; k < 2; ++k) {
    const std::string number = std::to_string(k);
    const DType dtype = DTypeOf(request.input(inputs_[std::min(k, inputs_.size() - 1)]).dtype);
    with_double |= dtype == DType::kFloat64;
    types += "#define IN_" + number + " " + ElementType(dtype) + "\n";
    elements[k] = Convert(dtype, reducer.element, Load(dtype, "in_" + number, "i_" + number));
  }
  const auto define = [](const char* name, const std::string& text) {
    return std::string("#define ") + name + " (" + text + ")\n";
  };
  const std::string compute = ComputeType(reducer.element);
  std::string source = ElementSource(with_double) + kLayoutSource + reducer.formulas;
  if (reducer.multiplies) {
    source += FormulaFunction("product", FormulaOf("multiply", reducer.element), reducer.element);
  }
  source += std::string("#define C ") + ComputeType(reducer.element) + "\n";
  source += reducer.definitions + types + define("START", reducer.start) +
            define("COMBINE", reducer.combine) + define("MERGE", reducer.merge) +
            define("RESULT", reducer.result) + "#define OUT " + ElementType(reducer.stored) +
            "\n#define TOTAL " + ComputeType(reducer.total) + "\n";
  source +=
      define("ELEMENT", reducer.multiplies ? "product(" + elements[0] + ", " + elements[1] + ")"
                                           : elements[0]);
  const std::string converted = Convert(reducer.total, reducer.stored, "result");
  return source + "#define STORE " + Store(reducer.stored, converted, "out", "at_out") + "\n" +
         kReduceSource + (parts_ == 1 ? kWholeSource : kPartsSource);
}

ReduceWork::ReduceWork(const Request& request, const Reducer& reducer, const ReduceAxes& axes,
                       bool in_order, const std::vector<int>& inputs)
    : output_(request.num_in()),
      inputs_(inputs),
      outputs_(axes.kept.count()),
      count_(axes.reduced.count()),
      parts_(PartsFor(outputs_, count_)) {
  request.CheckDevice({reducer.element, reducer.total, reducer.stored});
  for (int input : inputs) request.CheckDevice({DTypeOf(request.input(input).dtype)});
  if (outputs_ == 0) return;
  kept_ = LayoutOf(axes.kept);
  if (count_ != 0) reduced_ = in_order ? RowMajorLayoutOf(axes.reduced) : LayoutOf(axes.reduced);
  Programs& programs = request.device().programs();
  const std::string source = Source(request, reducer);
  whole_ = programs.Make(source, parts_ == 1 ? "reduce_whole" : "reduce_parts");
  if (parts_ == 1) return;
  rest_ = programs.Make(source, "reduce_rest");
  part_size_ = 32;  // of the largest ACC
}

void ReduceWork::Run(Commands* commands, const Location* locations) {
  if (outputs_ == 0) return;
  const Location out = locations[output_];
  const Location first = locations[inputs_.front()];
  const Location second = locations[inputs_.back()];
  const std::lock_guard<std::mutex> lock(mutex_);
  if (parts_ == 1) {
    SetArguments(whole_.get(), outputs_, kept_, reduced_, count_, out.buffer, out.first,
                 first.buffer, first.first, second.buffer, second.first);
    return commands->Launch(whole_.get(), outputs_);
  }
  const int64_t items = outputs_ * parts_;
  const Location parts = locations[output_ + 1];
  SetArguments(whole_.get(), items, kept_, reduced_, count_, parts_, parts.buffer, parts.first,
               first.buffer, first.first, second.buffer, second.first);
  commands->Launch(whole_.get(), items);
  SetArguments(rest_.get(), outputs_, kept_, count_, parts_, parts.buffer, parts.first, out.buffer,
               out.first);
  commands->Launch(rest_.get(), outputs_);
}

}  // namespace

std::unique_ptr<Work> MakeReduceWork(const Request& request, const Reducer& reducer,
                                     const ReduceAxes& axes, bool in_order,
                                     const std::vector<int>& inputs) {
  return std::make_unique<ReduceWork>(request, reducer, axes, in_order, inputs);
}

Reducer FormulaReducer(Formula formula, DType computed, const std::string& start,
                       const std::string& result) {
  return {FormulaFunction("combined", formula, computed),
          std::string("typedef ") + ComputeType(computed) + " ACC;\n",
          start,
          "combined(acc, (ACC)x)",
          "combined(acc, other)",
          result,
          computed,
          computed,
          computed,
          false};
}

Reducer DotReducer(DType dtype) {
  Reducer reducer = FormulaReducer(FormulaOf("add", dtype), dtype, "(ACC)0", "acc");
  reducer.multiplies = true;
  return reducer;
}

}  // namespace opencl
