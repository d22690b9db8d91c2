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
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace mxnet {
namespace runtime {

/*!
 * \brief A failure with a kind, which the front end maps to an exception class.
 *
 * Throw it with MXNET_THROW, which records the source location. In a function body, an expected
 * failure may instead be returned, `*ret = Error("ValueError", "...")`, which costs no unwinding.
 */
class Error : public std::exception {
 public:
  [[gnu::cold]] Error(std::string kind, std::string message)
      : content_(ObjectRef::Steal(new Content{{1, kMXNetObjectNone, &Content::Delete, nullptr},
                                              std::move(kind),
                                              std::move(message),
                                              {},
                                              0,
                                              {}})) {}
  // No move: what it is made of is never empty.
  Error(const Error&) = default;
  Error& operator=(const Error&) = default;

  const char* what() const noexcept override { return message().c_str(); }
  const std::string& kind() const noexcept { return content().kind; }
  const std::string& message() const noexcept { return content().message; }

  [[gnu::cold]] Error& AddFrame(const char* file, int line, const char* function) {
    if (content().header.ref_count != 1) *this = Restated(kind(), message());
    std::string& frames = content().frames;
    frames.append(file).push_back('\0');
    frames.append(function).push_back('\0');
    frames.append(reinterpret_cast<const char*>(&line), sizeof(line));
    ++content().num_frames;
    return *this;
  }

  /*! \brief The same error, said of something: "argument 1 ('dtype')". */
  [[gnu::cold]] Error In(const std::string& where) const {
    return Restated(kind(), where + ": " + message());
  }

  /*! \brief The same error under another kind and with another message; its source locations stay.
   */
  [[gnu::cold]] Error Restated(std::string kind, std::string message) const {
    Error error(std::move(kind), std::move(message));
    error.content().frames = content().frames;
    error.content().num_frames = content().num_frames;
    error.content().payload = content().payload;
    return error;
  }

  /*! \brief Makes this the calling thread's last error. */
  [[gnu::cold]] int SetLast() const noexcept {
    const Content& from = content();
    std::unique_ptr<MXNetErrorFrame[]> frames;
    if (from.num_frames > 0) frames.reset(new (std::nothrow) MXNetErrorFrame[from.num_frames]);
    // Without room for them: what went wrong is worth more than where.
    const size_t num_frames = frames == nullptr ? 0 : from.num_frames;
    const char* next = from.frames.data();
    for (size_t i = 0; i < num_frames; ++i) {
      frames[i].file = next;
      frames[i].function = next += std::strlen(next) + 1;
      next += std::strlen(next) + 1;
      std::memcpy(&frames[i].line, next, sizeof(int));
      next += sizeof(int);
    }
    MXNetErrorInfo info{sizeof(MXNetErrorInfo),
                        from.kind.c_str(),
                        MXNetByteArray{from.message.data(), from.message.size()},
                        frames.get(),
                        num_frames,
                        from.payload.get()};
    return MXNetSetLastError(&info);
  }

  /*! \brief The calling thread's last error, as an exception that can be thrown on. */
  [[gnu::cold]] static Error FromLast() {
    const MXNetErrorInfo* info = MXNetGetLastError();
    Error error(info->kind, std::string(info->message.data, info->message.size));
    for (size_t i = 0; i < info->num_frames; ++i) {
      error.AddFrame(info->frames[i].file, info->frames[i].line, info->frames[i].function);
    }
    error.content().payload = ObjectRef::Borrow(info->payload);
    return error;
  }

 private:
  /*! \brief What the copies of an error share, so that whoever handles one needs little code. */
  struct Content {
    MXNetObject header;
    std::string kind;
    std::string message;
    /*! \brief Of each source location the file and the function, both with their '\0', and an int,
     * the line.
     */
    std::string frames;
    size_t num_frames;
    ObjectRef payload;

    [[gnu::cold]] static void Delete(MXNetObject* self) { delete reinterpret_cast<Content*>(self); }
  };

  friend class MXNetRetValue;
  explicit Error(ObjectRef content) : content_(std::move(content)) {}

  Content& content() const noexcept { return *reinterpret_cast<Content*>(content_.get()); }

  ObjectRef content_;
};

namespace details MXNET_HIDDEN {

/*! \brief What an exception of C++ says, which may be nothing at all. */
[[gnu::cold]] inline const char* TextOf(const std::exception& error) noexcept {
  const char* text = error.what();
  return text == nullptr ? "a C++ exception whose what() is NULL" : text;
}

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

}  // namespace details MXNET_HIDDEN

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
