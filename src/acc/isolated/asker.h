/*!
 * \file asker.h
 * \brief Questions of the process that serves a library to the one that called it.
 */
#ifndef MXNET_SRC_ACC_ISOLATED_ASKER_H_
#define MXNET_SRC_ACC_ISOLATED_ASKER_H_

#include <functional>
#include <mutex>

#include "acc/isolated/message.h"

namespace mxnet {
namespace acc {
namespace isolated {

/*!
 * \brief Asks while a request is answered whose call may ask back: any thread of the library may.
 *
 * The other process answers by requests of its own if it has to, which are answered meanwhile.
 */
class Asker {
 public:
  using Answer = std::function<Writer(Request what, Reader* request)>;

  explicit Asker(Answer answer) : answer_(std::move(answer)) {}

  /*! \brief A message that begins with the question. */
  static Writer About(Question question) {
    Writer asked;
    asked.Number(kAsks);
    asked.Number(static_cast<int32_t>(question));
    return asked;
  }
  /*! \brief The reply to a question. Ends the process where the other one is gone. */
  Reader Ask(const Writer& asked);

  /*! \brief A call during which questions are allowed; the end waits for those under way. */
  class Call {
   public:
    explicit Call(Asker* asker) : asker_(asker) { Set(true); }
    ~Call() { Set(false); }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    void Set(bool is_open) {
      const std::lock_guard<std::mutex> lock(asker_->mutex_);
      asker_->is_open_ = is_open;
    }
    Asker* asker_;
  };

 private:
  Answer answer_;
  std::mutex mutex_;
  bool is_open_{false};
};

}  // namespace isolated
}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_ISOLATED_ASKER_H_
