/*!
 * \file recurrent.cc
 * \brief Recurrent layers, with weights and gates in ONNX's order.
 */
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "onednn/makers.h"

namespace mxnet {
namespace onednn {
namespace {

using dnnl::rnn_direction;

/*! \brief A kind of cell: its gates, each by its position in ONNX's order, as oneDNN has them. */
struct Cell {
  const char* kind;
  std::vector<int> gates;
  size_t num_biases; /*!< gates that oneDNN has biases of */
};
const Cell kCells[] = {
    {"lstm", {0, 2, 3, 1}, 4}, {"gru", {0, 1, 2}, 3}, {"lbr_gru", {0, 1, 2}, 4},
    {"tanh", {0}, 1},          {"relu", {0}, 1},
};

const Cell& CellOf(const std::string& kind) {
  for (const Cell& cell : kCells) {
    if (kind == cell.kind) return cell;
  }
  MXNET_THROW("ValueError") << "kind: expected one of lstm, gru, lbr_gru, tanh, relu, got '" << kind
                            << "'";
}

rnn_direction DirectionOf(const std::string& direction) {
  if (direction == "forward") return rnn_direction::unidirectional_left2right;
  if (direction == "reverse") return rnn_direction::unidirectional_right2left;
  if (direction == "bidirectional") return rnn_direction::bidirectional_concat;
  MXNET_THROW("ValueError") << "direction: expected 'forward', 'reverse' or 'bidirectional', got '"
                            << direction << "'";
}

/*! \brief Whether a constant has no elements, as it is only asked what there is for it. */
bool IsAsked(const Operand& operand) {
  return operand.is_constant() && operand.constant->weight == nullptr &&
         operand.constant->data == nullptr;
}

/*! \brief A constant's elements, row-major, as float32. */
class Floats {
 public:
  Floats(const Operand& operand, const Dims& shape) {
    if (!operand.is_constant()) {
      MXNET_THROW("NotImplementedError") << operand.name << ": expected a constant";
    }
    CheckFloat(operand.dtype, operand.name);
    CheckShape(operand, shape);
    const Constant& constant = *operand.constant;
    if (constant.weight != nullptr) elements_ = constant.weight->Get();
    const void* given = elements_ == nullptr ? constant.data : elements_.get();
    const Desc plain = PlainDesc(shape, DType::f32);
    data_ = static_cast<const float*>(given);
    const bool is_aligned = reinterpret_cast<uintptr_t>(given) % alignof(float) == 0;
    if (operand.Offered() == plain && is_aligned) return;
    values_.resize(static_cast<size_t>(SizeOf(shape)));
    Reorder(operand.Offered(), given, plain, values_.data());
    data_ = values_.data();
  }

  const float* at(size_t index) const { return data_ + index; }

 private:
  Weight::Elements elements_;
  std::vector<float> values_; /*!< where the elements lie in another way */
  const float* data_;
};

/*! \brief Sizes, as ONNX's shapes have them. */
struct Sizes {
  size_t directions;
  size_t gates;
  size_t hidden;

  Dims Weights(size_t inputs) const { return Integers({directions, gates * hidden, inputs}); }
  static Dims Integers(std::initializer_list<size_t> values) {
    return Dims(values.begin(), values.end());
  }
};

class Recurrent {
 public:
  explicit Recurrent(const RecurrentArguments& given)
      : given_(given),
        cell_(CellOf(given.kind)),
        direction_(DirectionOf(given.direction)),
        x_(given.x, "x"),
        weight_(given.weight, "weight"),
        recurrent_(given.recurrent, "recurrent") {
    CheckFloat(x_.dtype, x_.name);
    CheckAxes(x_, 3, 3);
    CheckAxes(recurrent_, 3, 3);
    sizes_ = {given.direction == "bidirectional" ? size_t{2} : size_t{1}, cell_.gates.size(),
              static_cast<size_t>(recurrent_.shape[2])};
    if (!is_lstm() && (given.initial_c || given.peephole)) {
      MXNET_THROW("ValueError") << "initial_c and peephole: only lstm has them";
    }
  }

  void Make(Maker* maker) {
    const dnnl::primitive_attr attributes = AttributesWith();
    const Dims iteration = Extents(1, x_.shape[1]);
    const Desc layer = PlainDesc(x_.shape, x_.type);
    const Desc state = PlainDesc(iteration, x_.type);
    const Desc memory = PlainDesc(iteration, DType::f32);
    const Desc first = given_.initial_h ? state : Desc();
    const Desc first_c = given_.initial_c ? memory : Desc();
    const Desc weights = Any(x_.shape[2]);
    const Desc recurrent = Any(static_cast<int64_t>(sizes_.hidden));
    const Desc bias = PlainDesc(
        Sizes::Integers({1, sizes_.directions, cell_.num_biases, sizes_.hidden}), DType::f32);
    const int64_t wide = static_cast<int64_t>(sizes_.directions * sizes_.hidden);
    const Desc result = PlainDesc({x_.shape[0], x_.shape[1], wide}, x_.type);
    constexpr auto kProp = dnnl::prop_kind::forward_inference;
    if (is_lstm() && given_.peephole) {
      const Desc peephole =
          PlainDesc(Sizes::Integers({1, sizes_.directions, 3, sizes_.hidden}), DType::f32);
      return Finish(dnnl::lstm_forward::primitive_desc(Engine(), kProp, direction_, layer, first,
                                                       first_c, weights, recurrent, peephole, bias,
                                                       result, state, memory, attributes),
                    maker);
    }
    if (is_lstm()) {
      return Finish(dnnl::lstm_forward::primitive_desc(Engine(), kProp, direction_, layer, first,
                                                       first_c, weights, recurrent, bias, result,
                                                       state, memory, attributes),
                    maker);
    }
    if (given_.kind == "gru") {
      return Finish(
          dnnl::gru_forward::primitive_desc(Engine(), kProp, direction_, layer, first, weights,
                                            recurrent, bias, result, state, attributes),
          maker);
    }
    if (given_.kind == "lbr_gru") {
      return Finish(
          dnnl::lbr_gru_forward::primitive_desc(Engine(), kProp, direction_, layer, first, weights,
                                                recurrent, bias, result, state, attributes),
          maker);
    }
    const algorithm activation =
        given_.kind == "tanh" ? algorithm::eltwise_tanh : algorithm::eltwise_relu;
    Finish(dnnl::vanilla_rnn_forward::primitive_desc(Engine(), kProp, activation, direction_, layer,
                                                     first, weights, recurrent, bias, result, state,
                                                     attributes),
           maker);
  }

 private:
  bool is_lstm() const { return given_.kind == "lstm"; }

  Dims Extents(int64_t first, int64_t batch) const {
    return {first, static_cast<int64_t>(sizes_.directions), batch,
            static_cast<int64_t>(sizes_.hidden)};
  }

  Desc Any(int64_t inputs) const {
    Dims shape = Sizes::Integers({1, sizes_.directions, 0, sizes_.gates, sizes_.hidden});
    shape[2] = inputs;
    return AnyDesc(shape, x_.type);
  }

  /*! \brief (directions, gates * hidden, inputs) as (1, directions, inputs, gates, hidden). */
  Location PackWeights(const Operand& operand, const Desc& wanted, Maker* maker) const {
    if (IsAsked(operand)) return maker->steps()->Constant(nullptr, wanted, wanted);
    const auto inputs = static_cast<size_t>(wanted.get_dims()[2]);
    const Floats given(operand, sizes_.Weights(inputs));
    std::vector<float> turned(sizes_.directions * inputs * sizes_.gates * sizes_.hidden);
    float* next = turned.data();
    for (size_t d = 0; d < sizes_.directions; ++d) {
      for (size_t i = 0; i < inputs; ++i) {
        for (const int gate : cell_.gates) {
          const size_t row = (d * sizes_.gates + static_cast<size_t>(gate)) * sizes_.hidden;
          for (size_t h = 0; h < sizes_.hidden; ++h) *next++ = *given.at((row + h) * inputs + i);
        }
      }
    }
    Buffer buffer(wanted.get_size());
    dnnl::memory from(PlainDesc(wanted.get_dims(), DType::f32), Engine(), turned.data());
    dnnl::memory to(wanted, Engine(), buffer.data());
    dnnl::stream stream(Engine());
    dnnl::reorder(from, to).execute(stream, from, to);
    stream.wait();
    return maker->steps()->Constant(std::move(buffer));
  }

  /*! \brief The biases of both products are one to oneDNN, but for the last of lbr_gru. */
  Location PackBias(Maker* maker) const {
    const size_t gates = sizes_.gates;
    const size_t hidden = sizes_.hidden;
    std::vector<float> sums(sizes_.directions * cell_.num_biases * hidden, 0.0f);
    if (given_.bias && !IsAsked(Operand(*given_.bias, "bias"))) {
      const Operand operand(*given_.bias, "bias");
      const Floats given(operand, Sizes::Integers({sizes_.directions, 2 * gates * hidden}));
      for (size_t d = 0; d < sizes_.directions; ++d) {
        for (size_t g = 0; g < gates; ++g) {
          const auto gate = static_cast<size_t>(cell_.gates[g]);
          const float* of_x = given.at((2 * d * gates + gate) * hidden);
          const float* of_h = given.at(((2 * d + 1) * gates + gate) * hidden);
          const bool is_apart = cell_.num_biases > gates && g + 1 == gates;
          float* to = &sums[(d * cell_.num_biases + g) * hidden];
          for (size_t h = 0; h < hidden; ++h) {
            to[h] = of_x[h] + (is_apart ? 0.0f : of_h[h]);
            if (is_apart) to[hidden + h] = of_h[h];
          }
        }
      }
    }
    return maker->steps()->Constant(sums.data(), sums.size() * sizeof(float));
  }

  /*! \brief ONNX has those of input, output and forget gate; oneDNN input, forget, output. */
  Location PackPeephole(Maker* maker) const {
    constexpr size_t kOrder[] = {0, 2, 1};
    const Operand operand(*given_.peephole, "peephole");
    const Desc desc = PlainDesc(operand.shape, DType::f32);
    if (IsAsked(operand)) return maker->steps()->Constant(nullptr, desc, desc);
    const Floats given(operand, Sizes::Integers({sizes_.directions, 3 * sizes_.hidden}));
    std::vector<float> turned;
    for (size_t d = 0; d < sizes_.directions; ++d) {
      for (const size_t gate : kOrder) {
        const float* from = given.at((3 * d + gate) * sizes_.hidden);
        turned.insert(turned.end(), from, from + sizes_.hidden);
      }
    }
    return maker->steps()->Constant(turned.data(), turned.size() * sizeof(float));
  }

  Argument BindState(int name, const std::optional<GivenOperand>& given, const char* argument,
                     const Desc& desc, Maker* maker) const {
    const Operand operand(*given, argument);
    Dims expected = desc.get_dims();
    expected.erase(expected.begin());
    CheckShape(operand, expected);
    CheckSameType(operand, x_);
    if (!operand.is_constant() && operand.type != desc.get_data_type()) {
      MXNET_THROW("NotImplementedError")
          << argument << ": expected float32, got " << runtime::DataTypeName(operand.dtype);
    }
    return maker->Bind(name, operand, operand.Offered().reshape(desc.get_dims()), desc);
  }

  template <typename PrimitiveDesc>
  void Finish(const PrimitiveDesc& desc, Maker* maker) {
    std::vector<Argument> arguments{maker->Bind(DNNL_ARG_SRC_LAYER, x_, desc.src_layer_desc())};
    if (given_.initial_h) {
      arguments.push_back(
          BindState(DNNL_ARG_SRC_ITER, given_.initial_h, "initial_h", desc.src_iter_desc(), maker));
    }
    if constexpr (std::is_same_v<PrimitiveDesc, dnnl::lstm_forward::primitive_desc>) {
      if (given_.initial_c) {
        arguments.push_back(BindState(DNNL_ARG_SRC_ITER_C, given_.initial_c, "initial_c",
                                      desc.src_iter_c_desc(), maker));
      }
      if (given_.peephole) {
        arguments.push_back(
            {DNNL_ARG_WEIGHTS_PEEPHOLE, desc.weights_peephole_desc(), PackPeephole(maker)});
      }
    }
    const auto pack = [&](int name, const Operand& operand, const Desc& wanted) {
      arguments.push_back({name, wanted, PackWeights(operand, wanted, maker)});
    };
    pack(DNNL_ARG_WEIGHTS_LAYER, weight_, desc.weights_layer_desc());
    pack(DNNL_ARG_WEIGHTS_ITER, recurrent_, desc.weights_iter_desc());
    arguments.push_back({DNNL_ARG_BIAS, desc.bias_desc(), PackBias(maker)});
    // Its products are those of a fast library, whatever it is called.
    maker->TrustReference();
    const Dims all = Extents(x_.shape[0], x_.shape[1]);
    const Dims last(all.begin() + 1, all.end());
    const bool is_double = sizes_.directions > 1;
    const Desc whole = PlainDesc(all, x_.type);
    const Argument output = maker->Output(DNNL_ARG_TO, whole, x_.dtype, all);
    // oneDNN has both directions as one axis, behind that of the batch.
    Argument layer{DNNL_ARG_DST_LAYER, desc.dst_layer_desc(), output.location};
    if (is_double) layer.location = maker->steps()->Workspace(layer.desc.get_size());
    arguments.push_back(layer);
    arguments.push_back(maker->Output(DNNL_ARG_DST_ITER, desc.dst_iter_desc(), x_.dtype, last));
    if constexpr (std::is_same_v<PrimitiveDesc, dnnl::lstm_forward::primitive_desc>) {
      arguments.push_back(
          maker->Output(DNNL_ARG_DST_ITER_C, desc.dst_iter_c_desc(), runtime::kFloat32, last));
    }
    maker->Add(desc, std::move(arguments));
    if (!is_double) return;
    const Desc from =
        PlainDesc({all[0], all[2], all[1], all[3]}, x_.type).permute_axes({0, 2, 1, 3});
    const dnnl::reorder::primitive_desc turn(Engine(), from, Engine(), whole, AttributesWith());
    maker->Add(turn, {{DNNL_ARG_FROM, from, layer.location}, output});
  }

  const RecurrentArguments& given_;
  const Cell& cell_;
  const rnn_direction direction_;
  const Operand x_;
  const Operand weight_;
  const Operand recurrent_;
  Sizes sizes_;
};

}  // namespace

Primitive MakeRecurrent(const RecurrentArguments& given) {
  return Make("recurrent", [&](Maker* maker) { Recurrent(given).Make(maker); });
}

}  // namespace onednn
}  // namespace mxnet
