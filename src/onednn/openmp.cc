/*!
 * \file openmp.cc
 * \brief Parallel regions of OpenMP whose members are pieces of a loop of the pool.
 *
 * GNU's OpenMP has threads of its own, which look for work for long after a region and so take a
 * processor from the threads of operators, and which wait for all members of a region to be begun
 * by others, even where these do not get a processor. Here the thread that has the region goes on
 * with members that nobody has begun when it is done with its own.
 */
#include "onednn/openmp.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <utility>

#include "op/parallel/thread_pool.h"

namespace mxnet {
namespace onednn {
namespace {

using Body = void (*)(void* data);

/*! \brief How often a barrier looks for the others before it sleeps: some tens of microseconds. */
constexpr int kLooks = 2000;

/*! \brief A region that several threads are in; each has been made by the thread that waits for it.
 */
struct Team {
  op::SharedLoop members;
  Body body;
  void* data;
  int size;
  op::ThreadPool* pool;
  bool has_pool; /*!< else the thread that has the team has been alone with it so far */
  size_t alone_before;
  std::atomic<int> arrived;
  std::atomic<uint32_t> barriers;
  std::atomic<int> asleep;
};

/*! \brief The iterations of a loop that a member has still to do. */
struct Share {
  long start;
  long step;
  long count;
  long chunk;
  long turn;
};

constexpr size_t kMostNested = 8;

/*! \brief What a thread is in. */
struct Member {
  Team* team;
  int index;
  size_t alone; /*!< regions within that, or without one, which the thread has for itself */
  size_t depth; /*!< of all regions */
  std::array<Share, kMostNested> shares;
};

thread_local Member self;
thread_local Team own;
thread_local int region_threads = 0;

int ThreadsByDefault() noexcept {
  static const int threads = [] {
    const char* given = std::getenv("OMP_NUM_THREADS");
    const long asked = given == nullptr ? 0 : std::strtol(given, nullptr, 10);
    if (asked > 0) return static_cast<int>(std::min(asked, 1024L));
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  }();
  return threads;
}

int TeamSize() noexcept { return self.team == nullptr || self.alone > 0 ? 1 : self.team->size; }

int TeamIndex() noexcept { return self.team == nullptr || self.alone > 0 ? 0 : self.index; }

int IsInTeam() noexcept { return self.team != nullptr; }

void RunMembers(const void* of, int64_t begin, int64_t end) {
  auto* team = static_cast<Team*>(const_cast<void*>(of));
  for (int64_t index = begin; index < end; ++index) {
    self.team = team;
    self.index = static_cast<int>(index);
    team->body(team->data);
  }
  self.team = nullptr;
}

/*! \brief The calling thread runs body itself, as the first member, before it calls EndRegion. */
void BeginRegion(Body body, void* data, unsigned threads) {
  const int size = threads == 0 ? RegionThreads() : static_cast<int>(threads);
  ++self.depth;
  if (self.team != nullptr || size == 1) {
    ++self.alone;
    return;
  }
  own.members.piece = &RunMembers;
  own.members.body = &own;
  own.members.begin = 1;
  own.members.end = size;
  own.members.step = 1;
  own.members.taken.store(0, std::memory_order_relaxed);
  own.members.threads = 1;
  own.body = body;
  own.data = data;
  own.size = size;
  own.alone_before = std::exchange(self.alone, 0);
  own.pool = Pool();
  own.has_pool = true;
  if (!own.pool->TryBegin(&own.members, size)) own.has_pool = false;
  self.team = &own;
  self.index = 0;
}

void EndRegion() {
  --self.depth;
  if (self.alone > 0) {
    --self.alone;
    return;
  }
  own.has_pool ? own.pool->End(&own.members) : own.members.TakePieces(true);
  self.team = nullptr;
  self.alone = own.alone_before;
}

void WaitForMembers() {
  if (TeamSize() == 1) return;
  Team* team = self.team;
  // Others cannot arrive before somebody runs them, and none has been run yet.
  if (team == &own && !own.has_pool) {
    own.has_pool = true;
    own.pool->Begin(&own.members, own.size);
  }
  const uint32_t before = team->barriers.load(std::memory_order_acquire);
  if (team->arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == team->size) {
    team->arrived.store(0, std::memory_order_relaxed);
    team->barriers.fetch_add(1, std::memory_order_seq_cst);
    if (team->asleep.load(std::memory_order_seq_cst) > 0) {
      syscall(SYS_futex, &team->barriers, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
    }
    return;
  }
  for (int looks = 0; looks < kLooks; ++looks) {
    if (team->barriers.load(std::memory_order_acquire) != before) return;
    __builtin_ia32_pause();
  }
  team->asleep.fetch_add(1, std::memory_order_seq_cst);
  while (team->barriers.load(std::memory_order_seq_cst) == before) {
    syscall(SYS_futex, &team->barriers, FUTEX_WAIT_PRIVATE, before, nullptr, nullptr, 0);
  }
  team->asleep.fetch_sub(1, std::memory_order_relaxed);
}

Share& CurrentShare() noexcept { return self.shares[std::min(self.depth, kMostNested - 1)]; }

/*! \brief The next iterations of the calling member, from *begin to before *end; whether there are
 * any. Without a chunk each member has one share of about the same size. */
bool NextIterations(long* begin, long* end) {
  Share& share = CurrentShare();
  const long size = TeamSize();
  const long index = TeamIndex();
  long first;
  long last;
  if (share.chunk > 0) {
    first = (share.turn * size + index) * share.chunk;
    last = std::min(first + share.chunk, share.count);
  } else if (share.turn == 0) {
    const long more = share.count % size;
    first = share.count / size * index + std::min(index, more);
    last = first + share.count / size + (index < more ? 1 : 0);
  } else {
    return false;
  }
  ++share.turn;
  if (first >= last) return false;
  *begin = share.start + first * share.step;
  *end = share.start + last * share.step;
  return true;
}

bool BeginLoop(long start, long end, long step, long chunk, long* first, long* last) {
  const long count = step > 0 ? (end - start + step - 1) / step : (end - start + step + 1) / step;
  CurrentShare() = {start, step, std::max(count, 0L), chunk, 0};
  return NextIterations(first, last);
}

void EndLoop() {}

template <typename Function>
void* Address(Function* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

const OpenMPFunction kOpenMPFunctions[kNumOpenMPFunctions] = {
    {"omp_get_max_threads", Address(&RegionThreads)},
    {"omp_get_num_threads", Address(&TeamSize)},
    {"omp_get_thread_num", Address(&TeamIndex)},
    {"omp_in_parallel", Address(&IsInTeam)},
    {"GOMP_parallel_start", Address(&BeginRegion)},
    {"GOMP_parallel_end", Address(&EndRegion)},
    {"GOMP_barrier", Address(&WaitForMembers)},
    {"GOMP_loop_static_start", Address(&BeginLoop)},
    {"GOMP_loop_static_next", Address(&NextIterations)},
    {"GOMP_loop_end_nowait", Address(&EndLoop)},
};

int RegionThreads() noexcept { return region_threads > 0 ? region_threads : ThreadsByDefault(); }

void SetRegionThreads(int threads) noexcept { region_threads = threads; }

}  // namespace onednn
}  // namespace mxnet
