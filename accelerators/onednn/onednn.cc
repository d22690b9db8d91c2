/*!
 * \file onednn.cc
 * \brief The entry of the library, and what it says to the skeleton.
 */
#include <mxnet_acc.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>

#include "../sdk/skeleton/executor.h"
#include "../sdk/skeleton/memory.h"
#include "../sdk/skeleton/models.h"
#include "../sdk/skeleton/profile.h"
#include "device.h"
#include "models/compiled_model.h"
#include "operators.h"
#include "threads.h"

namespace onednn {
namespace {

constexpr int kMaxThreads = 1024;
constexpr int kMaxVerbose = 2;

int ReadCount(const char* key, const char* text, int least, int most) {
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  if (*text == '\0' || *end != '\0' || value < least || value > most) {
    throw Failure(kMXAccBadArgument, std::string("configure: ") + key +
                                         ": expected an integer from " + std::to_string(least) +
                                         " to " + std::to_string(most) + ", got '" + text + "'");
  }
  return static_cast<int>(value);
}

/*! \brief Turns exceptions of oneDNN into Failure. */
template <typename Body>
void Translate(Body&& body) {
  try {
    body();
  } catch (const dnnl::error& error) {
    const bool unsupported =
        error.status == dnnl_unimplemented || error.status == dnnl_invalid_arguments;
    const bool memory = error.status == dnnl_out_of_memory;
    throw Failure(unsupported ? kMXAccUnsupported
                  : memory    ? kMXAccOutOfMemory
                              : kMXAccFailed,
                  std::string("oneDNN: ") + error.what());
  }
}

/*! \brief What accGetExecutor gives. */
class Executor {
 public:
  Executor(Device* device, const MXAccOperator& op)
      : device_(device), num_in_(op.num_in), num_out_(op.num_out) {
    try {
      Translate([&] { plan_ = MakePlan(op, device->threads, &flags_); });
    } catch (const Failure& failure) {
      throw Failure(failure.code(), std::string(op.name) + ": " + failure.what());
    }
  }

  void Run(const MXTensor* inputs, int32_t num_in, const MXTensor* outputs, int32_t num_out,
           const MXTensor* workspace, MXAccStream) const {
    if (num_in != num_in_ || num_out != num_out_) {
      throw Failure(kMXAccBadArgument, "run: another number of tensors than was asked for");
    }
    Translate([&] { plan_->Run(inputs, outputs, workspace); });
    device_->runs.fetch_add(1, std::memory_order_relaxed);
  }
  uint32_t flags() const { return flags_; }
  uint64_t workspace_bytes() const { return plan_->workspace_bytes(); }

 private:
  Device* device_;
  int32_t num_in_;
  int32_t num_out_;
  uint32_t flags_{0};
  std::unique_ptr<Plan> plan_;
};

/*! \brief What is special of this library; see the files of sdk/skeleton. */
struct Backend {
  static constexpr char kName[] = "onednn";
  static constexpr char kRelease[] = "1.0";
  using Device = onednn::Device;
  using Executor = onednn::Executor;
  using Model = onednn::CompiledModel;

  static void ListOptions(const MXAccOption** options, int32_t* count) {
    ListModelOptions(options, count);
  }
  static void Ask(Device* device, const Graph& graph, const GraphNode& node) {
    AskNode(device, graph, node);
  }

  template <typename Warn>
  static void FindDevices(std::deque<Device>* devices, Warn&&) {
    devices->emplace_back();
  }

  static void Describe(const Device& device, MXAccDeviceInfo* info) {
    const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    info->flags = kMXAccHostVisible | kMXAccStrides;
    info->alignment = 64;
    info->memory_total = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * page;
    info->memory_free = static_cast<uint64_t>(sysconf(_SC_AVPHYS_PAGES)) * page;
    info->kind = kMXAccCPUDevice;
    info->name = "CPU";
    info->vendor = "oneDNN";
    info->driver = device.driver.c_str();
  }

  template <typename Tell>
  static void Configure(Device* device, const char* const* in_keys, const char* const* in_vals,
                        int32_t num_in, Tell&& tell) {
    int threads = device->threads.load();
    int verbose = device->verbose.load();
    for (int32_t i = 0; i < num_in; ++i) {
      if (std::strcmp(in_keys[i], "threads") == 0) {
        threads = ReadCount("threads", in_vals[i], 1, kMaxThreads);
      } else if (std::strcmp(in_keys[i], "verbose") == 0) {
        verbose = ReadCount("verbose", in_vals[i], 0, kMaxVerbose);
      } else {
        throw Failure(kMXAccBadArgument, std::string("configure: there is no keyword '") +
                                             in_keys[i] + "'; known are threads, verbose");
      }
    }
    device->threads = threads;
    device->verbose = verbose;
    dnnl_set_verbose(verbose);
    tell("threads", std::to_string(threads));
    tell("verbose", std::to_string(verbose));
    tell("version", device->version);
    tell("isa", device->isa);
    tell("operators", OperatorNames());
    tell("nodes", NodeNames());
    tell("primitives", device->primitives());
    tell("workspace", std::to_string(device->workspace.load()));
    tell("live", std::to_string(device->memory.size()));
    tell("bytes", std::to_string(device->memory.used()));
    tell("runs", std::to_string(device->runs.load()));
  }

  static void Forget() {}

  static std::string KindOf(const Device& device) { return device.driver + ", " + device.isa; }
  static std::string SettingsOf(const Device& device) {
    return std::to_string(device.threads.load());
  }
};

}  // namespace
}  // namespace onednn

MXAccStatus mxacc_get_api(const MXAccRuntime*, MXAccApi* api) {
  using namespace mxacc;
  return GiveTable<onednn::Backend, MemoryMembers, HostCopyMembers, OperatorMembers, ModelMembers,
                   ProfileMembers>(api);
}
