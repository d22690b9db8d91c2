/*!
 * \file table.h
 * \brief The accelerators of this process.
 */
#ifndef MXNET_SRC_ACC_DEVICE_TABLE_H_
#define MXNET_SRC_ACC_DEVICE_TABLE_H_

#include <atomic>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "acc/device/accelerator.h"
#include "acc/plugin/status.h"
#include "acc/sync/counter.h"

namespace mxnet {
namespace acc {

/*!
 * \brief The slot of one accelerator's name, which lasts as long as the process.
 *
 * Contexts hold the number of the slot, so that another library never takes it.
 */
struct Slot {
  std::string name;
  int device_type;
  std::atomic<Accelerator*> accelerator{nullptr};
  /*! \brief The loader's handle of its library; NULL without one. */
  const void* library{nullptr};
  /*! \brief Calls under way. Memory in use is counted by the devices. */
  UseCount users;
  /*! \brief Whether the parent of a fork loaded it: its threads and handles are not in the child.
   */
  std::atomic<bool> is_parents{false};
};

/*! \brief Whether a library gets a process of its own, and how long its calls may take there. */
struct Isolation {
  bool isolated{false};
  double timeout{0}; /*!< seconds; 0 for any time */
};

/*! \brief All slots. Any thread may call. */
class Table {
 public:
  static Table* Global();

  /*!
   * \brief Loads a library under a name, or under its own where name is "".
   *
   * The same file under the same name again is the accelerator that is there; if it is isolated and
   * its process has ended, another one is started, and a timeout that is given holds from then on.
   * ValueError for a name that is taken by another library.
   */
  Slot* Load(const std::string& path, const std::string& name, Isolation isolation,
             AnswerCacheFactory make_answers);
  /*!
   * \brief Unloads; returns the failures of work that nobody was told of. ValueError where none of
   * that name is loaded, RuntimeError while arrays use it.
   */
  std::vector<FailureRef> Unload(const std::string& name);

  /*! \brief The slot of a kind of device, or of a name; NULL where there is none. */
  Slot* Find(int device_type) {
    const auto number = static_cast<unsigned>(device_type) - kFirstType;
    return number >= kMaxSlots ? nullptr : slots_[number].load(std::memory_order_acquire);
  }
  Slot* Find(const std::string& name);
  /*! \brief Those that are loaded, in the order of their first loading. */
  std::vector<Slot*> Loaded();

 private:
  static constexpr int kMaxSlots = 256;
  /*! \brief Numbers of kinds of devices begin here, far from those that DLPack gives out. */
  static constexpr unsigned kFirstType = 1 << 20;

  Table();
  static void AfterForkInChild();

  /*! \brief All that were ever loaded. */
  std::vector<Slot*> Slots();
  /*!
   * \brief The slot whose library is that file, whatever path it was loaded by; or NULL.
   * RuntimeError where it is a parent's.
   */
  Slot* FindFile(const std::string& path);
  /*! \brief The same for those in processes of their own, of which a file may have several. */
  Slot* FindIsolated(const std::string& path, const std::string& name);
  Slot* SlotFor(const std::string& name);

  /*! \brief Held while loading and unloading, as mxnet_acc.h promises to libraries. */
  std::mutex loading_;
  std::atomic<Slot*> slots_[kMaxSlots]{};
};

/*! \brief Keeps the accelerator of a slot loaded. */
class InUse {
 public:
  /*! \brief ValueError where the context's accelerator is not loaded, RuntimeError where it was
   * loaded before this process was forked. */
  explicit InUse(Context ctx) : InUse(SlotOf(ctx)) {}
  explicit InUse(Slot* slot) : slot_(slot) {
    if (__builtin_expect(slot_ == nullptr, 0)) ThrowNotLoaded(slot_);
    slot_->users.Enter();
    accelerator_ = slot_->accelerator.load();
    if (__builtin_expect(accelerator_ == nullptr, 0)) {
      slot_->users.Leave();
      ThrowNotLoaded(slot_);
    }
  }
  ~InUse() { slot_->users.Leave(); }
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;

  Accelerator* operator->() const { return accelerator_; }
  Accelerator* get() const { return accelerator_; }

 private:
  static Slot* SlotOf(Context ctx) {
    Slot* slot = Table::Global()->Find(ctx.device_type);
    if (__builtin_expect(slot == nullptr, 0)) ThrowUnknown(ctx);
    return slot;
  }
  [[noreturn, gnu::cold]] static void ThrowUnknown(Context ctx);
  [[noreturn, gnu::cold]] static void ThrowNotLoaded(const Slot* slot);

  Slot* slot_;
  Accelerator* accelerator_;
};

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_DEVICE_TABLE_H_
