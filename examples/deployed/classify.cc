// Reads 28 rows of 28 numbers, and prints the scores of ten digits, with threads of its own.
#include <array>
#include <cstdio>
#include <iostream>
#include <thread>
#include <vector>

#include "digits.h"

// Has each thread call the body for an equal part of the tiles.
static void Run(void* context, digits_body body, void* task, int64_t tiles) {
  const int threads = *static_cast<const int*>(context);
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) {
    others.emplace_back(body, task, i, tiles * i / threads, tiles * (i + 1) / threads);
  }
  body(task, 0, 0, tiles / threads);
  for (std::thread& other : others) other.join();
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
  int threads = 2;
  const digits_pool pool = {threads, &Run, &threads};
  std::vector<char> arena(digits_arena_bytes(threads));
  int status = digits_check();
  if (status == DIGITS_OK) {
    status = digits(image.data(), scores.data(), arena.data(), arena.size(), &pool);
  }
  if (status != DIGITS_OK) {
    std::cerr << digits_message(status) << "\n";
    return 1;
  }
  for (int i = 0; i < 10; ++i) std::printf("%d %.5f\n", i, scores[i]);
}
