/*!
 * \file mxnet/runtime/container/string.h
 * \brief String and Bytes: immutable text and bytes that cross the boundary by reference.
 */
#ifndef MXNET_RUNTIME_CONTAINER_STRING_H_
#define MXNET_RUNTIME_CONTAINER_STRING_H_

#include <mxnet/runtime/object.h>

#include <cstring>
#include <string>
#include <string_view>

namespace mxnet {
namespace runtime {

namespace details MXNET_HIDDEN {

/*! \brief The characters follow the object in the same allocation. */
inline Object* MakeBytesObject(std::string_view text, uint32_t type_index) {
  void* memory = ::operator new(sizeof(MXNetBytesObject) + text.size() + 1);
  auto* obj = new (memory) MXNetBytesObject();
  char* data = reinterpret_cast<char*>(obj + 1);
  if (!text.empty()) std::memcpy(data, text.data(), text.size());
  data[text.size()] = '\0';
  obj->header =
      MXNetObject{1, type_index, [](MXNetObject* self) { ::operator delete(self); }, nullptr};
  obj->bytes = MXNetByteArray{data, text.size()};
  return &obj->header;
}

template <uint32_t kTypeIndex>
class BytesRef : public ObjectRef {
 public:
  BytesRef() : BytesRef(std::string_view()) {}
  BytesRef(std::string_view text)  // NOLINT(runtime/explicit)
      : ObjectRef(ObjectRef::Steal(MakeBytesObject(text, kTypeIndex))) {}
  BytesRef(const std::string& text) : BytesRef(std::string_view(text)) {}  // NOLINT
  BytesRef(const char* text) : BytesRef(std::string_view(text)) {}         // NOLINT
  explicit BytesRef(ObjectRef ref) : ObjectRef(std::move(ref)) {}

  const char* data() const noexcept { return bytes().data; }
  size_t size() const noexcept { return bytes().size; }
  std::string_view view() const noexcept { return {data(), size()}; }
  operator std::string_view() const noexcept { return view(); }
  std::string str() const { return std::string(view()); }

  friend bool operator==(const BytesRef& a, const BytesRef& b) noexcept {
    return a.view() == b.view();
  }
  friend bool operator!=(const BytesRef& a, const BytesRef& b) noexcept { return !(a == b); }

 private:
  const MXNetByteArray& bytes() const noexcept { return as<MXNetBytesObject>()->bytes; }
};

}  // namespace details MXNET_HIDDEN

/*! \brief UTF-8 text; may contain NUL. */
using String = details::BytesRef<kMXNetObjectString>;
/*! \brief Raw bytes. */
using Bytes = details::BytesRef<kMXNetObjectBytes>;

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_RUNTIME_CONTAINER_STRING_H_
