#include "graph/memory_plan.h"

#include <mxnet/runtime/error.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <queue>
#include <set>
#include <utility>

namespace mxnet {
namespace graph {
namespace {

/*! \brief With so many blocks comparing each with all others takes milliseconds. */
constexpr size_t kFewBlocks = 2000;

size_t RoundUp(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

/*! \brief Spans of memory that nothing lies in, joined where they touch. */
class FreeSpans {
 public:
  /*! \brief The offset of so many bytes, in the smallest span that has them, else at the end. */
  size_t Take(size_t bytes) {
    const auto found = by_size_.lower_bound({bytes, 0});
    if (found == by_size_.end()) return Extend(bytes);
    const auto [size, offset] = *found;
    Remove(offset, size);
    if (size > bytes) Insert(offset + bytes, size - bytes);
    return offset;
  }

  void Return(size_t offset, size_t bytes) {
    auto next = by_offset_.lower_bound(offset);
    if (next != by_offset_.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == offset) {
        offset = before->first;
        bytes += before->second;
        Remove(before->first, before->second);
      }
    }
    next = by_offset_.lower_bound(offset);
    if (next != by_offset_.end() && offset + bytes == next->first) {
      bytes += next->second;
      Remove(next->first, next->second);
    }
    Insert(offset, bytes);
  }

  size_t end() const { return end_; }

 private:
  /*! \brief At the end, which begins with the last span where that is free. */
  size_t Extend(size_t bytes) {
    size_t offset = end_;
    if (!by_offset_.empty()) {
      const auto [last, size] = *by_offset_.rbegin();
      if (last + size == end_) {
        offset = last;
        Remove(last, size);
      }
    }
    end_ = offset + bytes;
    return offset;
  }
  void Insert(size_t offset, size_t bytes) {
    by_offset_.emplace(offset, bytes);
    by_size_.emplace(bytes, offset);
  }
  void Remove(size_t offset, size_t bytes) {
    by_offset_.erase(offset);
    by_size_.erase({bytes, offset});
  }

  std::map<size_t, size_t> by_offset_;
  std::set<std::pair<size_t, size_t>> by_size_;
  size_t end_{0};
};

/*! \brief Each block, in the order of steps, in the free span that fits it best. */
size_t PackInOrder(std::vector<Block>* blocks) {
  FreeSpans spans;
  using End = std::pair<int, size_t>;  // the last step, and which block
  std::priority_queue<End, std::vector<End>, std::greater<End>> in_use;
  for (size_t i = 0; i < blocks->size(); ++i) {
    Block& block = (*blocks)[i];
    while (!in_use.empty() && in_use.top().first < block.first) {
      const Block& over = (*blocks)[in_use.top().second];
      spans.Return(over.offset, RoundUp(over.bytes));
      in_use.pop();
    }
    block.offset = spans.Take(RoundUp(block.bytes));
    in_use.emplace(block.last, i);
  }
  return spans.end();
}

/*! \brief The largest blocks first, each as low as those of the same time leave room. */
size_t PackBySize(std::vector<Block>* blocks) {
  std::vector<Block*> by_size;
  for (Block& block : *blocks) by_size.push_back(&block);
  std::stable_sort(by_size.begin(), by_size.end(),
                   [](const Block* a, const Block* b) { return a->bytes > b->bytes; });
  std::vector<const Block*> by_offset;
  size_t end = 0;
  for (Block* block : by_size) {
    const size_t bytes = RoundUp(block->bytes);
    size_t offset = 0;
    for (const Block* other : by_offset) {
      if (other->last < block->first || block->last < other->first) continue;
      if (offset + bytes <= other->offset) break;
      offset = std::max(offset, other->offset + RoundUp(other->bytes));
    }
    block->offset = offset;
    end = std::max(end, offset + bytes);
    const auto behind = [](size_t value, const Block* other) { return value < other->offset; };
    by_offset.insert(std::upper_bound(by_offset.begin(), by_offset.end(), offset, behind), block);
  }
  return end;
}

void CheckSum(const std::vector<Block>& blocks) {
  size_t sum = 0;
  for (const Block& block : blocks) {
    const size_t room = static_cast<size_t>(INT64_MAX) - kAlignment - sum;
    if (block.bytes > room) MXNET_THROW("MemoryError") << "intermediate results of a plan";
    sum += RoundUp(block.bytes);
  }
}

}  // namespace

size_t PackBlocks(std::vector<Block>* blocks) {
  CheckSum(*blocks);
  const size_t in_order = PackInOrder(blocks);
  if (blocks->size() > kFewBlocks) return in_order;
  std::vector<Block> others = *blocks;
  const size_t by_size = PackBySize(&others);
  if (by_size >= in_order) return in_order;
  *blocks = std::move(others);
  return by_size;
}

}  // namespace graph
}  // namespace mxnet
