/*!
 * \file server.cc
 * \brief The process that has the library: answers requests.
 */
#include <mxnet/runtime/registry.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "acc/isolated/answers.h"
#include "acc/isolated/asker.h"
#include "acc/isolated/channel.h"
#include "acc/isolated/message.h"
#include "acc/isolated/served_models.h"
#include "acc/isolated/shared_memory.h"
#include "acc/plugin/bytes.h"
#include "acc/plugin/guard.h"
#include "acc/plugin/plugin.h"

namespace mxnet {
namespace acc {
namespace isolated {
namespace {

/*! \brief An executor with the tensors that it runs on. */
struct Executor {
  MXAccExecutor executor;
  /*! \brief Owns what the tensors point to. */
  std::unique_ptr<Reader> request;
  std::vector<MXTensor> inputs;
  std::vector<MXTensor> outputs;
  std::optional<Bytes> workspace;
};

/*! \brief Answers requests with a library. */
class Server {
 public:
  explicit Server(const std::string& path) : plugin_(path) {
    plugin_.Initialize();
    Check(api().getNumAcc(api().self, &count_), "cannot load " + path, "getNumAcc");
    if (count_ == 0) {
      MXNET_THROW("RuntimeError") << "cannot load " << path << ": it finds no device";
    }
  }

  void Describe(Writer* answer) const {
    answer->Number<int32_t>(0);
    answer->Text(plugin_.own_name());
    answer->Text(TextOf(api().release));
    answer->Number(api().abi_minor);
    answer->Number(count_);
    answer->Number(plugin_.imperative());
    answer->Number(api().mx_alloc != nullptr);
    answer->Number(api().copyWithinAcc != nullptr);
    answer->Number(api().mx_zero != nullptr || (count_ > 0 && IsVisible(0)));
    answer->Number(api().configure != nullptr);
    answer->Number(api().supportedOps != nullptr);
    answer->Number(api().loadModel != nullptr);
    answer->Number(api().listOptions != nullptr);
    answer->Number(api().importModel != nullptr);
    answer->Number(api().profile != nullptr);
  }

  /*! \brief Answers requests until it is told to end, or the other process has ended. */
  void Serve() {
    std::string bytes;
    while (Receive(kSocket, &bytes)) {
      Reader request(std::move(bytes));
      const auto what = static_cast<Request>(request.Number<int32_t>());
      if (what == Request::kEnd) {
        plugin_.Finalize();
        Send(kSocket, StatusOnly(nullptr).bytes());
        return;
      }
      if (!Send(kSocket, Answer(what, &request).bytes())) return;
    }
  }

 private:
  const MXAccApi& api() const { return plugin_.api(); }

  /*! \brief Whether this process can write to the device's memory itself. */
  bool IsVisible(int32_t device) const {
    MXAccDeviceInfo info{};
    info.struct_size = sizeof(info);
    if (api().getDeviceInfo == nullptr ||
        api().getDeviceInfo(api().self, device, &info) != nullptr) {
      return false;
    }
    return (info.flags & kMXAccHostVisible) != 0;
  }

  Writer Answer(Request what, Reader* request) {
    try {
      switch (what) {
        case Request::kDeviceInfo:
          return DeviceInfo(request);
        case Request::kAlloc:
          return Alloc(request);
        case Request::kCopyToAcc:
        case Request::kCopyFromAcc:
          return Copy(what, request);
        case Request::kCopyWithinAcc:
          return CopyWithin(request);
        case Request::kZero:
          return Zero(request);
        case Request::kGetExecutor:
          return GetExecutor(request);
        case Request::kRun:
          return Run(request);
        case Request::kConfigure:
          return Configure(request);
        case Request::kFree: {
          const auto device = request->Number<int32_t>();
          api().mx_free(api().self, device, reinterpret_cast<void*>(request->Number<uint64_t>()));
          return StatusOnly(nullptr);
        }
        case Request::kFreeExecutor:
          FreeExecutor(request->Number<uint64_t>());
          return StatusOnly(nullptr);
        case Request::kBytes:
          return models_.TakeBytes(request);
        case Request::kSupportedOps:
          return models_.SupportedOps(request);
        case Request::kLoadModel:
          return models_.LoadModel(request);
        case Request::kListOptions:
          return models_.ListOptions();
        case Request::kModelKey:
          return models_.ModelKey(request);
        case Request::kCheckModel:
          return models_.CheckModel(request);
        case Request::kImportModel:
          return models_.ImportModel(request);
        case Request::kInfer:
          return models_.Infer(request);
        case Request::kInferShapes:
          return models_.InferShapes(request);
        case Request::kUpdateWeights:
          return models_.UpdateWeights(request);
        case Request::kExportModel:
          return models_.ExportModel(request);
        case Request::kUnloadModel:
          return models_.UnloadModel(request);
        case Request::kProfile:
          return models_.Profile(request);
        case Request::kEnd:
        case Request::kReply:
          break;
      }
      return StatusOnly(Failure(kMXAccUnsupported, "the process does not know what is asked"));
    } catch (const std::exception& error) {
      return StatusOnly(Failure(kMXAccFailed, error.what()));
    }
  }

  Writer DeviceInfo(Reader* request) {
    MXAccDeviceInfo info{};
    info.struct_size = sizeof(info);
    const auto device = request->Number<int32_t>();
    if (api().getDeviceInfo != nullptr) {
      if (MXAccStatus status = api().getDeviceInfo(api().self, device, &info))
        return StatusOnly(status);
    }
    Writer answer = StatusOnly(nullptr);
    answer.Number(info);
    for (const char* text : {info.name, info.vendor, info.driver, info.reason, info.bus}) {
      answer.OptionalText(text == nullptr ? nullptr : TextOf(text).c_str());
    }
    return answer;
  }

  Writer Alloc(Reader* request) {
    const auto device = request->Number<int32_t>();
    const auto size = request->Number<uint64_t>();
    const auto alignment = request->Number<uint64_t>();
    void* handle = nullptr;
    if (MXAccStatus status =
            api().mx_alloc(api().self, device, kMXAccDeviceMemory, size, alignment, &handle)) {
      return StatusOnly(status);
    }
    if (handle == nullptr) return StatusOnly(Failure(kMXAccOutOfMemory, "it gave NULL"));
    Writer answer = StatusOnly(nullptr);
    answer.Number<uint64_t>(reinterpret_cast<uintptr_t>(handle));
    return answer;
  }

  Writer Copy(Request what, Reader* request) {
    const auto device = request->Number<int32_t>();
    MXTensor on_device = request->Tensor();
    MXTensor on_host = on_device;
    on_host.tensor.data = shared_.data();
    on_host.tensor.device = MXAccDevice{kMXAccHost, 0};
    on_host.tensor.byte_offset = 0;
    return StatusOnly(
        what == Request::kCopyToAcc
            ? api().copyToAcc(api().self, device, &on_device, &on_host, 1, nullptr)
            : api().copyFromAcc(api().self, device, &on_host, &on_device, 1, nullptr));
  }

  Writer CopyWithin(Reader* request) {
    const auto device = request->Number<int32_t>();
    const auto count = request->Number<int32_t>();
    std::vector<MXTensor> targets;
    std::vector<MXTensor> sources;
    for (int32_t i = 0; i < count; ++i) {
      targets.push_back(request->Tensor());
      sources.push_back(request->Tensor());
    }
    return StatusOnly(
        api().copyWithinAcc(api().self, device, targets.data(), sources.data(), count, nullptr));
  }

  Writer Zero(Reader* request) {
    const auto device = request->Number<int32_t>();
    void* data = reinterpret_cast<void*>(request->Number<uint64_t>());
    const auto byte_offset = request->Number<uint64_t>();
    const auto size = request->Number<uint64_t>();
    if (api().mx_zero != nullptr) {
      return StatusOnly(api().mx_zero(api().self, device, data, byte_offset, size, nullptr, 0));
    }
    if (!IsVisible(device)) {
      return StatusOnly(Failure(kMXAccUnsupported, "it sets no memory to 0"));
    }
    std::memset(static_cast<char*>(data) + byte_offset, 0, size);
    return StatusOnly(nullptr);
  }

  Writer GetExecutor(Reader* given) {
    auto made = std::make_unique<Executor>();
    made->request = std::make_unique<Reader>(std::move(*given));
    Reader& request = *made->request;
    MXAccOperator op{};
    op.struct_size = sizeof(op);
    const std::string name = request.Text();
    op.name = name.c_str();
    op.operator_set = request.Number<int32_t>();
    op.dev_id = request.Number<int32_t>();
    op.num_in = request.Number<int32_t>();
    op.num_out = request.Number<int32_t>();
    op.num_attrs = request.Number<int32_t>();
    for (int32_t i = 0; i < op.num_in; ++i) made->inputs.push_back(request.Tensor());
    for (int32_t i = 0; i < op.num_out; ++i) made->outputs.push_back(request.Tensor());
    std::vector<MXAccAttribute> attributes;
    for (int32_t i = 0; i < op.num_attrs; ++i) attributes.push_back(request.Attribute());
    op.inputs = made->inputs.data();
    op.outputs = made->outputs.data();
    op.attrs = attributes.data();
    made->executor = MXAccExecutor{};
    made->executor.struct_size = sizeof(made->executor);
    if (MXAccStatus status = api().accGetExecutor(api().self, &op, &made->executor))
      return StatusOnly(status);
    if (made->executor.run == nullptr) {
      return StatusOnly(Failure(kMXAccFailed, "its executor has no function to run"));
    }
    if (made->executor.workspace_bytes != 0) {
      const MXAccDevice device =
          made->outputs.empty() ? MXAccDevice{0, op.dev_id} : made->outputs[0].tensor.device;
      made->workspace.emplace(nullptr, device, 0, made->executor.workspace_bytes);
    }
    Writer answer = StatusOnly(nullptr);
    answer.Number(++last_executor_);
    answer.Number(made->executor.flags);
    answer.Number(made->executor.workspace_bytes);
    executors_[last_executor_] = std::move(made);
    return answer;
  }

  Writer Run(Reader* request) {
    Executor& executor = *executors_.at(request->Number<uint64_t>());
    const auto read = [request](MXTensor* tensor) {
      tensor->tensor.data = reinterpret_cast<void*>(request->Number<uint64_t>());
      tensor->tensor.byte_offset = request->Number<uint64_t>();
    };
    for (MXTensor& tensor : executor.inputs) read(&tensor);
    for (MXTensor& tensor : executor.outputs) read(&tensor);
    if (executor.workspace) read(&executor.workspace->tensor);
    const MXTensor* workspace = executor.workspace ? &executor.workspace->tensor : nullptr;
    try {
      return StatusOnly(executor.executor.run(
          executor.executor.state, executor.inputs.data(),
          static_cast<int32_t>(executor.inputs.size()), executor.outputs.data(),
          static_cast<int32_t>(executor.outputs.size()), workspace, nullptr));
    } catch (...) {
      return StatusOnly(StatusOfException());
    }
  }

  void FreeExecutor(uint64_t number) {
    const std::unique_ptr<Executor> freed = std::move(executors_.at(number));
    executors_.erase(number);
    if (freed->executor.free == nullptr) return;
    try {
      freed->executor.free(freed->executor.state);
    } catch (...) {
      WarnOfException("free of an executor");
    }
  }

  Writer Configure(Reader* request) {
    const auto device = request->Number<int32_t>();
    const auto count = request->Number<int32_t>();
    std::vector<std::string> texts;
    for (int32_t i = 0; i < 2 * count; ++i) texts.push_back(request->Text());
    std::vector<const char*> keys;
    std::vector<const char*> values;
    for (size_t i = 0; i < texts.size(); i += 2) {
      keys.push_back(texts[i].c_str());
      values.push_back(texts[i + 1].c_str());
    }
    std::vector<std::pair<std::string, std::string>> emitted;
    const MXAccEmit emit = [](void* to, const char* key, const char* value, size_t size) {
      static_cast<decltype(emitted)*>(to)->emplace_back(
          key == nullptr ? "" : key, value == nullptr ? "" : std::string(value, size));
    };
    MXAccStatus status =
        api().configure(api().self, device, keys.data(), values.data(), count, emit, &emitted);
    if (status != nullptr) return StatusOnly(status);
    Writer answer = StatusOnly(nullptr);
    answer.Number<uint64_t>(emitted.size());
    for (const auto& [key, value] : emitted) {
      answer.Text(key);
      answer.Text(value);
    }
    return answer;
  }

  Plugin plugin_;
  int32_t count_{0};
  SharedMemory shared_{kSharedMemory};
  Asker asker_{[this](Request what, Reader* request) { return Answer(what, request); }};
  ServedModels models_{plugin_.api(), &shared_, &asker_};
  uint64_t last_executor_{0};
  std::unordered_map<uint64_t, std::unique_ptr<Executor>> executors_;
};

/*! \brief Ends this process when its parent has ended, even in the middle of a library's call. */
void EndWithParent() {
  std::thread([] {
    pollfd socket{kSocket, POLLRDHUP, 0};
    while (poll(&socket, 1, -1) <= 0 || (socket.revents & (POLLRDHUP | POLLHUP)) == 0) {
    }
    _exit(1);
  }).detach();
}

MXNET_REGISTER_API("mx.acc.serve")
    .describe("Serves an accelerator library to the process that has started this one.")
    .arg("path", "The library.")
    .set_body_typed([](const std::string& path) {
      // Ctrl-C is for the program that the user sees.
      signal(SIGINT, SIG_IGN);
      EndWithParent();
      std::unique_ptr<Server> server;
      Writer answer;
      try {
        server = std::make_unique<Server>(path);
        server->Describe(&answer);
      } catch (const Error& error) {
        answer = Writer();
        answer.Number<int32_t>(1);
        answer.Text(error.kind());
        answer.Text(error.message());
        server.reset();
      }
      Send(kSocket, answer.bytes());
      if (server != nullptr) server->Serve();
      // Without running destructors: those of the library might hang, and nobody needs them.
      _exit(0);
    });

}  // namespace
}  // namespace isolated
}  // namespace acc
}  // namespace mxnet
