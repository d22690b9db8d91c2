#include "fold.h"

#include <algorithm>

namespace opencl {
namespace {

/*! \brief A work item folds at least so many elements, if there are enough. */
constexpr int64_t kItemElements = 256;
/*! \brief So many work items are enough for any device. */
constexpr int64_t kManyItems = 65536;
/*! \brief What is left to fold for the last work item of an output. */
constexpr int64_t kMaxParts = 1024;

/*! \brief Parts that the elements of one output are folded in. */
int64_t PartsFor(int64_t outputs, int64_t elements) {
  const int64_t by_size = elements / kItemElements;
  const int64_t by_outputs = kManyItems / std::max<int64_t>(outputs, 1);
  return std::max<int64_t>(1, std::min({by_size, by_outputs, kMaxParts}));
}

// Neighbouring work items take turns with the elements: on a GPU they read neighbouring memory, and
// a CPU does several in one vector. A part is added up in blocks, so that its rounding stays small.
constexpr char kFoldSource[] = R"(
#define BLOCK 256
#define STEP_KEPT(position, axis)            \
  at_out += (position) * kept.strides[0][axis]; \
  at_0 += (position) * kept.strides[1][axis];   \
  at_1 += (position) * kept.strides[2][axis];
#define STEP_FOLDED(position, axis)          \
  i_0 += (position) * folded.strides[0][axis];  \
  i_1 += (position) * folded.strides[1][axis];

ACC fold_part(const Layout folded, const long count, const long first, const long step,
              __global const IN_0* in_0, const long at_0, __global const IN_1* in_1,
              const long at_1) {
  ACC total = START;
  long place = first;
  while (place < count) {
    ACC acc = START;
    for (int k = 0; k < BLOCK && place < count; ++k, place += step) {
      long i_0 = at_0;
      long i_1 = at_1;
      ADVANCE(folded, place, STEP_FOLDED);
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
__kernel void fold_whole(const long outputs, const Layout kept, const Layout folded,
                         const long count, __global OUT* out, long at_out,
                         __global const IN_0* in_0, long at_0, __global const IN_1* in_1,
                         long at_1) {
  const long i = get_global_id(0);
  if (i >= outputs) return;
  ADVANCE(kept, i, STEP_KEPT);
  const ACC acc = fold_part(folded, count, 0, 1, in_0, at_0, in_1, at_1);
  const TOTAL result = RESULT;
  STORE;
}
)";

constexpr char kPartsSource[] = R"(
__kernel void fold_parts(const long items, const Layout kept, const Layout folded,
                         const long count, const long parts, __global ACC* part,
                         __global const IN_0* in_0, long at_0, __global const IN_1* in_1,
                         long at_1) {
  const long i = get_global_id(0);
  if (i >= items) return;
  long at_out = 0;
  ADVANCE(kept, i / parts, STEP_KEPT);
  part[i] = fold_part(folded, count, i % parts, parts, in_0, at_0, in_1, at_1);
}

__kernel void fold_rest(const long outputs, const Layout kept, const long count, const long parts,
                        __global const ACC* part, __global OUT* out, long at_out) {
  const long i = get_global_id(0);
  if (i >= outputs) return;
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

class FoldWork : public Work {
 public:
  FoldWork(const Request& request, const Fold& fold, const FoldAxes& axes, bool in_order,
           const std::vector<int>& inputs);
  void Run(Commands* commands, const Place* places) override;

 private:
  std::string Source(const Request& request, const Fold& fold) const;

  const int output_;
  const std::vector<int> inputs_;
  const int64_t outputs_;
  const int64_t count_;
  const int64_t parts_;
  size_t part_size_{0};
  Layout kept_{};
  Layout folded_{};
  std::mutex mutex_;
  Kernel whole_; /*!< fold_parts where there are several */
  Kernel rest_;
};

std::string FoldWork::Source(const Request& request, const Fold& fold) const {
  bool with_double = false;
  for (DType dtype : {fold.element, fold.total, fold.stored}) {
    with_double |= dtype == DType::kFloat64;
  }
  std::string types;
  std::string elements[2];
  for (size_t k = 0; k < 2; ++k) {
    const std::string number = std::to_string(k);
    const DType dtype = DTypeOf(request.input(inputs_[std::min(k, inputs_.size() - 1)]).dtype);
    with_double |= dtype == DType::kFloat64;
    types += "#define IN_" + number + " " + ElementType(dtype) + "\n";
    elements[k] = Convert(dtype, fold.element, Load(dtype, "in_" + number, "i_" + number));
  }
  const auto define = [](const char* name, const std::string& text) {
    return std::string("#define ") + name + " (" + text + ")\n";
  };
  const std::string compute = ComputeType(fold.element);
  std::string source = ElementSource(with_double) + kLayoutSource + "#define C " + compute + "\n";
  if (!IsFloat(fold.element)) {
    source += std::string("#define W ") + WrappingType(fold.element) + "\n";
  }
  source += fold.definitions + types + define("START", fold.start) +
            define("COMBINE", fold.combine) + define("MERGE", fold.merge) +
            define("RESULT", fold.result) + "#define OUT " + ElementType(fold.stored) +
            "\n#define TOTAL " + ComputeType(fold.total) + "\n";
  if (fold.multiplies) {
    source += "#define PRODUCT(a, b) " +
              std::string(IsFloat(fold.element)          ? "((a) * (b))"
                          : fold.element == DType::kBool ? "((a) & (b))"
                                                         : "((C)((W)(a) * (W)(b)))") +
              "\n" + define("ELEMENT", "PRODUCT(" + elements[0] + ", " + elements[1] + ")");
  } else {
    source += define("ELEMENT", elements[0]);
  }
  const std::string converted = Convert(fold.total, fold.stored, "result");
  return source + "#define STORE " + Store(fold.stored, converted, "out", "at_out") + "\n" +
         kFoldSource + (parts_ == 1 ? kWholeSource : kPartsSource);
}

FoldWork::FoldWork(const Request& request, const Fold& fold, const FoldAxes& axes, bool in_order,
                   const std::vector<int>& inputs)
    : output_(request.num_in()),
      inputs_(inputs),
      outputs_(axes.kept.count()),
      count_(axes.folded.count()),
      parts_(PartsFor(outputs_, count_)) {
  request.CheckDevice({fold.element, fold.total, fold.stored});
  for (int input : inputs) request.CheckDevice({DTypeOf(request.input(input).dtype)});
  if (outputs_ == 0) return;
  kept_ = LayoutOf(axes.kept);
  if (count_ != 0) folded_ = in_order ? RowMajorLayoutOf(axes.folded) : LayoutOf(axes.folded);
  Programs& programs = request.device().programs();
  const std::string source = Source(request, fold);
  whole_ = programs.Make(source, parts_ == 1 ? "fold_whole" : "fold_parts");
  if (parts_ == 1) return;
  rest_ = programs.Make(source, "fold_rest");
  part_size_ = 32;  // of the largest ACC
}

void FoldWork::Run(Commands* commands, const Place* places) {
  if (outputs_ == 0) return;
  const Place out = places[output_];
  const Place first = places[inputs_.front()];
  const Place second = places[inputs_.back()];
  const std::lock_guard<std::mutex> lock(mutex_);
  if (parts_ == 1) {
    SetArguments(whole_.get(), outputs_, kept_, folded_, count_, out.buffer, out.first,
                 first.buffer, first.first, second.buffer, second.first);
    return commands->Launch(whole_.get(), outputs_);
  }
  const int64_t items = outputs_ * parts_;
  const Buffer part =
      MakeBuffer(commands->device().context(), static_cast<size_t>(items) * part_size_);
  const cl_mem buffer = part.get();
  SetArguments(whole_.get(), items, kept_, folded_, count_, parts_, buffer, first.buffer,
               first.first, second.buffer, second.first);
  commands->Launch(whole_.get(), items);
  SetArguments(rest_.get(), outputs_, kept_, count_, parts_, buffer, out.buffer, out.first);
  commands->Launch(rest_.get(), outputs_);
}

}  // namespace

std::unique_ptr<Work> MakeFold(const Request& request, const Fold& fold, const FoldAxes& axes,
                               bool in_order, const std::vector<int>& inputs) {
  return std::make_unique<FoldWork>(request, fold, axes, in_order, inputs);
}

Fold DotFold(DType dtype) {
  if (dtype == DType::kBool) {
    return {"typedef int ACC;\n", "0", "acc | x", "acc | other", "acc", dtype, dtype, dtype, true};
  }
  const bool real = IsFloat(dtype);
  return {std::string("typedef ") + (real ? "C" : "W") + " ACC;\n",
          "(ACC)0",
          "acc + (ACC)x",
          "acc + other",
          real ? "acc" : "(C)acc",
          dtype,
          dtype,
          dtype,
          true};
}

}  // namespace opencl
