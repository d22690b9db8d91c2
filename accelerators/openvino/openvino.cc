/*!
 * \file openvino.cc
 * \brief The entry of the library, and what it says to the skeleton.
 */
#include <mxnet_acc.h>
#include <unistd.h>

#include <deque>
#include <memory>
#include <string>

#include "../sdk/skeleton/devices.h"
#include "device.h"
#include "model.h"
#include "onnx_graph.h"
#include "support.h"

namespace ovacc {
namespace {

using mxacc::Failure;
using mxacc::StatusOf;

int32_t KindOf(const std::string& name) {
  if (name.rfind("CPU", 0) == 0) return kMXAccCPUDevice;
  if (name.rfind("GPU", 0) == 0) return kMXAccGPUDevice;
  if (name.rfind("NPU", 0) == 0) return kMXAccNPUDevice;
  return kMXAccOtherDevice;
}

/*! \brief What is special of this library; see the files of sdk/skeleton. */
struct Backend {
  static constexpr char kName[] = "openvino";
  static constexpr char kRelease[] = "1.0";
  using Device = ovacc::Device;

  template <typename Warn>
  static void FindDevices(std::deque<Device>* devices, Warn&&) {
    const auto core = std::make_shared<const Core>();
    for (const std::string& name : core->Devices()) devices->emplace_back(core, name);
    if (devices->empty()) throw Failure(kMXAccNoDevice, "OpenVINO has no device here");
  }

  static void Describe(const Device& device, MXAccDeviceInfo* info) {
    info->kind = KindOf(device.name());
    if (info->kind == kMXAccCPUDevice) {
      const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
      info->memory_total = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * page;
      info->memory_free = static_cast<uint64_t>(sysconf(_SC_AVPHYS_PAGES)) * page;
    }
    info->name = device.full_name().c_str();
    info->vendor = "OpenVINO";
    info->driver = device.core()->api().version.c_str();
  }

  template <typename Tell>
  static void Configure(Device* device, const char* const* in_keys, const char* const* in_vals,
                        int32_t num_in, Tell&& tell) {
    Options options = device->options();
    for (int32_t i = 0; i < num_in; ++i) options.Set("configure", in_keys[i], in_vals[i]);
    device->set_options(options);
    for (const auto& [name, value] : options.items()) tell(name.c_str(), value);
    tell("device", device->name());
    tell("version", device->core()->api().version);
  }

  static void Forget() {}
};

/*! \brief Fills in a model, which then belongs to MXNet. */
void Give(std::unique_ptr<Model> model, MXAccModel* out) {
  model->Tell(out);
  out->infer = [](void* state, const MXTensor* inputs, int32_t num_in, MXTensor* outputs,
                  int32_t num_out, const MXTensor*, MXAccStream, void* call) {
    return StatusOf(
        [&] { static_cast<Model*>(state)->Infer(inputs, num_in, outputs, num_out, call); });
  };
  out->unloadModel = [](void* state) { delete static_cast<Model*>(state); };
  out->exportModel = [](void* state, int32_t, MXAccTakePiece take, void* context) {
    return StatusOf([&] { static_cast<const Model*>(state)->Export(take, context); });
  };
  out->state = model.release();
}

/*! \brief The members of the table that are about graphs and models. */
template <typename B>
struct ModelMembers {
  static MXAccStatus SupportedOps(void* self, int32_t dev_id, const MXAccGraph* graph,
                                  MXAccNodeSupport* nodes) {
    return mxacc::OnDevice<B>(self, dev_id,
                              [&](Device& device) { Answer(OnnxGraph(*graph), &device, nodes); });
  }

  static MXAccStatus LoadModel(void* self, int32_t dev_id, const MXAccGraph* graph,
                               const MXAccAttribute* given, int32_t num_given, void*,
                               MXAccModel* out) {
    return mxacc::OnDevice<B>(self, dev_id, [&](Device& device) {
      Options options = device.options();
      for (int32_t i = 0; i < num_given; ++i) options.Set("loadModel", given[i]);
      const OnnxGraph read(*graph);
      const Origin origin{
          device.key(), options, read.SharedOutputs(),
          WeightsText(graph->data + graph->num_inputs, graph->num_data - graph->num_inputs)};
      try {
        Give(std::make_unique<Model>(mxacc::Devices<B>::Of(self).runtime(), device.core(), origin,
                                     device.core()->Compile(read.Model(), device.name(), options)),
             out);
      } catch (const Failure&) {
        FailAtNode(read, device, options);
        throw;
      }
    });
  }

  static MXAccStatus ListOptions(void*, const MXAccOption** options, int32_t* count) {
    return StatusOf([&] {
      *options = Options::All().data();
      *count = static_cast<int32_t>(Options::All().size());
    });
  }

  static MXAccStatus ModelKey(void* self, int32_t dev_id, char* key, size_t size) {
    return mxacc::OnDevice<B>(self, dev_id,
                              [&](Device& device) { mxacc::WriteName(device.key(), key, size); });
  }

  static MXAccStatus CheckModel(void* self, int32_t dev_id, const char* key, int32_t* verdict) {
    return mxacc::OnDevice<B>(self, dev_id, [&](Device& device) {
      *verdict = device.key() == key ? kMXAccFits : kMXAccDoesNotFit;
    });
  }

  static MXAccStatus ImportModel(void* self, int32_t dev_id, const char* key,
                                 const MXAccPiece* pieces, int32_t num_pieces,
                                 const MXTensor* weights, int32_t num_weights, MXAccModel* out) {
    return mxacc::OnDevice<B>(self, dev_id, [&](Device& device) {
      if (device.key() != key) {
        throw Failure(kMXAccBadArgument, "importModel: compiled for '" + std::string(key) +
                                             "', this is '" + device.key() + "'");
      }
      Give(Model::Import(mxacc::Devices<B>::Of(self).runtime(), &device, key, pieces, num_pieces,
                         weights, num_weights),
           out);
    });
  }

  static void Set(MXAccApi* api) {
    api->supportedOps = SupportedOps;
    api->loadModel = LoadModel;
    api->listOptions = ListOptions;
    api->modelKey = ModelKey;
    api->checkModel = CheckModel;
    api->importModel = ImportModel;
  }
};

}  // namespace
}  // namespace ovacc

MXAccStatus mxacc_get_api(const MXAccRuntime*, MXAccApi* api) {
  return mxacc::GiveTable<ovacc::Backend, ovacc::ModelMembers>(api);
}
