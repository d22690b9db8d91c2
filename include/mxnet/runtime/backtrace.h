/*!
 * \file mxnet/runtime/backtrace.h
 * \brief Notes where an exception was thrown, for tracebacks that show the file and line.
 */
#ifndef MXNET_RUNTIME_BACKTRACE_H_
#define MXNET_RUNTIME_BACKTRACE_H_

#include <mxnet/runtime/c_runtime_api.h>

#include <cstddef>  // defines the name of the C++ library, if anything does

#if defined(__GLIBCXX__) && defined(__GXX_RTTI)
#define MXNET_WATCHES_THROWS 1
#include <typeinfo>

namespace mxnet {
namespace runtime {
namespace details MXNET_HIDDEN {

/*!
 * \brief What a function body is asked for whether it catches, before the stack is unwound.
 *
 * By the time an exception is caught, the frames between are gone. But to find its handler, the C++
 * runtime asks the type of each catch clause while they are still there. No object of this class is
 * ever thrown; its type information, which the undefined destructor keeps the compiler from
 * writing, is the object below, which has the stack noted and answers no.
 */
class __attribute__((visibility("hidden"))) ThrowWatcher {
 public:
  virtual ~ThrowWatcher();
};

/*! \brief The runtime's function that notes the return addresses on this thread's stack. */
inline void NoteThrow() noexcept {
  using Note = void (*)();
  static const Note note = []() -> Note {
    MXNetFunctionHandle getter = nullptr;
    if (MXNetFuncGetGlobal("ffi.backtrace.note", &getter) != 0 || getter == nullptr) return nullptr;
    MXNetValue value{};
    int code = kMXNetNull;
    const int status = MXNetFuncCall(getter, nullptr, nullptr, 0, &value, &code);
    MXNetFuncFree(getter);
    return status == 0 && code == kMXNetHandle ? reinterpret_cast<Note>(value.v_handle) : nullptr;
  }();
  if (note != nullptr) note();
}

class __attribute__((visibility("hidden"))) ThrowWatcherInfo : public std::type_info {
 public:
  ThrowWatcherInfo() : std::type_info("N5mxnet7runtime7details12ThrowWatcherE") {}
  bool __do_catch(const std::type_info*, void**, unsigned) const override {
    NoteThrow();
    return false;
  }
};

/*! \brief Stands for `typeid(ThrowWatcher)`, whose symbol it has. */
__attribute__((visibility("hidden"))) inline const ThrowWatcherInfo throw_watcher_info __asm__(
    "_ZTIN5mxnet7runtime7details12ThrowWatcherE");

}  // namespace details MXNET_HIDDEN
}  // namespace runtime
}  // namespace mxnet
#endif

#endif  // MXNET_RUNTIME_BACKTRACE_H_
