/*!
 * \file library.cc
 * \brief The process that has the library, what it says of itself, and messages to it.
 */
#include "acc/isolated/library.h"

#include <mxnet/runtime/signals.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "acc/isolated/answers.h"
#include "acc/plugin/status.h"
#include "runtime/library/library_file.h"

namespace mxnet {
namespace acc {
namespace isolated {
namespace {

/*! \brief How long the library may take to end. */
constexpr double kEndSeconds = 5;

/*! \brief A flag that is true meanwhile. */
class Raised {
 public:
  explicit Raised(bool* flag) : flag_(flag) { *flag_ = true; }
  ~Raised() { *flag_ = false; }
  Raised(const Raised&) = delete;
  Raised& operator=(const Raised&) = delete;

 private:
  bool* flag_;
};

}  // namespace

Library::Turn::Turn(Library* library) : lock_(library->calls_, std::try_to_lock) {
  // Timed by the system clock, because ThreadSanitizer does not know waits by the steady clock.
  const auto later = [] { return std::chrono::system_clock::now() + std::chrono::seconds(1); };
  while (!lock_.owns_lock() && !lock_.try_lock_until(later())) CheckSignals();
  if (!library->is_waiting_) return;
  MXNET_THROW("RuntimeError") << library->description_.name
                              << " is used by a signal handler while the thread that it "
                                 "interrupted waits for an answer";
}

bool Library::Exchange(const std::string& message, std::string* answer) {
  const Raised waiting(&is_waiting_);
  return process_->Ask(message, answer, {timeout_, true});
}

Library::Library(const std::string& path, double timeout) : path_(path), timeout_(timeout) {
  CheckLibraryFile(path);
  Load();
}

void Library::Load() {
  const Raised waiting(&is_waiting_);
  process_ = std::make_unique<Process>(path_);
  pid_ = process_->pid();
  std::string bytes;
  if (!process_->Await(&bytes, {timeout_, true})) {
    MXNET_THROW("ImportError") << "cannot load " << path_ << ": its process " << process_->End();
  }
  Reader answer(std::move(bytes));
  if (answer.Number<int32_t>() != 0) {
    const std::string kind = answer.Text();
    throw Error(kind, answer.Text());
  }
  Description loaded;
  loaded.name = answer.Text();
  loaded.release = answer.Text();
  loaded.abi_minor = answer.Number<int32_t>();
  loaded.count = answer.Number<int32_t>();
  loaded.imperative = answer.Number<bool>();
  loaded.has_memory = answer.Number<bool>();
  loaded.copies_within = answer.Number<bool>();
  loaded.zeroes = answer.Number<bool>();
  loaded.has_options = answer.Number<bool>();
  loaded.supports_ops = answer.Number<bool>();
  loaded.loads_models = answer.Number<bool>();
  loaded.has_model_options = answer.Number<bool>();
  loaded.imports_models = answer.Number<bool>();
  loaded.profiles = answer.Number<bool>();
  if (generation_ != 0 && loaded.count != description_.count) {
    MXNET_THROW("ImportError") << "cannot load " << path_ << " again: it finds " << loaded.count
                               << " devices, and found " << description_.count << " before";
  }
  description_ = loaded;
  postponed_.clear();
  ++generation_;
}

MXAccApi Library::Table() {
  MXAccApi api = WholeTable();
  api.abi_minor = description_.abi_minor;
  api.release = Keep(description_.release.c_str());
  if (!description_.has_memory) {
    api.mx_alloc = nullptr;
    api.mx_free = nullptr;
    api.copyToAcc = nullptr;
    api.copyFromAcc = nullptr;
  }
  if (!description_.imperative) api.accGetExecutor = nullptr;
  if (!description_.copies_within) api.copyWithinAcc = nullptr;
  if (!description_.zeroes) api.mx_zero = nullptr;
  if (!description_.has_options) api.configure = nullptr;
  if (!description_.supports_ops) api.supportedOps = nullptr;
  if (!description_.loads_models) api.loadModel = nullptr;
  if (!description_.has_model_options) api.listOptions = nullptr;
  if (!description_.imports_models) {
    api.modelKey = nullptr;
    api.checkModel = nullptr;
    api.importModel = nullptr;
  }
  if (!description_.profiles) api.profile = nullptr;
  api.mx_releaseAll = nullptr;
  return api;
}

bool Library::HasEnded() {
  const Turn turn(this);
  // A process that is about to end answers no more.
  Writer request(Request::kDeviceInfo);
  request.Number<int32_t>(0);
  AskOnce(request);
  return process_->HasEnded();
}

int64_t Library::Pid() { return pid_; }

void Library::SetTimeout(double timeout) {
  const Turn turn(this);
  timeout_ = timeout;
}

void Library::Restart() {
  const Turn turn(this);
  if (process_->HasEnded()) Load();
}

MXAccStatus Library::Ended() {
  return Failure(kMXAccFailed, "its process " + process_->End() +
                                   "; what was on it is lost, mx.load_acc starts it again");
}

MXAccStatus Library::Ask(const Writer& request, Reader* answer, const Reply& reply) {
  std::string bytes;
  while (!postponed_.empty()) {
    const std::string told = std::move(postponed_.back());
    postponed_.pop_back();
    if (!Exchange(told, &bytes)) return Ended();
  }
  std::string message = request.bytes();
  for (;;) {
    if (!Exchange(message, &bytes)) return Ended();
    *answer = Reader(std::move(bytes));
    try {
      const auto status = answer->Number<int32_t>();
      if (status == 0) return nullptr;
      if (status != kAsks) return ReadFailure(answer);
      const auto question = answer->Number<Question>();
      if (reply == nullptr) MXNET_THROW("RuntimeError") << "the call may ask nothing";
      message = Writer(Request::kReply).bytes() + reply(question, answer).bytes();
    } catch (const std::exception& error) {
      // It would wait for a reply, and what else it has to say is as doubtful.
      process_->Kill(std::string("sent a message that makes no sense (") + error.what() +
                     ") and was ended");
      return Ended();
    }
  }
}

MXAccStatus Library::AskOnce(const Writer& request) {
  Reader answer("");
  return Ask(request, &answer);
}

void Library::Tell(const Writer& request) noexcept {
  try {
    if (is_waiting_) {
      // What a signal handler drops is told behind the answer that its thread waits for.
      postponed_.push_back(request.bytes());
      return;
    }
    AskOnce(request);
  } catch (const Error&) {
    // Ctrl-C ended the wait, and the caller cannot pass on an error: the signal is sent again, for
    // Python to see once the call has ended.
    raise(SIGINT);
  }
}

const char* Library::Keep(const char* text) {
  return text == nullptr ? nullptr : texts_.insert(text).first->c_str();
}

MXAccStatus Library::GetAccName(char* name, size_t size) {
  std::strncpy(name, description_.name.c_str(), size - 1);
  return nullptr;
}

MXAccStatus Library::GetNumAcc(int32_t* count) {
  *count = description_.count;
  return nullptr;
}

MXAccStatus Library::SupportsImperative(int32_t* yes) {
  *yes = description_.imperative ? 1 : 0;
  return nullptr;
}

void Library::Finalize() {
  std::lock_guard<std::recursive_timed_mutex> lock(calls_);
  const double seconds = timeout_ == 0 ? kEndSeconds : std::min(timeout_, kEndSeconds);
  std::string answer;
  process_->Ask(Writer(Request::kEnd).bytes(), &answer, {seconds, false});
}

MXAccStatus Library::GetDeviceInfo(int32_t dev_id, MXAccDeviceInfo* info) {
  const Turn turn(this);
  Writer request(Request::kDeviceInfo);
  request.Number(dev_id);
  Reader answer("");
  if (MXAccStatus status = Ask(request, &answer)) return status;
  const auto given = answer.Number<MXAccDeviceInfo>();
  // Not all flags hold here: its addresses mean nothing in this process, and arrays are made
  // row-major before they go through the shared memory.
  info->flags = given.flags & kMXAccUnusable;
  info->alignment = given.alignment;
  info->memory_total = given.memory_total;
  info->memory_free = given.memory_free;
  info->kind = given.kind;
  for (const char** text : {&info->name, &info->vendor, &info->driver, &info->reason, &info->bus}) {
    *text = Keep(answer.OptionalText());
  }
  return nullptr;
}

MXAccStatus Library::Configure(int32_t dev_id, const char* const* in_keys,
                               const char* const* in_vals, int32_t num_in, MXAccEmit emit,
                               void* context) {
  const Turn turn(this);
  Writer request(Request::kConfigure);
  request.Number(dev_id);
  request.Number(num_in);
  for (int32_t i = 0; i < num_in; ++i) {
    request.Text(in_keys[i]);
    request.Text(in_vals[i]);
  }
  Reader answer("");
  if (MXAccStatus status = Ask(request, &answer)) return status;
  const auto count = answer.Number<uint64_t>();
  for (uint64_t i = 0; i < count; ++i) {
    const std::string key = answer.Text();
    const std::string value = answer.Text();
    emit(context, key.c_str(), value.c_str(), value.size());
  }
  return nullptr;
}

}  // namespace isolated
}  // namespace acc
}  // namespace mxnet
