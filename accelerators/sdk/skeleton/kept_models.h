/*!
 * \file kept_models.h
 * \brief What the members of the table for models that are kept as pieces have in common.
 *
 * For this file a backend has
 *
 *   KindOf(device)            text of what decides whether compiled models fit: driver, processor
 */
#ifndef MXACC_SDK_SKELETON_KEPT_MODELS_H_
#define MXACC_SDK_SKELETON_KEPT_MODELS_H_

#include <string>

#include "../graph/kept_graph.h"
#include "devices.h"

namespace mxacc {

template <typename Backend>
struct KeptModels {
  using Device = typename Backend::Device;

  /*! \brief What modelKey writes. */
  static std::string KeyOf(const Device& device) {
    return std::string(Backend::kName) + " " + Backend::kRelease + ", graphs " +
           std::to_string(MXACC_GRAPH_VERSION) + ", " + Backend::KindOf(device);
  }
  static MXAccStatus ModelKey(void* self, int32_t dev_id, char* key, size_t size) {
    return OnDevice<Backend>(self, dev_id,
                             [&](Device& device) { WriteName(KeyOf(device), key, size); });
  }
  static MXAccStatus CheckModel(void* self, int32_t dev_id, const char* key, int32_t* verdict) {
    return OnDevice<Backend>(self, dev_id,
                             [&](Device& device) { *verdict = VerdictOf(KeyOf(device), key); });
  }

  static void Set(MXAccApi* api) {
    api->modelKey = ModelKey;
    api->checkModel = CheckModel;
  }
};

}  // namespace mxacc

#endif  // MXACC_SDK_SKELETON_KEPT_MODELS_H_
