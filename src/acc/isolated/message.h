/*!
 * \file message.h
 * \brief The messages between this process and one that serves an accelerator library.
 */
#ifndef MXNET_SRC_ACC_ISOLATED_MESSAGE_H_
#define MXNET_SRC_ACC_ISOLATED_MESSAGE_H_

#include <mxnet/runtime/error.h>
#include <mxnet_acc.h>

#include <algorithm>
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
  kConfigure,    /*!< device, count, keys and values in turn -> count, the same */
  kBytes,        /*!< size; the next weight or piece of a model is in the shared memory */
  kSupportedOps, /*!< device, graph -> what is said of each node */
  kLoadModel,    /*!< device, graph, options -> model */
  kListOptions,  /*!< -> options */
  kModelKey,     /*!< device -> key */
  kCheckModel,   /*!< device, key -> verdict */
  kImportModel,  /*!< device, key, keys of the pieces, specs of weights -> model */
  kInfer,        /*!< number, inputs, outputs, workspace -> where outputs are that are the host's */
  kInferShapes,  /*!< number, inputs, number of outputs -> their shapes */
  kExportModel,  /*!< number, whether with weights */
  kUpdateWeights, /*!< number, how many, specs of weights */
  kUnloadModel,   /*!< number */
  kProfile,       /*!< device, whether it begins -> status; at the end, records */
  kReply          /*!< to a question: its content */
};

/*! \brief What the serving process asks in place of an answer, and what a reply has. Until it gets
 * that, it answers other requests. */
enum class Question : int32_t {
  kAllocOutput, /*!< index, dtype, shape -> status; whether it is the host's, else its handle and
                 * byte_offset */
  kShouldStop,  /*!< -> 1 or 0 */
  kTakePiece    /*!< key, size; its data are in the shared memory -> status */
};
/*! \brief In place of an answer's status: a question follows. */
constexpr int32_t kAsks = -1;

/*! \brief The file descriptors of the serving process. */
constexpr int kSocket = 3;
constexpr int kSharedMemory = 4;
/*! \brief Bytes of the shared memory at first; larger tensors are copied piece by piece. */
constexpr size_t kSharedSize = size_t{16} << 20;

/*! \brief Where the data of a tensor are that a model is called with. */
enum class Held : uint8_t {
  kNowhere, /*!< there are none */
  kDevice,  /*!< in memory of the device, of which there is a handle */
  kShared /*!< the host's; an input's are in the shared memory, at the offset that is its handle */
};

/*! \brief Pieces of models begin at multiples of this. */
constexpr size_t kPieceAlignment = 64;

inline size_t AlignedUp(size_t size) {
  return (size + kPieceAlignment - 1) / kPieceAlignment * kPieceAlignment;
}

/*! \brief Bytes of a dense tensor. */
inline size_t SizeOf(const MXAccDLTensor& tensor) {
  size_t size = tensor.dtype.bits * tensor.dtype.lanes / 8u;
  for (int32_t i = 0; i < tensor.ndim; ++i) size *= static_cast<size_t>(tensor.shape[i]);
  return size;
}

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
  void Append(const Writer& other) { bytes_ += other.bytes_; }
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

  /*! \brief What is said of a tensor of a graph or model beside its type and extents. */
  void Info(const MXAccTensorInfo* info, int32_t ndim) {
    Number<uint8_t>(info != nullptr);
    if (info == nullptr) return;
    Number(info->flags);
    Number(info->memory);
    Number<uint8_t>(info->dimensions != nullptr);
    for (int32_t i = 0; info->dimensions != nullptr && i < ndim; ++i) {
      OptionalText(info->dimensions[i].symbol);
      Number(info->dimensions[i].minimum);
      Number(info->dimensions[i].typical);
      Number(info->dimensions[i].maximum);
    }
    OptionalText(info->content_hash);
  }

  /*! \brief Tensors of a graph with what is said of them, without their data. */
  void Tensors(const MXTensor* tensors, int32_t count) {
    Number(count);
    for (int32_t i = 0; i < count; ++i) {
      Tensor(tensors[i], 0);
      Info(tensors[i].info, tensors[i].tensor.ndim);
    }
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
  /*! \brief So many integers, which live as long as the reader. */
  int64_t* Extents(int32_t ndim) {
    const auto count = static_cast<size_t>(std::max(ndim, 0));
    const char* bytes = Take(count * sizeof(int64_t));  // before there is memory for them
    std::vector<int64_t>& extents = extents_.emplace_back(count + 1);
    std::memcpy(extents.data(), bytes, count * sizeof(int64_t));
    return extents.data();
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
  /*! \brief The same for what is said beside; NULL where nothing is. */
  const MXAccTensorInfo* Info(int32_t ndim) {
    if (Number<uint8_t>() == 0) return nullptr;
    MXAccTensorInfo& info = infos_.emplace_back();
    info.struct_size = sizeof(info);
    info.flags = Number<uint32_t>();
    info.memory = Number<int32_t>();
    if (Number<uint8_t>() != 0) {
      std::vector<MXAccDimension>& dimensions =
          dimensions_.emplace_back(static_cast<size_t>(ndim) + 1);
      info.dimensions = dimensions.data();
      for (int32_t i = 0; i < ndim; ++i) {
        MXAccDimension& dimension = dimensions[static_cast<size_t>(i)];
        dimension.symbol = OptionalText();
        dimension.minimum = Number<int64_t>();
        dimension.typical = Number<int64_t>();
        dimension.maximum = Number<int64_t>();
      }
    }
    info.content_hash = OptionalText();
    return &info;
  }
  /*! \brief The same for tensors of a graph. */
  std::vector<MXTensor> Tensors() {
    std::vector<MXTensor> tensors;
    for (auto left = Number<int32_t>(); left > 0; --left) {
      MXTensor& tensor = tensors.emplace_back(Tensor());
      tensor.info = Info(tensor.tensor.ndim);
    }
    return tensors;
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

  std::string bytes_;
  size_t at_{0};
  std::deque<std::string> texts_;
  std::deque<std::vector<int64_t>> extents_;
  std::deque<std::vector<MXAccAttribute>> lists_;
  std::deque<MXAccTensorInfo> infos_;
  std::deque<std::vector<MXAccDimension>> dimensions_;
};

}  // namespace isolated
}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_ISOLATED_MESSAGE_H_
