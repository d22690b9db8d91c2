/*!
 * \file library.cc
 * \brief Calls of a table as messages to the process that has the library.
 */
#include "acc/isolated/library.h"

#include <mxnet/runtime/signals.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "acc/plugin/status.h"
#include "runtime/library/library_file.h"

namespace mxnet {
namespace acc {
namespace isolated {
namespace {

size_t SizeOf(const MXAccDLTensor& tensor) {
  size_t size = tensor.dtype.bits * tensor.dtype.lanes / 8u;
  for (int32_t i = 0; i < tensor.ndim; ++i) size *= static_cast<size_t>(tensor.shape[i]);
  return size;
}

/*! \brief How long the library may take to end. */
constexpr double kEndSeconds = 5;

char* FirstOf(const MXAccDLTensor& tensor) {
  return static_cast<char*>(tensor.data) + tensor.byte_offset;
}

}  // namespace

/*! \brief What a handle points to: memory in a process. */
struct Library::Block {
  uint64_t handle;
  uint64_t generation;
};

/*! \brief State of an executor: how to ask for it again, and its number in a process. */
struct Library::Executor {
  Library* library;
  Writer request;
  uint64_t number;
  uint64_t generation;
  uint64_t workspace_bytes;
};

/*! \brief Waits for the calls of other threads, and then holds calls_; Ctrl-C ends the waiting. */
class Library::Turn {
 public:
  explicit Turn(Library* library) : lock_(library->calls_, std::try_to_lock) {
    // Timed by the system clock, because ThreadSanitizer does not know waits by the steady clock.
    const auto later = [] { return std::chrono::system_clock::now() + std::chrono::seconds(1); };
    while (!lock_.owns_lock() && !lock_.try_lock_until(later())) CheckSignals();
  }

 private:
  std::unique_lock<std::timed_mutex> lock_;
};

Library::Library(const std::string& path, double timeout) : path_(path), timeout_(timeout) {
  CheckLibraryFile(path);
  Load();
}

void Library::Load() {
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
  if (generation_ != 0 && loaded.count != description_.count) {
    MXNET_THROW("ImportError") << "cannot load " << path_ << " again: it finds " << loaded.count
                               << " devices, and found " << description_.count << " before";
  }
  description_ = loaded;
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
  api.mx_releaseAll = nullptr;
  api.supportedOps = nullptr;
  api.loadModel = nullptr;
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

bool Library::Holds(const void* data) {
  return static_cast<const Block*>(data)->generation == generation_;
}

MXAccStatus Library::Ended() {
  return Failure(kMXAccFailed, "its process " + process_->End() +
                                   "; what was on it is lost, mx.load_acc starts it again");
}

MXAccStatus Library::Ask(const Writer& request, Reader* answer) {
  std::string bytes;
  if (!process_->Ask(request.bytes(), &bytes, {timeout_, true})) return Ended();
  *answer = Reader(std::move(bytes));
  const auto code = answer->Number<int32_t>();
  if (code == 0) return nullptr;
  return Failure(code, answer->Text());
}

MXAccStatus Library::AskOnce(const Writer& request) {
  Reader answer("");
  return Ask(request, &answer);
}

void Library::Tell(const Writer& request) noexcept {
  try {
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
  std::lock_guard<std::timed_mutex> lock(calls_);
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
  for (const char** text : {&info->name, &info->vendor, &info->driver, &info->reason}) {
    *text = Keep(answer.OptionalText());
  }
  return nullptr;
}

MXAccStatus Library::Alloc(int32_t dev_id, int32_t memory, size_t size, size_t alignment,
                           void** out) {
  if (memory != kMXAccDeviceMemory) {
    return Failure(kMXAccUnsupported, "memory of its process has no address in this one");
  }
  const Turn turn(this);
  Writer request(Request::kAlloc);
  request.Number(dev_id);
  request.Number<uint64_t>(size);
  request.Number<uint64_t>(alignment);
  Reader answer("");
  if (MXAccStatus status = Ask(request, &answer)) return status;
  *out = new Block{answer.Number<uint64_t>(), generation_};
  return nullptr;
}

void Library::Free(int32_t dev_id, void* data) {
  const std::unique_ptr<Block> block(static_cast<Block*>(data));
  std::lock_guard<std::timed_mutex> lock(calls_);
  if (block->generation != generation_) return;
  Writer request(Request::kFree);
  request.Number(dev_id);
  request.Number(block->handle);
  Tell(request);
}

MXAccStatus Library::HandleOf(const MXTensor& tensor, uint64_t* handle) const {
  *handle = 0;
  if (SizeOf(tensor.tensor) == 0 || tensor.tensor.data == nullptr) return nullptr;
  return HandleOf(tensor.tensor.data, handle);
}

MXAccStatus Library::HandleOf(const void* data, uint64_t* handle) const {
  const auto* block = static_cast<const Block*>(data);
  if (block->generation != generation_) {
    return Failure(kMXAccFailed, "the array was lost when the process of the accelerator ended");
  }
  *handle = block->handle;
  return nullptr;
}

MXAccStatus Library::CopyPiece(Request direction, int32_t dev_id, const MXTensor& on_device,
                               char* on_host, size_t size) {
  uint64_t handle;
  if (MXAccStatus status = HandleOf(on_device, &handle)) return status;
  const bool to_device = direction == Request::kCopyToAcc;
  if (to_device) std::memcpy(process_->shared(), on_host, size);
  Writer request(direction);
  request.Number(dev_id);
  request.Tensor(on_device, handle);
  if (MXAccStatus status = AskOnce(request)) return status;
  if (!to_device) std::memcpy(on_host, process_->shared(), size);
  return nullptr;
}

MXAccStatus Library::CopyEach(Request direction, int32_t dev_id, const MXTensor* on_device,
                              const MXTensor* on_host, int32_t count) {
  const Turn turn(this);
  for (int32_t i = 0; i < count; ++i) {
    const size_t size = SizeOf(on_host[i].tensor);
    char* first = FirstOf(on_host[i].tensor);
    if (size == 0) continue;
    if (size <= kSharedSize) {
      if (MXAccStatus status = CopyPiece(direction, dev_id, on_device[i], first, size)) {
        return status;
      }
      continue;
    }
    for (size_t at = 0; at < size; at += kSharedSize) {
      auto part = static_cast<int64_t>(std::min(kSharedSize, size - at));
      int64_t step = 1;
      MXTensor bytes = on_device[i];
      bytes.tensor.ndim = 1;
      bytes.tensor.dtype = MXAccDataType{kMXAccUInt, 8, 1};
      bytes.tensor.shape = &part;
      bytes.tensor.strides = &step;
      bytes.tensor.byte_offset += at;
      MXAccStatus status =
          CopyPiece(direction, dev_id, bytes, first + at, static_cast<size_t>(part));
      if (status != nullptr) return status;
    }
  }
  return nullptr;
}

MXAccStatus Library::CopyToAcc(int32_t dev_id, MXTensor* targets, const MXTensor* sources,
                               int32_t count, MXAccStream) {
  return CopyEach(Request::kCopyToAcc, dev_id, targets, sources, count);
}

MXAccStatus Library::CopyFromAcc(int32_t dev_id, MXTensor* targets, const MXTensor* sources,
                                 int32_t count, MXAccStream) {
  return CopyEach(Request::kCopyFromAcc, dev_id, sources, targets, count);
}

MXAccStatus Library::CopyWithinAcc(int32_t dev_id, MXTensor* targets, const MXTensor* sources,
                                   int32_t count, MXAccStream) {
  const Turn turn(this);
  Writer request(Request::kCopyWithinAcc);
  request.Number(dev_id);
  request.Number(count);
  for (int32_t i = 0; i < count; ++i) {
    for (const MXTensor* tensor : {static_cast<const MXTensor*>(targets + i), sources + i}) {
      uint64_t handle;
      if (MXAccStatus status = HandleOf(*tensor, &handle)) return status;
      request.Tensor(*tensor, handle);
    }
  }
  return AskOnce(request);
}

MXAccStatus Library::Zero(int32_t dev_id, void* data, uint64_t byte_offset, size_t size,
                          MXAccStream, uint64_t) {
  const Turn turn(this);
  uint64_t handle;
  if (MXAccStatus status = HandleOf(data, &handle)) return status;
  Writer request(Request::kZero);
  request.Number(dev_id);
  request.Number(handle);
  request.Number(byte_offset);
  request.Number<uint64_t>(size);
  return AskOnce(request);
}

MXAccStatus Library::MakeExecutor(Executor* executor, MXAccExecutor* made) {
  Reader answer("");
  if (MXAccStatus status = Ask(executor->request, &answer)) return status;
  executor->number = answer.Number<uint64_t>();
  executor->generation = generation_;
  // Calls of several threads wait for their turn here, where Ctrl-C ends the waiting.
  made->flags = answer.Number<uint32_t>() | kMXAccConcurrent;
  made->workspace_bytes = answer.Number<uint64_t>();
  return nullptr;
}

MXAccStatus Library::GetExecutor(const MXAccOperator* op, MXAccExecutor* out) {
  auto executor = std::make_unique<Executor>();
  executor->library = this;
  executor->request = Writer(Request::kGetExecutor);
  Writer& request = executor->request;
  request.Text(op->name);
  request.Number(op->operator_set);
  request.Number(op->dev_id);
  request.Number(op->num_in);
  request.Number(op->num_out);
  request.Number(op->num_attrs);
  for (int32_t i = 0; i < op->num_in; ++i) request.Tensor(op->inputs[i], 0);
  for (int32_t i = 0; i < op->num_out; ++i) request.Tensor(op->outputs[i], 0);
  for (int32_t i = 0; i < op->num_attrs; ++i) request.Attribute(op->attrs[i]);
  const Turn turn(this);
  if (MXAccStatus status = MakeExecutor(executor.get(), out)) return status;
  executor->workspace_bytes = out->workspace_bytes;
  out->run = &Run;
  out->free = [](void* state) {
    const std::unique_ptr<Executor> freed(static_cast<Executor*>(state));
    Library* library = freed->library;
    std::lock_guard<std::timed_mutex> hold(library->calls_);
    if (freed->generation != library->generation_) return;
    Writer request(Request::kFreeExecutor);
    request.Number(freed->number);
    library->Tell(request);
  };
  out->state = executor.release();
  return nullptr;
}

MXAccStatus Library::Run(void* state, const MXTensor* inputs, int32_t num_in, MXTensor* outputs,
                         int32_t num_out, const MXTensor* workspace, MXAccStream) {
  auto* executor = static_cast<Executor*>(state);
  Library* library = executor->library;
  const Turn turn(library);
  if (executor->generation != library->generation_) {
    MXAccExecutor made{};
    if (MXAccStatus status = library->MakeExecutor(executor, &made)) return status;
    if (made.workspace_bytes != executor->workspace_bytes) {
      return Failure(kMXAccFailed, "its new process asks for a workspace of another size");
    }
  }
  Writer request(Request::kRun);
  request.Number(executor->number);
  const auto add = [&](const MXTensor& tensor) {
    uint64_t handle;
    MXAccStatus status = library->HandleOf(tensor, &handle);
    request.Number(handle);
    request.Number(tensor.tensor.byte_offset);
    return status;
  };
  for (int32_t i = 0; i < num_in; ++i) {
    if (MXAccStatus status = add(inputs[i])) return status;
  }
  for (int32_t i = 0; i < num_out; ++i) {
    if (MXAccStatus status = add(outputs[i])) return status;
  }
  if (workspace != nullptr) {
    if (MXAccStatus status = add(*workspace)) return status;
  }
  return library->AskOnce(request);
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
