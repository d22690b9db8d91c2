// Threads of another library's OpenMP that serve the pool, and when they are taken for it.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "../support.h"
#include "op/parallel/openmp_team.h"
#include "op/parallel/thread_pool.h"

using namespace mxnet;  // NOLINT: the subject of the test

namespace {

using op::OpenMPTeam;

std::atomic<int> regions{0};
std::atomic<std::thread::id> guest{};

/*! \brief A parallel region of the calling thread and a new one, as OpenMP has them. */
void RegionOfTwo(void (*body)(void*), void* data, unsigned, unsigned) {
  ++regions;
  std::thread other([=] {
    guest = std::this_thread::get_id();
    body(data);
  });
  body(data);
  other.join();
}

/*! \brief The same where OpenMP may take one thread. */
void RegionOfOne(void (*body)(void*), void* data, unsigned, unsigned) {
  ++regions;
  body(data);
}

/*! \brief As long as it lives, the library has such regions. */
struct Library {
  explicit Library(OpenMPTeam::Parallel parallel) {
    regions = 0;
    OpenMPTeam::Use(parallel);
  }
  ~Library() { OpenMPTeam::Use(nullptr); }
};

/*! \brief A loop of two pieces, of which neither ends before the other has begun. */
struct Loop {
  std::atomic<int> begun{0};
  std::thread::id of[2];

  static void Run(const void* self, int64_t begin, int64_t) {
    auto* const loop = static_cast<Loop*>(const_cast<void*>(self));
    loop->of[begin] = std::this_thread::get_id();
    ++loop->begun;
    while (loop->begun < 2) std::this_thread::yield();
  }

  void Run() {
    op::SharedLoop loop{&Loop::Run, this, 0, 2, 1, {0}};
    op::ThreadPool::Global()->Begin(&loop, 2);
    op::ThreadPool::Global()->End(&loop);
  }
};

}  // namespace

TEST_CASE("threads of a team do pieces of loops, asleep or awake") {
  const Library library(&RegionOfTwo);
  for (const int milliseconds : {0, 5}) {
    bool has_served = false;
    OpenMPTeam::Run([&] {
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      // Until it has come, a thread of the pool does them.
      while (!has_served && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
        Loop loop;
        loop.Run();
        has_served = loop.of[0] == guest.load() || loop.of[1] == guest.load();
      }
    });
    CHECK(has_served);
  }
  CHECK(regions == 2);
  // One that has left does not count.
  Loop after;
  after.Run();
  CHECK(after.begun == 2);
}

TEST_CASE("a team of one has the threads of the pool") {
  const Library library(&RegionOfOne);
  Loop loop;
  OpenMPTeam::Run([&] { loop.Run(); });
  CHECK(loop.begun == 2);
  CHECK(regions == 1);
}

TEST_CASE("what is thrown in a region comes out of it") {
  const Library library(&RegionOfTwo);
  CHECK_THROWS_WITH(OpenMPTeam::Run([] { throw std::runtime_error("of the body"); }),
                    "of the body");
  CHECK(regions == 1);
}

TEST_CASE("regions of several threads, whose guests leave while loops of others want them") {
  REQUIRE(op::ThreadPool::Global()->Reserve(1));
  const Library library(&RegionOfTwo);
  std::atomic<int> done{0};
  std::vector<std::thread> owners;
  for (int i = 0; i < 4; ++i) {
    owners.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        OpenMPTeam::Run([&] {
          Loop loop;
          loop.Run();
          done += loop.begun;
        });
      }
    });
  }
  for (std::thread& owner : owners) owner.join();
  CHECK(done == 4 * 50 * 2);
  CHECK(regions == 4 * 50);
}

TEST_CASE("without such a library, and in a forked process, the pool has its own threads") {
  CHECK_FALSE(OpenMPTeam::IsAwake());
  Loop loop;
  OpenMPTeam::Run([&] { loop.Run(); });
  CHECK(loop.begun == 2);
#if !defined(__SANITIZE_THREAD__)
  const Library library(&RegionOfTwo);
  const pid_t child = fork();
  if (child == 0) _exit(OpenMPTeam::IsAwake() ? 1 : 0);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
#endif
}

namespace {

/*! \brief A thread that stays when a region is over, and then works or sleeps. */
struct Staying {
  std::atomic<bool> works{true};
  std::atomic<bool> ends{false};
  std::atomic<void (*)(void*)> body{nullptr};
  void* data{nullptr};
  std::thread thread{[this] {
    while (!ends) {
      if (auto* const run = body.load()) {
        run(data);
        body = nullptr;
      }
      if (!works) std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
  }};
};

Staying* staying = nullptr;

void RegionWithStaying(void (*body)(void*), void* data, unsigned, unsigned) {
  staying->data = data;
  staying->body = body;
  body(data);
  while (staying->body.load() != nullptr) std::this_thread::yield();
}

constexpr int kEnough = 6;

/*! \brief How many of some questions are answered by yes; no more are asked once it is enough. */
int TimesAwake(int questions) {
  int times = 0;
  for (int i = 0; i < questions && times < kEnough; ++i) {
    times += OpenMPTeam::IsAwake() ? 1 : 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return times;
}

}  // namespace

TEST_CASE("whether threads of a team are awake") {
  Staying other;
  staying = &other;
  const Library library(&RegionWithStaying);
  OpenMPTeam::Run([] {});
  // On a busy machine it has no processor for long, and it may be asked while it wakes up.
  CHECK(TimesAwake(5000) == kEnough);
  other.works = false;
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(TimesAwake(50) < kEnough);
  other.ends = true;
  other.thread.join();
}
