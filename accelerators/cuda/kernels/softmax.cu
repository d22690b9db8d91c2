/*!
 * \file softmax.cu
 * \brief softmax and log_softmax: each row by some threads of a block.
 */
#include <cmath>
#include <limits>

#include "kernels.h"
#include "launch.h"

namespace cudaacc {
namespace {

/*! \brief Elements are added up in runs of this length first, so that rounding errors stay small.
 */
constexpr int kRun = 256;
/*! \brief A row is shared by several threads only if each has at least this many elements. */
constexpr int64_t kThreadElements = 4;
/*! \brief Threads of a warp, whose neighbouring reads become one. */
constexpr int kTogether = 32;

/*! \brief Of some elements, the largest and the sum of exponentials below it: a row is read only
 * once for both. */
template <typename C>
struct Total {
  static constexpr C kNone = -std::numeric_limits<C>::infinity();
  C largest;
  C sum; /*!< of exp(x - largest); NaN where an x is */

  CUDAACC_BOTH static Total Start() { return {kNone, 0}; }
  CUDAACC_BOTH void Add(C x) {
    if (x > largest) {
      sum = sum * std::exp(largest - x) + 1;
      largest = x;
    } else if (!(x == kNone)) {  // infinity minus infinity would be NaN
      sum += std::exp(x - largest);
    }
  }
  CUDAACC_BOTH void Merge(const Total& other) {
    if (other.largest > largest) {
      sum = sum * std::exp(largest - other.largest) + other.sum;
      largest = other.largest;
    } else if (other.largest == largest) {
      sum += other.sum;
    } else {
      sum += other.sum * std::exp(other.largest - largest);
    }
  }
  /*! \brief The sum, but NaN where the largest is infinite. */
  CUDAACC_BOTH C Divisor() const { return std::isfinite(largest) ? sum : largest - largest; }
};

template <typename C>
struct SoftmaxBlock {
  struct Shared {
    Total<C> of[kThreads];
  };
  SoftmaxTask task;
  C temperature;
  int team;           /*!< threads for each row, a power of 2 */
  bool rows_are_near; /*!< neighbouring threads have neighbouring rows, not elements */

  CUDAACC_BOTH void Run(int64_t block, Shared* shared) const {
    ForThreads(
        [&](int thread) { shared->of[thread] = TotalOf(RowOf(block, thread), MemberOf(thread)); });
    for (int half = team / 2; half > 0; half /= 2) {
      ForThreads([&](int thread) {
        if (MemberOf(thread) >= half) return;
        shared->of[thread].Merge(shared->of[thread + half * step()]);
      });
    }
    ForThreads([&](int thread) {
      const int member = MemberOf(thread);
      WriteResults(RowOf(block, thread), member, shared->of[thread - member * step()]);
    });
  }

 private:
  CUDAACC_BOTH int rows_of_block() const { return kThreads / team; }
  /*! \brief From a thread to the next of its team. */
  CUDAACC_BOTH int step() const { return rows_are_near ? rows_of_block() : 1; }
  CUDAACC_BOTH int MemberOf(int thread) const { return thread / step() % team; }
  CUDAACC_BOTH int64_t RowOf(int64_t block, int thread) const {
    const int row = rows_are_near ? thread % rows_of_block() : thread / team;
    return block * rows_of_block() + row;
  }
  /*! \brief Where a row begins in the output and the input. */
  CUDAACC_BOTH Positions<2> At(int64_t row) const {
    Positions<2> positions{{task.out.first, task.input.first}};
    Advance(task.rows, row, &positions);
    return positions;
  }
  CUDAACC_BOTH C Element(const Positions<2>& begin, int64_t i) const {
    return Load<C>(task.input, begin.at[1] + i * task.steps[1], task.dtype) / temperature;
  }
  CUDAACC_BOTH Total<C> TotalOf(int64_t row, int member) const {
    Total<C> total = Total<C>::Start();
    if (row >= task.num_rows) return total;
    const Positions<2> begin = At(row);
    for (int64_t i = member; i < task.length;) {
      Total<C> run = Total<C>::Start();
      for (int k = 0; k < kRun && i < task.length; ++k, i += team) run.Add(Element(begin, i));
      total.Merge(run);
    }
    return total;
  }
  CUDAACC_BOTH void WriteResults(int64_t row, int member, const Total<C>& total) const {
    if (row >= task.num_rows) return;
    const Positions<2> begin = At(row);
    const C divisor = total.Divisor();
    const C above = task.is_log ? std::log(divisor) : 0;
    for (int64_t i = member; i < task.length; i += team) {
      const C below = Element(begin, i) - total.largest;
      const C result = task.is_log ? below - above : std::exp(below) / divisor;
      Store(task.out, begin.at[0] + i * task.steps[0], result);
    }
  }
};

template <typename C>
void Launch(StreamHandle stream, const SoftmaxTask& task) {
  const int64_t along_rows = SmallestStep(task.rows, 1);
  const bool rows_are_near = along_rows != 0 && along_rows < std::abs(task.steps[1]);
  const int most = rows_are_near ? kThreads / kTogether : kThreads;
  int team = 1;
  while (team < most && team * kThreadElements < task.length) team *= 2;
  const int rows_of_block = kThreads / team;
  const auto temperature = static_cast<C>(task.temperature);
  LaunchBlocks(stream, (task.num_rows - 1) / rows_of_block + 1,
               SoftmaxBlock<C>{task, temperature, team, rows_are_near});
}

}  // namespace

void LaunchSoftmax(StreamHandle stream, const SoftmaxTask& task) {
  if (task.dtype == DType::kFloat64) return Launch<double>(stream, task);
  Launch<float>(stream, task);
}

}  // namespace cudaacc
