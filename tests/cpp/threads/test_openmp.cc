// Regions as oneDNN begins them: members, barriers and loops, from several threads at once.
#include <atomic>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "../support.h"
#include "onednn/openmp.h"
#include "op/parallel/thread_pool.h"

namespace mxnet {
namespace onednn {

op::ThreadPool* Pool() { return op::ThreadPool::Global(); }

}  // namespace onednn
}  // namespace mxnet

namespace {

/*! \brief What the function of that name returns. */
template <typename Return = void, typename... Args>
Return Call(const char* name, Args... args) {
  for (const auto& function : mxnet::onednn::kOpenMPFunctions) {
    if (std::strcmp(function.name, name) != 0) continue;
    return reinterpret_cast<Return (*)(Args...)>(function.address)(args...);
  }
  FAIL("no function " << name);
  return Return();
}

int Size() { return Call<int>("omp_get_num_threads"); }
int Index() { return Call<int>("omp_get_thread_num"); }
bool IsInTeam() { return Call<int>("omp_in_parallel") != 0; }
void Barrier() { Call("GOMP_barrier"); }

template <typename Body>
void Region(int threads, const Body& body) {
  void (*const call)(void*) = [](void* data) { (*static_cast<const Body*>(data))(); };
  Call("GOMP_parallel_start", call, const_cast<void*>(static_cast<const void*>(&body)),
       static_cast<unsigned>(threads));
  body();
  Call("GOMP_parallel_end");
}

/*! \brief What each member reads of the others after barriers, which is right or the sum is not. */
void CheckBarriers(int threads) {
  std::vector<long> written(static_cast<size_t>(threads));
  std::atomic<int> wrong{0};
  Region(threads, [&] {
    for (long round = 1; round <= 3; ++round) {
      written[static_cast<size_t>(Index())] = round;
      Barrier();
      if (std::accumulate(written.begin(), written.end(), 0L) != round * threads) ++wrong;
      Barrier();
    }
  });
  CHECK(wrong == 0);
}

void CheckLoop(int threads, long start, long end, long step, long chunk) {
  std::vector<std::atomic<int>> seen(100);
  Region(threads, [&] {
    long first;
    long last;
    bool more = Call<bool>("GOMP_loop_static_start", start, end, step, chunk, &first, &last);
    for (; more; more = Call<bool>("GOMP_loop_static_next", &first, &last)) {
      for (long i = first; step > 0 ? i < last : i > last; i += step) {
        ++seen[static_cast<size_t>(i)];
      }
    }
  });
  for (long i = 0; i < 100; ++i) {
    const bool is_in = step > 0 ? i >= start && i < end : i <= start && i > end;
    CHECK(seen[static_cast<size_t>(i)] == (is_in && (i - start) % step == 0 ? 1 : 0));
  }
}

}  // namespace

TEST_CASE("every member of a region runs once, within its team") {
  for (int threads : {1, 2, 4}) {
    std::vector<std::atomic<int>> runs(static_cast<size_t>(threads));
    Region(threads, [&] {
      CHECK(Size() == threads);
      CHECK(IsInTeam() == (threads > 1));
      ++runs[static_cast<size_t>(Index())];
      const int outer = Index();
      // Of regions within regions, one has several members.
      Region(3, [&] {
        CHECK(Size() == (threads > 1 ? 1 : 3));
        CHECK(Index() < Size());
        Barrier();
      });
      CHECK(Index() == outer);
    });
    for (const auto& count : runs) CHECK(count == 1);
    CHECK(Size() == 1);
    CHECK(!IsInTeam());
  }
}

TEST_CASE("the number of threads of a region that says none is that of its thread") {
  mxnet::onednn::SetRegionThreads(3);
  Region(0, [] { CHECK(Size() == 3); });
  mxnet::onednn::SetRegionThreads(0);
  CHECK(mxnet::onednn::RegionThreads() >= 1);
}

TEST_CASE("members divide a loop") {
  for (int threads : {1, 3}) {
    for (long chunk : {0, 1, 7, 200}) {
      CheckLoop(threads, 0, 100, 1, chunk);
      CheckLoop(threads, 3, 50, 7, chunk);
      CheckLoop(threads, 40, 5, -3, chunk);
      CheckLoop(threads, 5, 5, 1, chunk);
    }
  }
}

TEST_CASE("threads have regions with and without barriers at once") {
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([i] {
      for (int round = 0; round < 40; ++round) {
        CheckBarriers(2 + i % 3);
        CheckLoop(1 + i % 3, 0, 100, 1, 0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}
