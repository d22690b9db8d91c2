/*!
 * \file message.h
 * \brief The messages between this process and one that serves an accelerator library.
 */
#ifndef MXNET_SRC_ACC_ISOLATED_MESSAGE_H_
#define MXNET_SRC_ACC_ISOLATED_MESSAGE_H_

#include <mxnet/runtime/error.h>
#include <mxnet_acc.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <type_traits>
#include <vector>

namespace mxnet {
namespace acc {
namespace isolated {

/*! \brief Requests with their content; "-> x" is what the answer has after its status. */
enum class Request : int32_t {
  kEnd,           /*!< finalize, and end the process */
  kDeviceInfo,    /*!< device -> MXAccDeviceInfo, its texts */
  kAlloc,         /*!< device, size, alignment -> handle */
  kFree,          /*!< device, handle */
  kCopyToAcc,     /*!< device, target; the source is in the shared memory */
  kCopyFromAcc,   /*!< device, source; the target is in the shared memory */
  kCopyWithinAcc, /*!< device, count, targets and sources in turn */
  kZero,          /*!< device, handle, byte_offset, size */
  kGetExecutor,   /*!< operator -> number, flags, workspace_bytes */
  kRun,          /*!< number, handle and byte_offset of each input and output, and of a workspace */
  kFreeExecutor, /*!< number */
  kConfigure     /*!< device, count, keys and values in turn -> count, the same */
};

/*! \brief The file descriptors of the serving process. */
constexpr int kSocket = 3;
constexpr int kSharedMemory = 4;
/*! \brief Bytes of the shared memory; larger tensors are copied piece by piece. */
constexpr size_t kSharedSize = size_t{16} << 20;

/*! \brief Appends values to a message. */
class Writer {
 public:
  Writer() = default;
  explicit Writer(Request request) { Number(static_cast<int32_t>(request)); }

  template <typename T>
  void Number(T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void Text(const std::string& text) {
    Number(static_cast<uint64_t>(text.size()));
    bytes_ += text;
  }
  /*! \brief A text that may be NULL. */
  void OptionalText(const char* text) {
    Number<uint8_t>(text != nullptr);
    if (text != nullptr) Text(text);
  }
  /*! \brief A tensor without its parts; handle stands for its data. */
  void Tensor(const MXTensor& tensor, uint64_t handle) {
    const MXAccDLTensor& dl_tensor = tensor.tensor;
    Number(handle);
    Number(dl_tensor.device);
    Number(dl_tensor.dtype);
    Number(dl_tensor.byte_offset);
    Number(dl_tensor.ndim);
    for (int32_t i = 0; i < dl_tensor.ndim; ++i) Number(dl_tensor.shape[i]);
    for (int32_t i = 0; i < dl_tensor.ndim; ++i) Number(dl_tensor.strides[i]);
    OptionalText(tensor.name);
    OptionalText(tensor.layout);
    Number(tensor.storage);
    Number(tensor.role);
  }

  /*! \brief An attribute with its items. */
  void Attribute(const MXAccAttribute& attribute) {
    OptionalText(attribute.name);
    OptionalText(attribute.json);
    Number(attribute.kind);
    Number(attribute.dtype);
    Number(attribute.integer);
    Number(attribute.number);
    OptionalText(attribute.text);
    Number(attribute.size);
    Number<uint8_t>(attribute.integers != nullptr);
    if (attribute.kind != kMXAccList) return;
    for (int64_t i = 0; i < attribute.size; ++i) Attribute(attribute.items[i]);
  }

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/*! \brief Takes values off a message; RuntimeError where it ends too early. */
class Reader {
 public:
  explicit Reader(std::string bytes) : bytes_(std::move(bytes)) {}

  template <typename T>
  T Number() {
    T value;
    std::memcpy(&value, Take(sizeof(value)), sizeof(value));
    return value;
  }
  std::string Text() {
    const auto size = Number<uint64_t>();
    return std::string(Take(size), size);
  }
  /*! \brief NULL, or a text that lives as long as the reader. */
  const char* OptionalText() {
    if (Number<uint8_t>() == 0) return nullptr;
    texts_.push_back(Text());
    return texts_.back().c_str();
  }
  /*! \brief A tensor, whose arrays and texts live as long as the reader. */
  MXTensor Tensor() {
    MXTensor tensor{};
    tensor.struct_size = sizeof(tensor);
    MXAccDLTensor& dl_tensor = tensor.tensor;
    dl_tensor.data = reinterpret_cast<void*>(static_cast<uintptr_t>(Number<uint64_t>()));
    dl_tensor.device = Number<MXAccDevice>();
    dl_tensor.dtype = Number<MXAccDataType>();
    dl_tensor.byte_offset = Number<uint64_t>();
    dl_tensor.ndim = Number<int32_t>();
    dl_tensor.shape = Extents(dl_tensor.ndim);
    dl_tensor.strides = Extents(dl_tensor.ndim);
    tensor.name = OptionalText();
    tensor.layout = OptionalText();
    tensor.storage = Number<int32_t>();
    tensor.role = Number<int32_t>();
    return tensor;
  }
  /*! \brief An attribute, whose items and texts live as long as the reader. */
  MXAccAttribute Attribute() {
    MXAccAttribute attribute{};
    attribute.struct_size = sizeof(attribute);
    attribute.name = OptionalText();
    attribute.json = OptionalText();
    attribute.kind = Number<int32_t>();
    attribute.dtype = Number<MXAccDataType>();
    attribute.integer = Number<int64_t>();
    attribute.number = Number<double>();
    attribute.text = OptionalText();
    attribute.size = Number<int64_t>();
    const bool all_integers = Number<uint8_t>() != 0;
    if (attribute.kind != kMXAccList) return attribute;
    std::vector<MXAccAttribute> items;
    for (int64_t i = 0; i < attribute.size; ++i) items.push_back(Attribute());
    if (all_integers) {
      std::vector<int64_t>& integers = extents_.emplace_back();
      integers.reserve(items.size() + 1);  // so that it is not NULL
      for (const MXAccAttribute& item : items) integers.push_back(item.integer);
      attribute.integers = integers.data();
    }
    attribute.items = lists_.emplace_back(std::move(items)).data();
    return attribute;
  }

 private:
  const char* Take(size_t size) {
    if (size > bytes_.size() - at_) {
      MXNET_THROW("RuntimeError") << "a message between processes is incomplete";
    }
    at_ += size;
    return bytes_.data() + at_ - size;
  }
  int64_t* Extents(int32_t ndim) {
    extents_.emplace_back(static_cast<size_t>(ndim) + 1);
    for (int32_t i = 0; i < ndim; ++i) extents_.back()[static_cast<size_t>(i)] = Number<int64_t>();
    return extents_.back().data();
  }

  std::string bytes_;
  size_t at_{0};
  std::deque<std::string> texts_;
  std::deque<std::vector<int64_t>> extents_;
  std::deque<std::vector<MXAccAttribute>> lists_;
};

}  // namespace isolated
}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_ISOLATED_MESSAGE_H_
