/*!
 * \file parallel.h
 * \brief Loops whose pieces run on several threads where that takes less time.
 */
#ifndef MXNET_SRC_OP_PARALLEL_PARALLEL_H_
#define MXNET_SRC_OP_PARALLEL_PARALLEL_H_

#include <atomic>
#include <cstdint>

namespace mxnet {
namespace op {

/*! \brief Does the items from begin on, before end. It may not throw. */
using Piece = void (*)(const void* body, int64_t begin, int64_t end);

/*! \brief How long an item of one loop takes, which some of its runs tell the others. */
class Pace {
 public:
  /*! \brief Seconds of an item; 0 where this run is to tell it. */
  double Next() noexcept {
    const uint32_t run = runs_.fetch_add(1, std::memory_order_relaxed) % kPeriod;
    if (run == 0) least_.store(0, std::memory_order_relaxed);
    return run < kTelling ? 0 : least_.load(std::memory_order_relaxed);
  }
  /*! \brief Tells what an item took; the least counts, as others may have had the processor. */
  void Tell(double seconds) noexcept;

 private:
  /*! \brief So many runs of each period tell: what was measured beside others is not kept. */
  static constexpr uint32_t kTelling = 2;
  static constexpr uint32_t kPeriod = 1024;
  std::atomic<uint32_t> runs_{0};
  std::atomic<double> least_{0};
};

/*! \brief InParallel for a body behind a pointer. */
void RunPieces(int64_t size, int64_t first, Piece piece, const void* body, Pace* pace);

/*! \brief Fewer elements than these are not worth asking the time for. */
constexpr int64_t kFewForThreads = 32768;
/*! \brief Elements that tell how long the others take. */
constexpr int64_t kElementsTimed = 4096;

/*!
 * \brief Calls body(begin, end) for pieces of 0 to size, each item once, in any order.
 *
 * The first items are done on the calling thread, and how long they took tells whether the others
 * are shared with the threads of the pool; where the loop has a pace, only as long as that does not
 * tell. The outcome may not depend on where pieces begin.
 */
template <typename Body>
void InParallel(int64_t size, int64_t first, const Body& body, Pace* pace = nullptr) {
  const Piece piece = [](const void* self, int64_t begin, int64_t end) {
    (*static_cast<const Body*>(self))(begin, end);
  };
  RunPieces(size, first, piece, &body, pace);
}

/*! \brief How many threads share a loop at most, the calling one among them. */
int NumThreads() noexcept;

/*! \brief As long as it lives, the calling thread shares no loop, and NumThreads() is 1 for it. */
class OneThread {
 public:
  OneThread() noexcept;
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;
};

/*! \brief ForEachItem for a body behind a pointer. */
void RunItems(int64_t size, Piece piece, const void* body);

/*!
 * \brief Calls body(item) for each of 0 to size, in any order, on all threads: for items of which
 * each is worth a thread. What body does it does on one thread. It may not throw.
 */
template <typename Body>
void ForEachItem(int64_t size, const Body& body) {
  const Piece piece = [](const void* self, int64_t begin, int64_t end) {
    const OneThread alone;
    for (int64_t item = begin; item < end; ++item) (*static_cast<const Body*>(self))(item);
  };
  RunItems(size, piece, &body);
}

/*! \brief Sets it, for calls from now on; ValueError for fewer than one or more than 1,024. */
void SetNumThreads(int64_t count);

/*!
 * \brief Tells a library with threads of its own how many it may use: now, where somebody has said
 * so, and whenever it is set. There is one such library.
 */
void FollowNumThreads(void (*follower)(int count));

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_PARALLEL_PARALLEL_H_
