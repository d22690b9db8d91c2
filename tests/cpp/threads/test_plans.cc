// Plans that several threads run, build and profile at once, over the operators' pool of threads.
// Only for ThreadSanitizer: tests/graph/test_compiled_plan.py has what plans do.
#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "../support.h"
#include "graph/plan_builder.h"
#include "op/parallel/parallel.h"

using namespace mxnet;         // NOLINT: the subject of the test
using namespace mxnet::graph;  // NOLINT

namespace {

constexpr int kThreads = 8;
constexpr int64_t kSize = 60000;  // more than a loop has on one thread
constexpr int kSteps = 6;
constexpr DLDataType kFloat{kDLFloat, 32, 1};

/*! \brief The sum of two tensors, by way of its workspace. */
struct AddThere {
  void Run(const DLTensor* in, int, DLTensor* out, int, void* workspace) const {
    const auto* x = static_cast<const float*>(in[0].data);
    const auto* y = static_cast<const float*>(in[1].data);
    auto* between = static_cast<float*>(workspace);
    std::copy(x, x + kSize, between);
    auto* sum = static_cast<float*>(out[0].data);
    op::InParallel(kSize, 1000, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) sum[i] = between[i] + y[i];
    });
  }
};

/*! \brief Adds a step; its sum may lie in the memory of an input. */
int64_t AddSum(PlanBuilder* builder, int64_t x, int64_t y, int in_place = 0) {
  const op::KernelInput like{kFloat, {kSize}, false};
  const Ref<Kernel> add = op::MakeKernel("add", op::KernelInputs({like, like}),
                                         {op::KernelOutput{kFloat, {kSize}, 0, in_place}},
                                         std::make_unique<AddThere>(), kSize * sizeof(float));
  return builder->AddStep(add, {x, y}, "step");
}

Ref<Plan> ChainOfSums(const NDArray& ones) {
  PlanBuilder builder;
  int64_t value = builder.AddInput({kSize}, kFloat);
  const int64_t one = builder.AddConstant(ones);
  for (int i = 0; i < kSteps; ++i) value = AddSum(&builder, value, one);
  return builder.Build({value});
}

/*! \brief x + 2, and x + 1 for the backward plan. */
Ref<Plan> Forward(const NDArray& ones) {
  PlanBuilder builder;
  const int64_t one = builder.AddConstant(ones);
  const int64_t saved = AddSum(&builder, builder.AddInput({kSize}, kFloat), one);
  return builder.Build({AddSum(&builder, saved, one), saved});
}

/*! \brief The sum of a gradient, of what was saved, and of 2. */
Ref<Plan> Backward(const NDArray& ones) {
  PlanBuilder builder;
  const int64_t one = builder.AddConstant(ones);
  const int64_t gradient = builder.AddInput({kSize}, kFloat);
  const int64_t sum = AddSum(&builder, gradient, builder.AddInput({kSize}, kFloat));
  return builder.Build({AddSum(&builder, AddSum(&builder, sum, one), one, -1)});
}

bool IsFilled(const NDArray& array, float with) {
  const auto* found = array.data_as<float>();
  return std::count(found, found + kSize, with) == kSize;
}

NDArray Filled(float with) {
  NDArray made = NDArray::Empty(ShapeView(&kSize, 1), kFloat);
  std::fill_n(made.data_as<float>(), kSize, with);
  return made;
}

}  // namespace

TEST_CASE("threads run, profile and build plans") {
  op::SetNumThreads(3);
  const NDArray ones = Filled(1);
  const Ref<Plan> shared = ChainOfSums(ones);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const NDArray given = Filled(static_cast<float>(t));
      for (int round = 0; round < 10; ++round) {
        std::vector<int64_t> times;
        const Ref<Plan> plan = round % 5 == t % 5 ? ChainOfSums(ones) : shared;
        const NDArray out =
            round % 3 == 0 ? plan->Profile({given}, &times)[0] : plan->Run({given})[0];
        if (!IsFilled(out, static_cast<float>(t + kSteps))) ++wrong;
        if (round == t) op::SetNumThreads(2 + t % 2);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("threads train by plans that begin to share memory") {
  op::SetNumThreads(3);
  const NDArray ones = Filled(1);
  const Ref<Plan> forward = Forward(ones);
  const Ref<Plan> backward = Backward(ones);
  std::atomic<int> wrong{0};
  std::atomic<int> rounds{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const NDArray x = Filled(static_cast<float>(t));
      const NDArray gradient = Filled(static_cast<float>(100 * t));
      for (int round = 0; round < 20; ++round) {
        std::vector<NDArray> outputs = forward->Run({x});
        if (!IsFilled(outputs[0], static_cast<float>(t + 2))) ++wrong;
        const std::vector<NDArray> given{gradient, outputs[1]};
        outputs.clear();
        const NDArray made = round % 3 == 0 ? backward->Run(given)[0] : backward->RunLast(given)[0];
        if (!IsFilled(made, static_cast<float>(101 * t + 3))) ++wrong;
        if (++rounds == 2 * kThreads) backward->ShareMemory(forward.get(), {{1, 1}});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  // What was saved has given its memory to the gradient.
  std::vector<NDArray> given = forward->Run({ones});
  given[0] = ones;
  const float* const saved = given[1].data_as<float>();
  CHECK(backward->RunLast(given)[0].data_as<float>() == saved);
}
