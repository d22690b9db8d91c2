/*!
 * \file error.cc
 * \brief The last error of each thread.
 */
#include <cxxabi.h>
#include <mxnet/runtime/object.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

#include "runtime/core/error_state.h"
#include "runtime/core/pool.h"
#include "runtime/core/thread_end.h"

namespace mxnet {
namespace runtime {

namespace {

/*! \brief "0x7f0012345678", in a buffer of 24 bytes; printf would take as long as the throw. */
const char* WriteAddress(const void* address, char* buffer) {
  char* at = buffer + 23;
  *at = '\0';
  for (auto rest = reinterpret_cast<uintptr_t>(address); rest != 0; rest >>= 4) {
    *--at = "0123456789abcdef"[rest & 15];
  }
  *--at = 'x';
  *--at = '0';
  return at;
}

/*! \brief Copies the members that the caller's version of the struct has; others are 0. */
MXNetErrorInfo Known(const MXNetErrorInfo& source) {
  MXNetErrorInfo info{};
  if (source.struct_size < offsetof(MXNetErrorInfo, frames)) {
    static constexpr char kMessage[] =
        "MXNetSetLastError: struct_size says that there is no message";
    info.message = MXNetByteArray{kMessage, sizeof(kMessage) - 1};
    return info;
  }
  // Whole members only: half an address would be followed.
  const size_t size = source.struct_size / sizeof(void*) * sizeof(void*);
  std::memcpy(&info, &source, std::min(size, sizeof(info)));
  if (info.frames == nullptr) info.num_frames = 0;
  return info;
}

}  // namespace

NotedThrow* NotedThrow::ThreadLocal() {
  static __thread NotedThrow noted MXNET_TLS_INITIAL_EXEC;
  return &noted;
}

ErrorState* ErrorState::ThreadLocal() {
  // A flag and raw memory: a thread_local object would register a destructor, which may fail.
  static __thread bool is_made MXNET_TLS_INITIAL_EXEC = false;
  alignas(ErrorState) static __thread char room[sizeof(ErrorState)] MXNET_TLS_INITIAL_EXEC;
  auto* state = reinterpret_cast<ErrorState*>(room);
  if (__builtin_expect(!is_made, 0)) {
    static const ThreadEnd end([](void* made) {
      is_made = false;
      static_cast<ErrorState*>(made)->~ErrorState();
    });
    new (room) ErrorState();
    is_made = true;
    end.Ask(room);
  }
  return state;
}

void PrepareThread() noexcept {
  static __thread bool is_prepared MXNET_TLS_INITIAL_EXEC = false;
  if (is_prepared) return;
  is_prepared = true;
  // In a volatile variable, so that the compiler keeps the call.
  const abi::__cxa_eh_globals* volatile globals = abi::__cxa_get_globals();
  static_cast<void>(globals);
}

namespace {

/*! \brief The thread that loads the runtime. */
[[maybe_unused]] const bool prepared = (PrepareThread(), true);

}  // namespace

ErrorState::~ErrorState() { details::Release(static_cast<Object*>(info_.payload)); }

void ErrorState::Set(const MXNetErrorInfo& source) {
  // A caller that passes an error on may set the state to itself.
  if (&source == &info_) return;
  const MXNetErrorInfo info = Known(source);
  details::Retain(static_cast<Object*>(info.payload));
  // Releasing the former payload may run code that fails and sets this state.
  while (info_.payload != nullptr) {
    details::Release(static_cast<Object*>(std::exchange(info_.payload, nullptr)));
  }
  info_.payload = info.payload;
  kind_.assign(info.kind == nullptr ? "RuntimeError" : info.kind);
  if (info.message.data == nullptr) {
    message_.clear();
  } else {
    message_.assign(info.message.data, info.message.size);
  }
  num_frames_ = 0;
  for (size_t i = 0; i < info.num_frames; ++i) {
    const MXNetErrorFrame& frame = info.frames[i];
    AddFrame(frame.file, frame.line, frame.function);
  }
  // The addresses that were noted when the exception was thrown.
  NotedThrow* noted = NotedThrow::ThreadLocal();
  for (int i = 0; i < noted->count; ++i) {
    char text[24];
    AddFrame(nullptr, 0, WriteAddress(noted->addresses[i], text));
  }
  noted->count = 0;
}

void ErrorState::SetOutOfMemory() noexcept {
  // Short enough for every std::string to hold without memory of its own.
  kind_ = "MemoryError";
  message_ = "out of memory";
  num_frames_ = 0;
}

void ErrorState::Clear() {
  MXNetErrorInfo none{};
  none.struct_size = sizeof(none);
  none.kind = "";
  Set(none);
}

void ErrorState::AddFrame(const char* file, int line, const char* function) {
  // Deep recursion through the boundary would otherwise grow this without bound.
  if (num_frames_ >= kMaxFrames) return;
  if (num_frames_ == frames_.size()) {
    views_.resize(num_frames_ + 1);
    frames_.emplace_back();
  }
  Frame& frame = frames_[num_frames_];
  // Strings keep their memory from error to error, so a frequent error allocates nothing.
  frame.file.assign(file == nullptr ? "" : file);
  frame.function.assign(function == nullptr ? "" : function);
  frame.line = line;
  ++num_frames_;
}

const MXNetErrorInfo* ErrorState::View() noexcept {
  for (size_t i = 0; i < num_frames_; ++i) {
    views_[i] = {frames_[i].file.c_str(), frames_[i].function.c_str(), frames_[i].line};
  }
  info_.struct_size = sizeof(info_);
  info_.kind = kind_.c_str();
  info_.message = MXNetByteArray{message_.data(), message_.size()};
  info_.frames = views_.data();
  info_.num_frames = num_frames_;
  return &info_;
}

}  // namespace runtime
}  // namespace mxnet

const MXNetErrorInfo* MXNetGetLastError(void) {
  return mxnet::runtime::ErrorState::ThreadLocal()->View();
}

int MXNetSetLastError(const MXNetErrorInfo* info) {
  auto* state = mxnet::runtime::ErrorState::ThreadLocal();
  try {
    if (info == nullptr) {
      state->Clear();
    } else {
      state->Set(*info);
    }
  } catch (const std::exception&) {
    // The texts could not be stored: there is no room for them, or no string is that long.
    state->SetOutOfMemory();
  }
  return -1;
}
