/*!
 * \file model.h
 * \brief A model of this library: the steps of a graph, with its weights on the device.
 */
#ifndef REFACC_MODEL_H_
#define REFACC_MODEL_H_

#include <mxnet_acc.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "../sdk/graph/steps/memory_plan.h"
#include "../sdk/graph/steps/steps.h"
#include "layout.h"
#include "library.h"
#include "operator.h"

namespace refacc {

/*! \brief What loadModel and importModel give. */
struct Model {
  /*! \brief Where a value of a step is. */
  struct Location {
    size_t buffer;
    int64_t bytes;    /*!< from the first of the buffer */
    bool is_anywhere; /*!< whether it has elements */
  };
  /*! \brief What each run would have to find out again about a step. */
  struct Call {
    std::vector<Location> locations; /*!< of the inputs, then of the output */
    MXTensor written;
  };

  /*! \brief `text` is the JSON that the graph was read from; nodes that settings.wrong has get
   * wrong results. */
  Model(void* given_self, int32_t given_dev_id, Graph read, std::string text,
        const Settings& settings);
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  Device& device() const { return LibraryOf(self).device(dev_id); }
  /*! \brief Those of the steps that were added, of that node. */
  void MakeOperators(int64_t node);
  void Negate(const GraphNode& node);
  void CopyWeights();
  /*! \brief Takes other elements for some weights; no run is under way. */
  void UpdateWeights(const MXTensor* given, int32_t count, const Settings& settings);
  void PrepareCalls();
  char* AddressOfWeight(size_t number) const;
  void Check(const MXTensor* tensors, const std::vector<MXTensor>& expected,
             const std::vector<Layout>& layouts, const char* what) const;
  void Run(Device* on, const MXTensor* in, const MXTensor* out, const MXTensor* workspace,
           MXAccStream stream) const;
  void MakeOutputs(MXTensor* out, void* call) const;

  void* const self;
  const int32_t dev_id;
  const Graph graph; /*!< its weights have data until the constructor returns */
  const std::string json;
  const std::string wrong_nodes;
  Steps steps;
  const Runtime runtime;
  std::vector<std::unique_ptr<Operator>> operators; /*!< of the steps */
  std::vector<int64_t> nodes;                       /*!< that the steps are of; 0 for none */
  std::vector<Call> calls;                          /*!< of the steps */
  size_t most_locations{0};                         /*!< of a step */
  MemoryPlan plan;
  std::vector<Value> weight_values;
  std::vector<void*> weights; /*!< handles of their memory; NULL where there are no elements */
  std::deque<Value> specs;    /*!< that the tensors of inputs and outputs point to */
  std::vector<MXTensor> inputs;
  std::vector<MXTensor> outputs;
  std::vector<Layout> input_layouts;
  std::vector<Layout> output_layouts;
  std::vector<MXTensor> told; /*!< the outputs, without extents where they are not told */
  std::vector<int64_t> unknown;
  bool one_at_a_time{false};
  mutable std::atomic<int> runs_inside{0};
};

/*! \brief Gives a model to MXNet, which unloads it. */
void Tell(Model* model, MXAccModel* out, const Settings& settings);

/*! \brief Members of MXAccModel and MXAccApi for models that are kept as pieces. */
MXAccStatus ExportModel(void* state, int32_t weights, MXAccTakePiece take, void* context);
void SetPieceFunctions(MXAccApi* api);

}  // namespace refacc

#endif  // REFACC_MODEL_H_
