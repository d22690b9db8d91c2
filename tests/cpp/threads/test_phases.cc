// Phases that several threads have at once, each of which needs all of the phase before.
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "../support.h"
#include "op/parallel/parallel.h"
#include "op/parallel/phases.h"

using namespace mxnet;  // NOLINT: the subject of the test

namespace {

/*! \brief Each number of a phase is the sum of all numbers of the one before, and one. */
int64_t LastSum(int64_t phases, int64_t pieces) {
  std::vector<std::vector<int64_t>> numbers(static_cast<size_t>(phases + 1),
                                            std::vector<int64_t>(static_cast<size_t>(pieces)));
  op::InPhases(phases, pieces, [&](int64_t phase, int64_t piece) {
    int64_t sum = 1;
    for (const int64_t number : numbers[static_cast<size_t>(phase)]) sum += number;
    numbers[static_cast<size_t>(phase + 1)][static_cast<size_t>(piece)] = sum % 1000;
  });
  int64_t sum = 0;
  for (const int64_t number : numbers.back()) sum += number;
  return sum;
}

int64_t Expected(int64_t phases, int64_t pieces) {
  int64_t number = 0;
  for (int64_t phase = 0; phase < phases; ++phase) number = (1 + number * pieces) % 1000;
  return number * pieces;
}

}  // namespace

TEST_CASE("a phase sees all of the one before, on any number of threads") {
  for (const int threads : {1, 2, 3, 5}) {
    op::SetNumThreads(threads);
    for (const int64_t phases : {0, 1, 2, 100}) {
      for (const int64_t pieces : {1, 2, 4, 7}) {
        CHECK(LastSum(phases, pieces) == Expected(phases, pieces));
      }
    }
  }
}

TEST_CASE("threads have phases at once") {
  op::SetNumThreads(3);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        if (LastSum(20, 5) != Expected(20, 5)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}
