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

Ref<Plan> ChainOfSums(const NDArray& ones) {
  const op::KernelInput like{kFloat, {kSize}, false};
  PlanBuilder builder;
  int64_t value = builder.AddInput({kSize}, kFloat);
  const int64_t one = builder.AddConstant(ones);
  for (int i = 0; i < kSteps; ++i) {
    const Ref<Kernel> add = op::MakeKernel("add", op::KernelInputs({like, like}),
                                           {op::KernelOutput{kFloat, {kSize}, 0, 0}},
                                           std::make_unique<AddThere>(), kSize * sizeof(float));
    value = builder.AddStep(add, {value, one}, "step");
  }
  return builder.Build({value});
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
        const auto* found = out.data_as<float>();
        if (std::count(found, found + kSize, static_cast<float>(t + kSteps)) != kSize) ++wrong;
        if (round == t) op::SetNumThreads(2 + t % 2);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}
