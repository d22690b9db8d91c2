/*!
 * \file fold.cu
 * \brief Folds: by threads, an output each, or by blocks, some of which may share an output.
 */
#include <algorithm>

#include "folds.h"
#include "kernels.h"
#include "launch.h"

namespace cudaacc {
namespace {

using mxacc::FoldKind;

/*! \brief Added up at a time, so that rounding stays small. */
constexpr int kRun = 256;
/*! \brief So few elements are folded by one thread. */
constexpr int64_t kFewElements = 64;
/*! \brief A thread of a block that shares an output folds at least so many. */
constexpr int64_t kThreadElements = 16;
/*! \brief So many blocks are enough for any device. */
constexpr int64_t kManyBlocks = 1024;

template <typename Fold>
struct FoldSteps {
  using Acc = typename Fold::Acc;
  using Element = typename Fold::Element;
  FoldTask task;
  Fold fold;

  /*! \brief Where the output and the inputs begin. */
  CUDAACC_BOTH Places<3> At(int64_t output) const {
    Places<3> places{{task.out.first, task.inputs[0].first, task.inputs[1].first}};
    Advance(task.kept, output, &places);
    return places;
  }
  CUDAACC_BOTH Element At(const Places<3>& begin, int64_t i) const {
    Places<2> places{{begin.at[1], begin.at[2]}};
    Advance(task.folded, i, &places);
    const auto x = Load<Element>(task.inputs[0], places.at[0], task.element);
    if constexpr (Fold::kOfPairs) {
      if (task.multiplies) return x * Load<Element>(task.inputs[1], places.at[1], task.element);
    }
    return x;
  }
  /*! \brief The elements from first on, step apart. */
  CUDAACC_BOTH Acc Part(const Places<3>& begin, int64_t first, int64_t step) const {
    Acc total = fold.Start();
    for (int64_t i = first; i < task.count;) {
      Acc acc = fold.Start();
      for (int k = 0; k < kRun && i < task.count; ++k, i += step) {
        acc = fold.Add(acc, At(begin, i), i);
      }
      total = fold.Merge(total, acc);
    }
    return total;
  }
  CUDAACC_BOTH void Finish(const Places<3>& places, Acc acc) const {
    Store(task.out, places.at[0], fold.Result(acc, task.count));
  }
};

/*! \brief The values of a block's threads, of which the first becomes the fold of all. */
template <typename Fold>
struct Shared {
  typename Fold::Acc of[kThreads];

  CUDAACC_BOTH void Merge(const Fold& fold) {
    for (int half = kThreads / 2; half > 0; half /= 2) {
      ForThreads([&](int thread) {
        if (thread < half) of[thread] = fold.Merge(of[thread], of[thread + half]);
      });
    }
  }
};

/*! \brief A thread for each output. */
template <typename Fold>
struct FoldItem {
  FoldSteps<Fold> steps;

  CUDAACC_BOTH void Run(int64_t output) const {
    const Places<3> places = steps.At(output);
    steps.Finish(places, steps.Part(places, 0, 1));
  }
};

/*! \brief Blocks that share an output keep their parts of it in memory. */
template <typename Fold>
struct FoldBlock {
  using Shared = cudaacc::Shared<Fold>;
  FoldSteps<Fold> steps;
  int64_t parts;
  typename Fold::Acc* memory;

  CUDAACC_BOTH void Run(int64_t block, Shared* shared) const {
    const Places<3> places = steps.At(block / parts);
    const int64_t first = block % parts * kThreads;
    ForThreads([&](int thread) {
      // Neighbouring threads read neighbouring elements.
      shared->of[thread] = steps.Part(places, first + thread, parts * kThreads);
    });
    shared->Merge(steps.fold);
    ForThreads([&](int thread) {
      if (thread != 0) return;
      if (parts == 1) {
        steps.Finish(places, shared->of[0]);
      } else {
        memory[block] = shared->of[0];
      }
    });
  }
};

/*! \brief Then a block for each output folds the parts. */
template <typename Fold>
struct RestBlock {
  using Shared = cudaacc::Shared<Fold>;
  FoldSteps<Fold> steps;
  int64_t parts;
  const typename Fold::Acc* memory;

  CUDAACC_BOTH void Run(int64_t output, Shared* shared) const {
    ForThreads([&](int thread) {
      typename Fold::Acc acc = steps.fold.Start();
      for (int64_t k = thread; k < parts; k += kThreads) {
        acc = steps.fold.Merge(acc, memory[output * parts + k]);
      }
      shared->of[thread] = acc;
    });
    shared->Merge(steps.fold);
    ForThreads([&](int thread) {
      if (thread == 0) steps.Finish(steps.At(output), shared->of[0]);
    });
  }
};

/*! \brief Calls body with the fold of a task. */
template <typename Body>
void WithFold(const FoldTask& task, Body&& body) {
  const FoldKind kind = task.kind;
  switch (kind) {
    case FoldKind::kSum:
    case FoldKind::kProduct:
    case FoldKind::kMean: {
      const bool multiplies = kind == FoldKind::kProduct;
      const bool divides = kind == FoldKind::kMean;
      if (task.element == DType::kFloat64) return body(TotalFold<double>{multiplies, divides});
      if (mxacc::IsFloat(task.element)) return body(TotalFold<float>{multiplies, divides});
      return body(TotalFold<uint64_t>{multiplies, divides});
    }
    case FoldKind::kVariance:
    case FoldKind::kDeviation: {
      const bool root = kind == FoldKind::kDeviation;
      if (task.element == DType::kFloat64) return body(VarianceFold<double>{task.ddof, root});
      return body(VarianceFold<float>{task.ddof, root});
    }
    case FoldKind::kAny:
    case FoldKind::kAll:
      return body(LogicFold{kind == FoldKind::kAny});
    case FoldKind::kLargest:
    case FoldKind::kSmallest:
      return WithComputeType(task.element, [&](auto zero) {
        body(ExtremumFold<decltype(zero)>{kind == FoldKind::kLargest});
      });
    case FoldKind::kPlaceOfLargest:
    case FoldKind::kPlaceOfSmallest:
      return WithComputeType(task.element, [&](auto zero) {
        body(PlaceFold<decltype(zero)>{kind == FoldKind::kPlaceOfLargest});
      });
  }
}

}  // namespace

FoldPlan PlanFold(const FoldTask& task) {
  // Threads of an output each read memory in the order of outputs, blocks in that of what is
  // folded: the nearer is the better, unless there are too few outputs to choose.
  const int64_t along_kept = SmallestStep(task.kept, 1);
  const int64_t along_folded = SmallestStep(task.folded, 0);
  const bool many = task.outputs >= kManyBlocks * kThreads;
  const bool kept_is_near = along_kept != 0 && along_kept < along_folded;
  if (task.count < kFewElements || (many && kept_is_near)) return {false, 1, 0};
  const int64_t by_size = task.count / (kThreads * kThreadElements);
  const int64_t by_outputs = kManyBlocks / std::max<int64_t>(task.outputs, 1);
  FoldPlan plan{true, std::max<int64_t>(1, std::min(by_size, by_outputs)), 0};
  if (plan.parts == 1) return plan;
  WithFold(task, [&](auto fold) { plan.part_size = sizeof(typename decltype(fold)::Acc); });
  return plan;
}

void LaunchFold(StreamHandle stream, const FoldTask& task, const FoldPlan& plan, void* memory) {
  WithFold(task, [&](auto fold) {
    using Fold = decltype(fold);
    const FoldSteps<Fold> steps{task, fold};
    if (!plan.by_blocks) return LaunchEach(stream, task.outputs, FoldItem<Fold>{steps});
    auto* parts = static_cast<typename Fold::Acc*>(memory);
    LaunchBlocks(stream, task.outputs * plan.parts, FoldBlock<Fold>{steps, plan.parts, parts});
    if (plan.parts == 1) return;
    LaunchBlocks(stream, task.outputs, RestBlock<Fold>{steps, plan.parts, parts});
  });
}

}  // namespace cudaacc
