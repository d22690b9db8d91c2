/*!
 * \file reduce.cu
 * \brief Reduces: by threads, an output each, or by blocks, some of which may share an output.
 */
#include <algorithm>

#include "kernels.h"
#include "launch.h"
#include "reducers.h"

namespace cudaacc {
namespace {

using mxacc::ReduceKind;

/*! \brief Elements are added up in runs of this length first, so that rounding errors stay small.
 */
constexpr int kRun = 256;
/*! \brief Fewer elements than this are reduced by one thread. */
constexpr int64_t kFewElements = 64;
/*! \brief Where blocks share an output, each thread reduces at least this many elements. */
constexpr int64_t kThreadElements = 16;
/*! \brief More blocks than this make no device faster. */
constexpr int64_t kManyBlocks = 1024;

template <typename Reducer>
struct ReduceSteps {
  using Acc = typename Reducer::Acc;
  using Element = typename Reducer::Element;
  ReduceTask task;
  Reducer reducer;

  /*! \brief Where the output and the inputs begin. */
  CUDAACC_BOTH Positions<3> At(int64_t output) const {
    Positions<3> positions{{task.out.first, task.inputs[0].first, task.inputs[1].first}};
    Advance(task.kept, output, &positions);
    return positions;
  }
  CUDAACC_BOTH Element At(const Positions<3>& begin, int64_t i) const {
    Positions<2> positions{{begin.at[1], begin.at[2]}};
    Advance(task.reduced, i, &positions);
    const auto x = Load<Element>(task.inputs[0], positions.at[0], task.element);
    if constexpr (Reducer::kOfPairs) {
      if (task.multiplies) {
        const auto y = Load<Element>(task.inputs[1], positions.at[1], task.element);
        return Reductions<Element>::prod(x, y);
      }
    }
    return x;
  }
  /*! \brief The elements from first on, step apart. */
  CUDAACC_BOTH Acc Part(const Positions<3>& begin, int64_t first, int64_t step) const {
    Acc total = reducer.Start();
    for (int64_t i = first; i < task.count;) {
      Acc acc = reducer.Start();
      for (int k = 0; k < kRun && i < task.count; ++k, i += step) {
        acc = reducer.Add(acc, At(begin, i), i);
      }
      total = reducer.Merge(total, acc);
    }
    return total;
  }
  CUDAACC_BOTH void Finish(const Positions<3>& positions, Acc acc) const {
    Store(task.out, positions.at[0], reducer.Result(acc, task.count));
  }
};

/*! \brief The values of a block's threads, of which the first becomes the result of all. */
template <typename Reducer>
struct Shared {
  typename Reducer::Acc of[kThreads];

  CUDAACC_BOTH void Merge(const Reducer& reducer) {
    for (int half = kThreads / 2; half > 0; half /= 2) {
      ForThreads([&](int thread) {
        if (thread < half) of[thread] = reducer.Merge(of[thread], of[thread + half]);
      });
    }
  }
};

/*! \brief A thread for each output. */
template <typename Reducer>
struct ReduceItem {
  ReduceSteps<Reducer> steps;

  CUDAACC_BOTH void Run(int64_t output) const {
    const Positions<3> positions = steps.At(output);
    steps.Finish(positions, steps.Part(positions, 0, 1));
  }
};

/*! \brief Blocks that share an output keep their parts of it in memory. */
template <typename Reducer>
struct ReduceBlock {
  using Shared = cudaacc::Shared<Reducer>;
  ReduceSteps<Reducer> steps;
  int64_t parts;
  typename Reducer::Acc* memory;

  CUDAACC_BOTH void Run(int64_t block, Shared* shared) const {
    const Positions<3> positions = steps.At(block / parts);
    const int64_t first = block % parts * kThreads;
    ForThreads([&](int thread) {
      // Neighbouring threads read neighbouring elements.
      shared->of[thread] = steps.Part(positions, first + thread, parts * kThreads);
    });
    shared->Merge(steps.reducer);
    ForThreads([&](int thread) {
      if (thread != 0) return;
      if (parts == 1) {
        steps.Finish(positions, shared->of[0]);
      } else {
        memory[block] = shared->of[0];
      }
    });
  }
};

/*! \brief Then a block for each output reduces the parts. */
template <typename Reducer>
struct RestBlock {
  using Shared = cudaacc::Shared<Reducer>;
  ReduceSteps<Reducer> steps;
  int64_t parts;
  const typename Reducer::Acc* memory;

  CUDAACC_BOTH void Run(int64_t output, Shared* shared) const {
    ForThreads([&](int thread) {
      typename Reducer::Acc acc = steps.reducer.Start();
      for (int64_t k = thread; k < parts; k += kThreads) {
        acc = steps.reducer.Merge(acc, memory[output * parts + k]);
      }
      shared->of[thread] = acc;
    });
    shared->Merge(steps.reducer);
    ForThreads([&](int thread) {
      if (thread == 0) steps.Finish(steps.At(output), shared->of[0]);
    });
  }
};

/*! \brief Calls body with the reducer of a task. */
template <typename Body>
void WithReducer(const ReduceTask& task, Body&& body) {
  const ReduceKind kind = task.kind;
  switch (kind) {
    case ReduceKind::kSum:
    case ReduceKind::kProduct:
    case ReduceKind::kMean: {
      const bool multiplies = kind == ReduceKind::kProduct;
      const bool divides = kind == ReduceKind::kMean;
      if (task.element == DType::kFloat64) return body(TotalReducer<double>{multiplies, divides});
      if (mxacc::IsFloat(task.element)) return body(TotalReducer<float>{multiplies, divides});
      return body(TotalReducer<uint64_t>{multiplies, divides});
    }
    case ReduceKind::kVariance:
    case ReduceKind::kStd: {
      const bool root = kind == ReduceKind::kStd;
      if (task.element == DType::kFloat64) return body(VarianceReducer<double>{task.ddof, root});
      return body(VarianceReducer<float>{task.ddof, root});
    }
    case ReduceKind::kAny:
    case ReduceKind::kAll:
      return body(LogicReducer{kind == ReduceKind::kAny});
    case ReduceKind::kMax:
    case ReduceKind::kMin:
      return WithComputeType(task.element, [&](auto zero) {
        body(ExtremumReducer<decltype(zero)>{kind == ReduceKind::kMax});
      });
    case ReduceKind::kArgmax:
    case ReduceKind::kArgmin:
      return WithComputeType(task.element, [&](auto zero) {
        body(ArgReducer<decltype(zero)>{kind == ReduceKind::kArgmax});
      });
  }
}

}  // namespace

ReducePlan PlanReduction(const ReduceTask& task) {
  // Neighbouring threads read neighbouring outputs' elements, or neighbouring elements of one
  // output: whichever is closer in memory is faster, if there are outputs enough for all threads.
  const int64_t along_kept = SmallestStep(task.kept, 1);
  const int64_t along_reduced = SmallestStep(task.reduced, 0);
  const bool many = task.outputs >= kManyBlocks * kThreads;
  const bool kept_is_near = along_kept != 0 && along_kept < along_reduced;
  if (task.count < kFewElements || (many && kept_is_near)) return {false, 1, 0};
  const int64_t by_size = task.count / (kThreads * kThreadElements);
  const int64_t by_outputs = kManyBlocks / std::max<int64_t>(task.outputs, 1);
  ReducePlan plan{true, std::max<int64_t>(1, std::min(by_size, by_outputs)), 0};
  if (plan.parts == 1) return plan;
  WithReducer(task,
              [&](auto reducer) { plan.part_size = sizeof(typename decltype(reducer)::Acc); });
  return plan;
}

void LaunchReduction(StreamHandle stream, const ReduceTask& task, const ReducePlan& plan,
                     void* memory) {
  WithReducer(task, [&](auto reducer) {
    using Reducer = decltype(reducer);
    const ReduceSteps<Reducer> steps{task, reducer};
    if (!plan.by_blocks) return LaunchEach(stream, task.outputs, ReduceItem<Reducer>{steps});
    auto* parts = static_cast<typename Reducer::Acc*>(memory);
    LaunchBlocks(stream, task.outputs * plan.parts, ReduceBlock<Reducer>{steps, plan.parts, parts});
    if (plan.parts == 1) return;
    LaunchBlocks(stream, task.outputs, RestBlock<Reducer>{steps, plan.parts, parts});
  });
}

}  // namespace cudaacc
