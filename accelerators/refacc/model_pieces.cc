/*!
 * \file model_pieces.cc
 * \brief Models as pieces: the graph's JSON, which nodes were to be wrong when it was compiled, and
 * the weights where an import is not given them.
 */
#include <memory>
#include <string>

#include "../sdk/graph/kept_graph.h"
#include "model.h"

namespace refacc {
namespace {

std::string KeyOf(const Settings& settings) {
  return "refacc 1, graphs 1" + (settings.wrong.empty() ? "" : ", wrong " + settings.wrong);
}

/*! \brief What pieces are given to, which the settings may have fail in the middle of one. */
struct FaultyTake {
  MXAccTakePiece take;
  void* context;
  const Settings* settings;

  static MXAccStatus Take(void* context, const MXAccPiece* piece) {
    return StatusOf([&] {
      const auto* self = static_cast<FaultyTake*>(context);
      const int32_t due = self->settings->faults.Due("exportPiece");
      MXAccPiece given = *piece;
      if (due != 0) given.size /= 2;
      const MXAccStatus status = self->take(self->context, &given);
      if (status != nullptr) throw Failure(status->code, status->message);
      Faults::Fail(due, "exportPiece");
    });
  }
};

MXAccStatus ModelKey(void* self, int32_t dev_id, char* key, size_t size) {
  return OnDevice("modelKey", self, dev_id, [&](Device&, const Settings& settings) {
    WriteName(KeyOf(settings), key, size);
  });
}

MXAccStatus CheckModel(void* self, int32_t dev_id, const char* key, int32_t* verdict) {
  return OnDevice("checkModel", self, dev_id, [&](Device&, const Settings& settings) {
    switch (settings.verdict) {
      case Verdict::kRight:
        *verdict = mxacc::VerdictOf(KeyOf(settings), key);
        return;
      case Verdict::kFits:
        *verdict = kMXAccFits;
        return;
      case Verdict::kRecompile:
        *verdict = kMXAccRecompile;
        return;
      case Verdict::kDoesNotFit:
        *verdict = kMXAccDoesNotFit;
        return;
    }
  });
}

MXAccStatus ImportModel(void* self, int32_t dev_id, const char* key, const MXAccPiece* pieces,
                        int32_t num_pieces, const MXTensor* weights, int32_t num_weights,
                        MXAccModel* out) {
  return OnDevice("importModel", self, dev_id, [&](Device& on, const Settings& settings) {
    mxacc::CheckKey(KeyOf(settings), key);
    const PieceReader reader(key, pieces, num_pieces);
    Settings compiled = settings;
    compiled.wrong = reader.Text("wrong");
    const mxacc::KeptGraph kept(reader, weights, num_weights);
    auto model = std::make_unique<Model>(self, dev_id, kept.graph(), kept.json(), compiled);
    Tell(model.get(), out, settings);
    model.release();
    on.imported.Add();
  });
}

}  // namespace

MXAccStatus ExportModel(void* state, int32_t weights, MXAccTakePiece take, void* context) {
  const auto* model = static_cast<const Model*>(state);
  return OnDevice("exportModel", model->self, model->dev_id,
                  [&](Device&, const Settings& settings) {
                    if (weights != 0) settings.faults.Reach("exportWeights");
                    FaultyTake faulty{take, context, &settings};
                    PieceWriter writer(KeyOf(settings).c_str(), &FaultyTake::Take, &faulty);
                    writer.Write(mxacc::kGraphPiece, model->json.data(), model->json.size());
                    writer.Write("wrong", model->wrong_nodes.data(), model->wrong_nodes.size());
                    for (size_t i = 0; weights != 0 && i < model->weights.size(); ++i) {
                      writer.Write(mxacc::PieceOfWeight(i), model->AddressOfWeight(i),
                                   model->weight_values[i].bytes());
                    }
                    writer.Finish();
                  });
}

void SetPieceFunctions(MXAccApi* api) {
  api->modelKey = ModelKey;
  api->checkModel = CheckModel;
  api->importModel = ImportModel;
}

}  // namespace refacc
