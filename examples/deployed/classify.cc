// Reads 28 rows of 28 numbers, and prints the scores of ten digits, computed by two threads.
#include <array>
#include <cstdio>
#include <iostream>
#include <vector>

#include "digits.h"
extern "C" {
#include "pool.h"
}

int main() {
  std::array<float, 28 * 28> image;
  std::array<float, 10> scores;
  for (float& pixel : image) {
    if (!(std::cin >> pixel)) {
      std::cerr << "expected 784 numbers\n";
      return 1;
    }
  }
  constexpr int kThreads = 2;
  const digits_pool threads = {kThreads, &pool_run, pool_start(kThreads)};
  std::vector<char> arena(digits_arena_bytes(kThreads));
  int status = digits_check();
  if (status == DIGITS_OK) {
    status = digits(image.data(), scores.data(), arena.data(), arena.size(), &threads);
  }
  pool_stop(static_cast<pool*>(threads.context));
  if (status != DIGITS_OK) {
    std::cerr << digits_message(status) << "\n";
    return 1;
  }
  for (int i = 0; i < 10; ++i) std::printf("%d %.5f\n", i, scores[i]);
}
