/*!
 * \file softmax.cc
 * \brief softmax and log_softmax: each line by a group of work items, or by one of them.
 */
#include "../sdk/operators/softmax.h"

#include <mutex>

#include "layout.h"
#include "work.h"

namespace opencl {
namespace {

/*! \brief A line of at most this length is computed by one work item. */
constexpr int64_t kShortLine = 32;
/*! \brief From this number of lines on, work items of eight lines each keep a device busy. */
constexpr int64_t kManyLines = 1024;

/*! \brief What a work item, or a group of them, computes. */
enum class Share {
  kItem,   /*!< one work item per line */
  kGroup,  /*!< one group of work items per line */
  kColumns /*!< one work item per eight lines whose elements are neighbours */
};

// Eight elements are computed with at a time: a CPU takes their exponentials together, which it
// does not where it would have to add them up in their order. An exponential is computed again
// where it is divided, as the output may hold fewer digits. A NaN is passed over by the peak, but
// not by the sum.
constexpr char kLineSource[] = R"(
#define BLOCK 256
#define STEP_LINE(position, axis)                \
  at_out += (position) * lines.strides[0][axis]; \
  at_in += (position) * lines.strides[1][axis];
#define X(k) ELEMENT(at_in + (k) * IN_STEP)
#define LOWER(x) LOWERED((x), peak)
#define FINISHED(x) (LOG ? LOWER(x) - total : exp(LOWER(x)) / total)
#define PLUS(a, b) ((a) + (b))
#define OVER_ALL(combine, v)                                         \
  combine(combine(combine((v).s0, (v).s1), combine((v).s2, (v).s3)), \
          combine(combine((v).s4, (v).s5), combine((v).s6, (v).s7)))
#define EIGHTS(n) ((n) / 8 * 8)

C8 load_eight(__global const IN* in, const long at, const long step) {
  C x[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) x[i] = ELEMENT(at + i * step);
  return vload8(0, x);
}

void store_eight(const C8 x, __global OUT* out, const long at, const long step) {
  C results[8];
  vstore8(x, 0, results);
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const C result = results[i];
    STORE(at + i * step);
  }
}

C peak_of(const long n, const int first, const int step, __global const IN* in, const long at_in,
          const long in_step) {
  C8 peaks = LAST;
  for (long k = first * 8; k < EIGHTS(n); k += step * 8) {
    const C8 x = load_eight(in, at_in + k * IN_STEP, IN_STEP);
    peaks = PEAK(x, peaks);
  }
  C peak = OVER_ALL(PEAK, peaks);
  for (long k = EIGHTS(n) + first; k < n; k += step) peak = PEAK(X(k), peak);
  return peak;
}

C sum_of(const long n, const int first, const int step, __global const IN* in, const long at_in,
         const long in_step, const C peak, const C temperature) {
  C8 sums = 0;
  for (long k = first * 8; k < EIGHTS(n);) {
    C8 part = 0;
    for (int i = 0; i < BLOCK && k < EIGHTS(n); ++i, k += step * 8) {
      part += exp(LOWER(load_eight(in, at_in + k * IN_STEP, IN_STEP)));
    }
    sums += part;
  }
  C sum = OVER_ALL(PLUS, sums);
  for (long k = EIGHTS(n) + first; k < n; k += step) sum += exp(LOWER(X(k)));
  return sum;
}

void finish(const long n, const int first, const int step, __global OUT* out, const long at_out,
            const long out_step, __global const IN* in, const long at_in, const long in_step,
            const C peak, const C temperature, const C sum) {
  const C total = LOG ? log(sum) : sum;
  for (long k = first * 8; k < EIGHTS(n); k += step * 8) {
    const C8 x = load_eight(in, at_in + k * IN_STEP, IN_STEP);
    store_eight(FINISHED(x), out, at_out + k * OUT_STEP, OUT_STEP);
  }
  for (long k = EIGHTS(n) + first; k < n; k += step) {
    const C result = FINISHED(X(k));
    STORE(at_out + k * OUT_STEP);
  }
}
)";

constexpr char kItemSource[] = R"(
__kernel void softmax_by_items(const long count, const Layout lines, const long n,
                               const C temperature, __global OUT* out, long at_out,
                               const long out_step, __global const IN* in, long at_in,
                               const long in_step, const long width) {
  const long line = get_global_id(0);
  if (line >= count) return;
  ADVANCE(lines, line, STEP_LINE);
  const C peak = peak_of(n, 0, 1, in, at_in, in_step);
  const C sum = sum_of(n, 0, 1, in, at_in, in_step, peak, temperature);
  finish(n, 0, 1, out, at_out, out_step, in, at_in, in_step, peak, temperature, sum);
}
)";

// The last eight columns of a row may be among those of the item before, too.
constexpr char kColumnsSource[] = R"(
#define STEP_COLUMNS(position, axis)                                            \
  {                                                                             \
    const int is_last_ = (axis) == lines.ndim - 1;                              \
    const long first_ = is_last_ ? min((position) * 8, width - 8) : (position); \
    at_out += first_ * lines.strides[0][axis];                                  \
    at_in += first_ * lines.strides[1][axis];                                   \
  }

__kernel void softmax_by_columns(const long count, const Layout lines, const long n,
                                 const C temperature, __global OUT* out, long at_out,
                                 const long out_step, __global const IN* in, long at_in,
                                 const long in_step, const long width) {
  const long item = get_global_id(0);
  if (item >= count) return;
  ADVANCE(lines, item, STEP_COLUMNS);
  C8 peak = LAST;
  for (long k = 0; k < n; ++k) {
    const C8 x = load_eight(in, at_in + k * in_step, 1);
    peak = PEAK(x, peak);
  }
  C8 sum = 0;
  for (long k = 0; k < n;) {
    C8 part = 0;
    for (int i = 0; i < BLOCK && k < n; ++i, ++k) {
      part += exp(LOWER(load_eight(in, at_in + k * in_step, 1)));
    }
    sum += part;
  }
  const C8 total = LOG ? log(sum) : sum;
  for (long k = 0; k < n; ++k) {
    const C8 x = load_eight(in, at_in + k * in_step, 1);
    store_eight(FINISHED(x), out, at_out + k * out_step, 1);
  }
}
)";

constexpr char kGroupSource[] = R"(
#define REDUCE(value, combine)                                                   \
  room[item] = value;                                                          \
  barrier(CLK_LOCAL_MEM_FENCE);                                                \
  for (int left = GROUP; left > 1;) {                                          \
    const int half_ = (left + 1) / 2;                                          \
    if (item < left / 2) room[item] = combine(room[item], room[item + half_]); \
    left = half_;                                                              \
    barrier(CLK_LOCAL_MEM_FENCE);                                              \
  }                                                                            \
  value = room[0];                                                             \
  barrier(CLK_LOCAL_MEM_FENCE);

__kernel void softmax_by_groups(const long count, const Layout lines, const long n,
                                const C temperature, __global OUT* out, long at_out,
                                const long out_step, __global const IN* in, long at_in,
                                const long in_step, const long width) {
  __local C room[GROUP];
  const int item = get_local_id(0);
  const long line = get_group_id(0);
  ADVANCE(lines, line, STEP_LINE);
  C peak = peak_of(n, item, GROUP, in, at_in, in_step);
  REDUCE(peak, PEAK);
  C sum = sum_of(n, item, GROUP, in, at_in, in_step, peak, temperature);
  REDUCE(sum, PLUS);
  finish(n, item, GROUP, out, at_out, out_step, in, at_in, in_step, peak, temperature, sum);
}
)";

class SoftmaxWork : public Work {
 public:
  SoftmaxWork(const Request& request, const Softmax& softmax);
  void Run(Commands* commands, const Location* locations) override;
  // Of a line all is read before it is written, but not where items have columns in common.
  bool in_place() const override { return share_ != Share::kColumns || width_ % 8 == 0; }

 private:
  Share ShareOf() const;
  std::string Source(const char* kernel) const;
  template <typename T>
  void SetAll(const Location& out, const Location& in) const;

  const Softmax softmax_;
  const DType element_; /*!< of the input */
  const int output_;
  int64_t count_;    /*!< of the shares */
  int64_t width_{0}; /*!< of the last axis of the lines */
  size_t group_{1};  /*!< work items of a share */
  Share share_{Share::kItem};
  Layout lines_{};
  std::mutex mutex_;
  Kernel kernel_;
};

SoftmaxWork::SoftmaxWork(const Request& request, const Softmax& softmax)
    : softmax_(softmax),
      element_(DTypeOf(request.input(softmax.input).dtype)),
      output_(request.num_in()),
      count_(softmax.rows.count()) {
  request.CheckDevice({element_, softmax.stored});
  if (count_ == 0 || softmax.length == 0) return;
  lines_ = LayoutOf(softmax.rows);
  share_ = ShareOf();
  if (share_ == Share::kGroup) group_ = request.device().traits.group_size;
  if (share_ == Share::kColumns) {
    int64_t& last = lines_.shape[lines_.ndim - 1];
    width_ = last;
    last = (width_ + 7) / 8;
    count_ = count_ / width_ * last;
  }
  Programs& programs = request.device().programs();
  switch (share_) {
    case Share::kItem:
      kernel_ = programs.Make(Source(kItemSource), "softmax_by_items");
      break;
    case Share::kGroup:
      kernel_ = programs.Make(Source(kGroupSource), "softmax_by_groups");
      break;
    case Share::kColumns:
      kernel_ = programs.Make(Source(kColumnsSource), "softmax_by_columns");
      break;
  }
}

Share SoftmaxWork::ShareOf() const {
  const int64_t last = lines_.ndim - 1;
  const bool are_columns = lines_.ndim > 0 && lines_.shape[last] >= 8 &&
                           lines_.strides[0][last] == 1 && lines_.strides[1][last] == 1;
  if (are_columns && count_ >= kManyLines) return Share::kColumns;
  return softmax_.length <= kShortLine ? Share::kItem : Share::kGroup;
}

std::string SoftmaxWork::Source(const char* kernel) const {
  const auto define = [](const std::string& name, const std::string& text) {
    return "#define " + name + " " + text + "\n";
  };
  const bool smallest = softmax_.temperature < 0;
  const bool divides = softmax_.temperature != 1;
  const bool with_double = softmax_.dtype == DType::kFloat64 || element_ == DType::kFloat64;
  const std::string compute = ComputeType(softmax_.dtype);
  const std::string element = Convert(element_, softmax_.dtype, Load(element_, "in", "(i)"));
  const std::string result = Convert(softmax_.dtype, softmax_.stored, "result");
  return ElementSource(with_double) + kLayoutSource + define("C", compute) +
         define("C8", compute + "8") + define("IN_STEP", softmax_.steps[1] == 1 ? "1" : "in_step") +
         define("OUT_STEP", softmax_.steps[0] == 1 ? "1" : "out_step") +
         define("IN", ElementType(element_)) + define("OUT", ElementType(softmax_.stored)) +
         define("ELEMENT(i)", element) +
         define("STORE(i)", Store(softmax_.stored, result, "out", "(i)")) +
         define("LOG", softmax_.is_log ? "1" : "0") +
         define("LAST", smallest ? "INFINITY" : "-INFINITY") +
         define("PEAK(a, b)", smallest ? "((a) < (b) ? (a) : (b))" : "((a) > (b) ? (a) : (b))") +
         define("LOWERED(x, peak)", divides ? "((x - peak) / temperature)" : "(x - peak)") +
         define("GROUP", std::to_string(group_)) + kLineSource + kernel;
}

template <typename T>
void SoftmaxWork::SetAll(const Location& out, const Location& in) const {
  SetArguments(kernel_.get(), count_, lines_, softmax_.length, static_cast<T>(softmax_.temperature),
               out.buffer, out.first, softmax_.steps[0], in.buffer, in.first, softmax_.steps[1],
               width_);
}

void SoftmaxWork::Run(Commands* commands, const Location* locations) {
  if (kernel_.get() == nullptr) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  const Location& in = locations[softmax_.input];
  const Location& out = locations[output_];
  if (softmax_.dtype == DType::kFloat64) {
    SetAll<cl_double>(out, in);
  } else {
    SetAll<cl_float>(out, in);
  }
  commands->Launch(kernel_.get(), count_ * static_cast<int64_t>(group_));
}

}  // namespace

std::unique_ptr<Work> MakeSoftmax(const Request& request) {
  const std::optional<Softmax> softmax = FindSoftmax(request);
  if (!softmax) return nullptr;
  return std::make_unique<SoftmaxWork>(request, *softmax);
}

}  // namespace opencl
