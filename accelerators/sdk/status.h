/*!
 * \file status.h
 * \brief Failures as exceptions inside the library, as MXAccStatus outside it.
 */
#ifndef MXACC_SDK_STATUS_H_
#define MXACC_SDK_STATUS_H_

#include <mxnet_acc.h>

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

namespace mxacc {

/*! \brief What a call fails with; code is one of kMXAcc..., work and node those of MXAccError. */
class Failure : public std::runtime_error {
 public:
  Failure(int32_t code, const std::string& message, uint64_t work = 0, int64_t node = 0)
      : std::runtime_error(message), code_(code), work_(work), node_(node) {}
  int32_t code() const { return code_; }
  uint64_t work() const { return work_; }
  int64_t node() const { return node_; }

 private:
  int32_t code_;
  uint64_t work_;
  int64_t node_;
};

/*! \brief Fails with kMXAccUnsupported: what is right, but not done here. */
[[noreturn]] inline void Unsupported(const std::string& reason) {
  throw Failure(kMXAccUnsupported, reason);
}

/*! \brief The calling thread's error, with a copy of the message, cut where it is very long. */
MXAccStatus KeepError(int32_t code, const char* message, uint64_t work = 0, int64_t node = 0);

/*! \brief Runs body; what it throws becomes a status. */
template <typename Body>
MXAccStatus StatusOf(Body&& body) {
  try {
    std::forward<Body>(body)();
    return nullptr;
  } catch (const Failure& failure) {
    return KeepError(failure.code(), failure.what(), failure.work(), failure.node());
  } catch (const std::bad_alloc&) {
    return KeepError(kMXAccFailed, "the host's memory is used up");
  } catch (const std::exception& error) {
    return KeepError(kMXAccFailed, error.what());
  } catch (...) {
    return KeepError(kMXAccFailed, "an exception of unknown type");
  }
}

}  // namespace mxacc

#endif  // MXACC_SDK_STATUS_H_
