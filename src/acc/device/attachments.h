/*!
 * \file attachments.h
 * \brief What is made by an accelerator's library and has to go before that does.
 */
#ifndef MXNET_SRC_ACC_DEVICE_ATTACHMENTS_H_
#define MXNET_SRC_ACC_DEVICE_ATTACHMENTS_H_

#include <algorithm>
#include <iterator>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace mxnet {
namespace acc {

/*! \brief A thing of a library, as a compiled model. */
class Attachment {
 public:
  Attachment() = default;
  virtual ~Attachment() = default;
  Attachment(const Attachment&) = delete;
  Attachment& operator=(const Attachment&) = delete;

  /*! \brief Gives it back to the library; once. No call is under way. */
  virtual void Release() = 0;
};

/*! \brief All of one accelerator. Any thread may call. */
class Attachments {
 public:
  using Ref = std::shared_ptr<Attachment>;

  void Add(Ref attachment) {
    Drop([](const Ref& one) { return one.use_count() == 1; });
    const std::lock_guard<std::mutex> lock(mutex_);
    all_.push_back(std::move(attachment));
  }
  /*! \brief Releases one, unless that was done. */
  void Remove(const Attachment* attachment) {
    Drop([attachment](const Ref& one) { return one.get() == attachment; });
  }
  void ReleaseAll() {
    Drop([](const Ref&) { return true; });
  }

 private:
  /*! \brief Those that have no owner are of one that went while the library was to be unloaded. */
  template <typename IsDropped>
  void Drop(const IsDropped& is_dropped) {
    std::vector<Ref> dropped;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto end = std::stable_partition(all_.begin(), all_.end(),
                                             [&](const Ref& one) { return !is_dropped(one); });
      std::move(end, all_.end(), std::back_inserter(dropped));
      all_.erase(end, all_.end());
    }
    for (const Ref& one : dropped) one->Release();
  }

  std::mutex mutex_;
  std::vector<Ref> all_;
};

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_DEVICE_ATTACHMENTS_H_
