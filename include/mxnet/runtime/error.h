/*!
 * \file mxnet/runtime/error.h
 * \brief Error: the exception that carries a failure to and from the boundary.
 */
#ifndef MXNET_RUNTIME_ERROR_H_
#define MXNET_RUNTIME_ERROR_H_

#include <mxnet/runtime/object.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace mxnet {
namespace runtime {

/*!
 * \brief A failure with a kind, which the host language maps to an exception class.
 *
 * Throw it with MXNET_THROW, which records the place. In a function body, an expected failure may
 * instead be returned, `*ret = Error("ValueError", "...")`, which costs no unwinding.
 */
class Error : public std::exception {
 public:
  struct Frame {
    std::string file;
    std::string function;
    int line;
  };

  [[gnu::cold]] Error(std::string kind, std::string message)
      : kind_(std::move(kind)), message_(std::move(message)) {}

  const char* what() const noexcept override { return message_.c_str(); }
  const std::string& kind() const noexcept { return kind_; }
  const std::string& message() const noexcept { return message_; }

  [[gnu::cold]] Error& AddFrame(const char* file, int line, const char* function) {
    frames_.push_back({file, function, line});
    return *this;
  }

  /*! \brief The same error, said of something: "argument 1 ('dtype')". */
  [[gnu::cold]] Error In(const std::string& where) const {
    Error error(*this);
    error.message_ = where + ": " + message_;
    return error;
  }

  /*! \brief The same error under another kind and with another message; its places stay. */
  [[gnu::cold]] Error Restated(std::string kind, std::string message) const {
    Error error(*this);
    error.kind_ = std::move(kind);
    error.message_ = std::move(message);
    return error;
  }

  /*! \brief Makes this the calling thread's last error. */
  [[gnu::cold]] int SetLast() const noexcept {
    std::vector<MXNetErrorFrame> frames;
    try {
      frames.reserve(frames_.size());
      for (const Frame& f : frames_) frames.push_back({f.file.c_str(), f.function.c_str(), f.line});
    } catch (const std::bad_alloc&) {
      // What went wrong is worth more than where.
    }
    MXNetErrorInfo info{
        sizeof(MXNetErrorInfo), kind_.c_str(), MXNetByteArray{message_.data(), message_.size()},
        frames.data(),          frames.size(), payload_.get()};
    return MXNetSetLastError(&info);
  }

  /*! \brief The calling thread's last error, as an exception that can be thrown on. */
  [[gnu::cold]] static Error FromLast() {
    const MXNetErrorInfo* info = MXNetGetLastError();
    Error error(info->kind, std::string(info->message.data, info->message.size));
    for (size_t i = 0; i < info->num_frames; ++i) {
      error.AddFrame(info->frames[i].file, info->frames[i].line, info->frames[i].function);
    }
    error.payload_ = ObjectRef::Borrow(info->payload);
    return error;
  }

 private:
  std::string kind_;
  std::string message_;
  std::vector<Frame> frames_;
  ObjectRef payload_;
};

namespace details {

/*! \brief Makes text the calling thread's last error, with no memory taken on this side; -1. */
[[gnu::cold]] inline int SetLastError(const char* kind, const char* message) noexcept {
  MXNetErrorInfo info{};
  info.struct_size = sizeof(info);
  info.kind = kind;
  info.message = MXNetByteArray{message, std::strlen(message)};
  return MXNetSetLastError(&info);
}

[[gnu::cold]] inline int SetOutOfMemory() noexcept {
  return SetLastError("MemoryError", "out of memory");
}

/*! \brief Collects the text of an error with `<<`. */
class ErrorMessage {
 public:
  ErrorMessage(const char* kind, const char* file, int line, const char* function)
      : kind_(kind), file_(file), line_(line), function_(function) {}

  // The usual kinds of text are no templates: each length of a literal would be another function.
  [[gnu::cold]] ErrorMessage& operator<<(const char* text) {
    text_ += text;
    return *this;
  }
  [[gnu::cold]] ErrorMessage& operator<<(const std::string& text) {
    text_ += text;
    return *this;
  }
  template <typename T>
  [[gnu::cold]] ErrorMessage& operator<<(const T& value) {
    // No stream: to make one takes longer than a short message, and to include one doubles the
    // time that a small library takes to compile.
    if constexpr (std::is_same_v<T, char>) {
      text_ += value;
    } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      text_ += std::string_view(value);
    } else if constexpr (std::is_integral_v<T>) {
      text_ += std::to_string(value);
    } else if constexpr (std::is_enum_v<T>) {
      text_ += std::to_string(static_cast<std::underlying_type_t<T>>(value));
    } else if constexpr (std::is_floating_point_v<T>) {
      Format("%g", static_cast<double>(value));
    } else {
      static_assert(std::is_convertible_v<const T&, const void*>,
                    "an error's message takes text, numbers and pointers; convert to text first");
      Format("%p", static_cast<const void*>(value));
    }
    return *this;
  }

  [[gnu::cold]] Error Build() const {
    Error error(kind_, text_);
    error.AddFrame(file_, line_, function_);
    return error;
  }

 private:
  template <typename T>
  void Format(const char* format, T value) {
    char text[32];
    std::snprintf(text, sizeof(text), format, value);
    text_ += text;
  }

  const char* kind_;
  const char* file_;
  int line_;
  const char* function_;
  std::string text_;
};

/*! \brief Binds weaker than `<<`, so that it sees the finished message. */
struct ErrorThrower {
  [[noreturn]] void operator&(const ErrorMessage& message) const { throw message.Build(); }
};

}  // namespace details

/*! \brief `MXNET_THROW("ValueError") << "axis " << axis << " ...";` throws and does not return. */
#define MXNET_THROW(kind)                     \
  ::mxnet::runtime::details::ErrorThrower() & \
      ::mxnet::runtime::details::ErrorMessage(kind, __FILE__, __LINE__, __func__)

/*! \brief Turns a failed C call into an exception. */
#define MXNET_CHECK_CALL(expr)                                  \
  do {                                                          \
    if ((expr) != 0) throw ::mxnet::runtime::Error::FromLast(); \
  } while (false)

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_RUNTIME_ERROR_H_
