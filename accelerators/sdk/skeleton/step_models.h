/*!
 * \file step_models.h
 * \brief Models: graphs as the works of their steps, and the members of the table for them.
 *
 * The Device has write_rate, a WriteRate.
 *
 * A backend that has ExecutorOf, see executor.h, CopyMembers, see memory.h, and ProfileMembers, see
 * profile.h, needs nothing more. While a device is profiled, a model waits for each of its steps.
 */
#ifndef MXACC_SDK_SKELETON_STEP_MODELS_H_
#define MXACC_SDK_SKELETON_STEP_MODELS_H_

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../graph/steps/memory_plan.h"
#include "../graph/steps/steps.h"
#include "../graph/steps/support.h"
#include "executor.h"
#include "kept_models.h"
#include "memory.h"
#include "profile.h"

namespace mxacc {

/*! \brief What loadModel gives. Any thread may call Infer. */
template <typename Backend>
class ModelOf {
 public:
  using Device = typename Backend::Device;
  using Commands = typename Backend::Commands;
  using Location = typename Backend::Location;
  using Work = WorkOn<Commands, Location>;

  /*! \brief `json` is what the graph was read from. */
  ModelOf(Device* device, int32_t dev_id, Graph graph, std::string json)
      : device_(device),
        dev_id_(dev_id),
        json_(std::move(json)),
        graph_(std::move(graph)),
        steps_(graph_),
        weights_(device) {
    for (const GraphNode& node : graph_.nodes) {
      try {
        steps_.Add(node);
        MakeWorks(dev_id, node.id);
      } catch (const Failure& failure) {
        throw Failure(failure.code(), failure.what(), 0, node.id);
      }
    }
    steps_.Finish();
    MakeWorks(dev_id, 0);
    std::vector<StepMemory> memories;
    for (const auto& work : works_) memories.push_back({work->workspace_bytes(), work->in_place()});
    plan_ = PlanMemory(steps_, memories);
    for (const int64_t entry : graph_.inputs) AddSpec(steps_.Read(entry), entry, &inputs_);
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      AddSpec(steps_.output(i), graph_.outputs[i], &outputs_);
    }
    weights_.Write(graph_, &steps_, dev_id);
  }

  void Tell(MXAccModel* out) {
    out->state = this;
    out->num_in = static_cast<int32_t>(inputs_.tensors.size());
    out->num_out = static_cast<int32_t>(outputs_.tensors.size());
    out->inputs = inputs_.tensors.data();
    out->outputs = outputs_.tensors.data();
    out->workspace_bytes = plan_.bytes;
    out->weight_bytes = weights_.bytes();
    out->flags = kMXAccModelConcurrent | kMXAccModelKeepsWeights | kMXAccModelUsesStreams;
    out->infer = [](void* state, const MXTensor* inputs, int32_t num_in, MXTensor* outputs,
                    int32_t num_out, const MXTensor* workspace, MXAccStream stream, void*) {
      return StatusOf([&] {
        auto* model = static_cast<ModelOf*>(state);
        CheckWorkspace(workspace, model->plan_.bytes);
        Check(model->inputs_, inputs, num_in, "input");
        Check(model->outputs_, outputs, num_out, "output");
        model->Infer(inputs, outputs, workspace, stream);
      });
    };
    out->updateWeights = [](void* state, const MXTensor* weights, int32_t count) {
      return StatusOf([&] {
        auto* model = static_cast<ModelOf*>(state);
        [[maybe_unused]] const auto entered = model->device_->Enter();
        model->Update(weights, count);
      });
    };
    out->exportModel = [](void* state, int32_t weights, MXAccTakePiece take, void* context) {
      return StatusOf([&] {
        auto* model = static_cast<ModelOf*>(state);
        [[maybe_unused]] const auto entered = model->device_->Enter();
        model->Export(weights != 0, take, context);
      });
    };
    out->unloadModel = [](void* state) {
      (void)StatusOf([&] {
        auto* model = static_cast<ModelOf*>(state);
        [[maybe_unused]] const auto entered = model->device_->Enter();  // until it is gone
        delete model;
      });
    };
  }

 private:
  /*! \brief Tensors without data, and what they point to. */
  struct Specs {
    std::vector<Value> values;
    std::vector<MXTensor> tensors;
  };
  /*! \brief Memory of the device that has the weights. */
  class Weights {
   public:
    explicit Weights(Device* device) : device_(device) {}
    ~Weights() {
      for (void* handle : handles_) {
        if (handle != nullptr) device_->memory.Free(handle);
      }
    }
    Weights(const Weights&) = delete;
    Weights& operator=(const Weights&) = delete;

    void Write(const Graph& graph, Steps* steps, int32_t dev_id) {
      Commands commands(device_, nullptr, 0);
      for (const int64_t entry : graph.weights) {
        const Value& value = values_.emplace_back(steps->Read(entry));
        handles_.push_back(nullptr);
        bases_.push_back({});
        if (value.bytes() == 0) continue;
        handles_.back() = device_->Alloc(value.bytes(), kAlignment);
        bytes_ += value.bytes();
        const MXAccDLTensor target = TargetOf(handles_.size() - 1, dev_id);
        bases_.back() = {device_->memory.Find(target, SpanOf(target)), 0};
        const MXTensor& source = *graph.entries[static_cast<size_t>(entry)].weight;
        CopyMembers<Backend>::ToDevice(&commands, target, source.tensor);
      }
      commands.Finish();
    }
    /*! \brief Writes those of these numbers again. */
    void Rewrite(const std::vector<size_t>& numbers, const MXTensor* sources, int32_t dev_id) {
      Commands commands(device_, nullptr, 0);
      for (size_t i = 0; i < numbers.size(); ++i) {
        if (handles_[numbers[i]] == nullptr) continue;
        CopyMembers<Backend>::ToDevice(&commands, TargetOf(numbers[i], dev_id), sources[i].tensor);
      }
      commands.Finish();
    }
    /*! \brief Calls give(elements, bytes) for each weight. */
    template <typename Give>
    void Read(const Graph& graph, Give&& give) const {
      std::vector<char> room;
      for (size_t i = 0; i < handles_.size(); ++i) {
        room.resize(
            static_cast<size_t>(BytesOf(graph.entries[static_cast<size_t>(graph.weights[i])])));
        if (handles_[i] != nullptr) {
          Commands commands(device_, nullptr, 0);
          commands.Read(room.data(), bases_[i], 1, room.size());
          commands.Finish();
        }
        give(room.data(), room.size());
      }
    }
    const Location& operator[](size_t index) const { return bases_[index]; }
    uint64_t bytes() const { return bytes_; }

   private:
    /*! \brief A weight on the device; valid as long as this. */
    MXAccDLTensor TargetOf(size_t number, int32_t dev_id) const {
      MXAccDLTensor target = values_[number].tensor().tensor;
      target.data = handles_[number];
      target.device = {0, dev_id};
      return target;
    }

    Device* device_;
    std::deque<Value> values_;    /*!< the weights as the steps read them */
    std::vector<void*> handles_;  /*!< NULL where there are no elements */
    std::vector<Location> bases_; /*!< which count bytes */
    uint64_t bytes_{0};
  };

  static constexpr size_t kAlignment = 64;

  /*! \brief Those of the steps that were added, of that node. */
  void MakeWorks(int32_t dev_id, int64_t node) {
    nodes_.resize(steps_.steps().size(), node);
    while (works_.size() < steps_.steps().size()) {
      const StepRequest request(steps_.steps()[works_.size()], dev_id);
      works_.push_back(Backend::MakeWork(device_, request.op()));
    }
  }

  void AddSpec(const Value& value, int64_t entry, Specs* specs) {
    if (specs->values.capacity() == 0) {
      specs->values.reserve(std::max(graph_.inputs.size(), graph_.outputs.size()));
    }
    specs->values.push_back(value);
    specs->tensors.push_back(specs->values.back().tensor());
    specs->tensors.back().name = graph_.entries[static_cast<size_t>(entry)].name.c_str();
  }

  static void Check(const Specs& expected, const MXTensor* given, int32_t count, const char* what) {
    if (static_cast<size_t>(count) != expected.tensors.size()) {
      throw Failure(kMXAccBadArgument, "infer: expected " +
                                           std::to_string(expected.tensors.size()) + " " + what +
                                           "s, got " + std::to_string(count));
    }
    for (int32_t i = 0; i < count; ++i) {
      const MXAccDLTensor& wanted = expected.tensors[static_cast<size_t>(i)].tensor;
      if (SameSpec(given[i].tensor, wanted) && IsRowMajor(given[i].tensor)) continue;
      throw Failure(kMXAccBadArgument, std::string("infer: ") + what + " " + std::to_string(i) +
                                           " is " + SpecText(given[i].tensor) +
                                           ", expected a row-major " + SpecText(wanted));
    }
  }

  /*! \brief Where a tensor begins, in bytes. */
  Location BaseOf(const MXAccDLTensor& tensor) const {
    MXAccDLTensor at_zero = tensor;
    at_zero.byte_offset = 0;
    return {device_->memory.Find(tensor, SpanOf(at_zero)),
            static_cast<int64_t>(tensor.byte_offset)};
  }

  static Location Further(Location from, uint64_t bytes) {
    from.first += static_cast<int64_t>(bytes);
    return from;
  }

  void Update(const MXTensor* weights, int32_t count) {
    const std::vector<size_t> numbers = FindWeights(graph_, weights, count);
    for (const size_t number : numbers) {
      const int64_t entry = graph_.weights[number];
      if (!steps_.DependOn(entry)) continue;
      Unsupported("the model was compiled for the elements of '" +
                  graph_.entries[static_cast<size_t>(entry)].name + "'");
    }
    weights_.Rewrite(numbers, weights, dev_id_);
  }

  void Export(bool with_weights, MXAccTakePiece take, void* context) const {
    PieceWriter writer(KeptModels<Backend>::KeyOf(*device_).c_str(), take, context);
    writer.Write(kGraphPiece, json_.data(), json_.size());
    size_t number = 0;
    const auto give = [&](const char* elements, size_t bytes) {
      writer.Write(PieceOfWeight(number++), elements, bytes);
    };
    if (with_weights) weights_.Read(graph_, give);
    writer.Finish();
  }

  void Infer(const MXTensor* inputs, const MXTensor* outputs, const MXTensor* workspace,
             MXAccStream stream) {
    std::vector<Location> bases;  // which count bytes
    Location room{};
    if (plan_.bytes != 0) room = BaseOf(workspace->tensor);
    for (size_t i = 0; i < steps_.buffers().size(); ++i) {
      const Buffer& buffer = steps_.buffers()[i];
      switch (buffer.kind) {
        case Buffer::Kind::kInput:
          bases.push_back(BaseOf(inputs[buffer.index].tensor));
          break;
        case Buffer::Kind::kWeight:
          bases.push_back(weights_[buffer.index]);
          break;
        case Buffer::Kind::kOutput:
          bases.push_back(BaseOf(outputs[buffer.index].tensor));
          break;
        case Buffer::Kind::kInner:
          bases.push_back(Further(room, plan_.buffers[i]));
      }
    }
    const auto location = [&](const Value& value) -> Location {
      if (value.bytes() == 0) return {};
      Location found = bases[value.buffer];
      found.first = found.first / ItemSize(value.dtype) + value.offset;
      return found;
    };
    [[maybe_unused]] const auto entered = device_->Enter();
    Commands commands(device_, reinterpret_cast<typename Backend::Stream*>(stream),
                      outputs[0].work);
    Profiler& profiler = device_->profiler;
    const bool is_profiled = profiler.is_on();
    if (is_profiled) commands.Wait();
    std::vector<Location> locations;
    for (size_t i = 0; i < works_.size(); ++i) {
      const int64_t begin_ns = is_profiled ? Profiler::Now() : 0;
      const Step& step = steps_.steps()[i];
      locations.clear();
      for (const Argument& argument : step.inputs) locations.push_back(location(argument.value));
      locations.push_back(location(step.output));
      if (works_[i]->workspace_bytes() != 0) {
        locations.push_back(Further(room, plan_.workspaces[i]));
      }
      works_[i]->Run(&commands, locations.data());
      if (!is_profiled) continue;
      commands.Wait();
      profiler.Tell(step.op.c_str(), nodes_[i], outputs[0].work, stream, begin_ns);
    }
    commands.Finish();
  }

  Device* device_;
  const int32_t dev_id_;
  const std::string json_;
  const Graph graph_; /*!< its weights have data until the constructor returns */
  Steps steps_;
  std::vector<std::unique_ptr<Work>> works_; /*!< of the steps */
  std::vector<int64_t> nodes_;               /*!< that the steps are of; 0 for none */
  MemoryPlan plan_;
  Specs inputs_;
  Specs outputs_;
  Weights weights_;
};

template <typename Backend>
struct StepModelMembers {
  using Device = typename Backend::Device;

  static MXAccStatus SupportedOps(void* self, int32_t dev_id, const MXAccGraph* graph,
                                  MXAccNodeSupport* nodes) {
    return OnDevice<Backend>(self, dev_id, [&](Device& device) {
      const auto check = [&](const Steps& steps, const GraphNode&, size_t first) {
        for (size_t i = first; i < steps.steps().size(); ++i) {
          (void)Backend::MakeWork(&device, StepRequest(steps.steps()[i], dev_id).op());
        }
        return static_cast<int32_t>(kMXAccNodeAnyGroup);
      };
      const auto keep = [&](const char* text) { return Devices<Backend>::Of(self).Keep(text); };
      const double rate = device.write_rate.Get([&](size_t size) { Zero(&device, dev_id, size); });
      TellSupport(*graph, nodes, rate, check, keep);
    });
  }
  static MXAccStatus LoadModel(void* self, int32_t dev_id, const MXAccGraph* graph,
                               const MXAccAttribute* options, int32_t num_options, void*,
                               MXAccModel* out) {
    return OnDevice<Backend>(self, dev_id, [&](Device& device) {
      if (num_options != 0) {
        throw Failure(kMXAccBadArgument, std::string("there is no option ") + options[0].name);
      }
      Give(&device, dev_id, ReadGraph(*graph), graph->json, out);
    });
  }
  static MXAccStatus ImportModel(void* self, int32_t dev_id, const char* key,
                                 const MXAccPiece* pieces, int32_t num_pieces,
                                 const MXTensor* weights, int32_t num_weights, MXAccModel* out) {
    return OnDevice<Backend>(self, dev_id, [&](Device& device) {
      CheckKey(KeptModels<Backend>::KeyOf(device), key);
      const KeptGraph kept(PieceReader(key, pieces, num_pieces), weights, num_weights);
      Give(&device, dev_id, kept.graph(), kept.json(), out);
    });
  }
  static void Give(Device* device, int32_t dev_id, Graph graph, std::string json, MXAccModel* out) {
    auto model =
        std::make_unique<ModelOf<Backend>>(device, dev_id, std::move(graph), std::move(json));
    model->Tell(out);
    model.release();
  }

  /*! \brief Zeroes new memory of the device. */
  static void Zero(Device* device, int32_t dev_id, size_t size) {
    struct Room {
      Room(Device* on, size_t bytes) : device(on), handle(on->Alloc(bytes, 64)) {}
      ~Room() { device->memory.Free(handle); }
      Device* device;
      void* handle;
    } const room(device, size);
    const Bytes bytes(dev_id, room.handle, 0, size);
    typename Backend::Commands commands(device, nullptr, 0);
    commands.Zero({device->memory.Find(bytes.tensor, SpanOf(bytes.tensor)), 0}, size);
    commands.Finish();
  }

  static void Set(MXAccApi* api) {
    api->supportedOps = SupportedOps;
    api->loadModel = LoadModel;
    api->importModel = ImportModel;
    KeptModels<Backend>::Set(api);
  }
};

}  // namespace mxacc

#endif  // MXACC_SDK_SKELETON_STEP_MODELS_H_
