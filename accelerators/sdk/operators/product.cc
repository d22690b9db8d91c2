#include "product.h"

#include <algorithm>
#include <vector>

#include "../status.h"

namespace mxacc {
namespace {

constexpr char kMismatch[] = "arrays whose shapes do not go together";

struct Inputs {
  const MXAccDLTensor& a;
  const MXAccDLTensor& b;
  const MXAccDLTensor& out;
};

Inputs FindInputs(const Request& request, const char* a, const char* b) {
  const MXAccDLTensor* first = request.FindInput(a);
  const MXAccDLTensor* second = request.FindInput(b);
  if (first == nullptr || second == nullptr) Unsupported(request.name() + " with a number");
  return {*first, *second, request.output()};
}

/*! \brief Walks over the axes of the output, checking their extents. */
class OutputAxes {
 public:
  explicit OutputAxes(const MXAccDLTensor& out) : out_(out) {}
  int64_t Next(int64_t extent) {
    if (at_ >= out_.ndim || out_.shape[at_] != extent) Unsupported(kMismatch);
    return out_.strides[at_++];
  }

 private:
  const MXAccDLTensor& out_;
  int32_t at_{0};
};

/*! \brief Sums over pairs of axes; the output has the others of a, then those of b. */
ProductAxes Contract(const Inputs& inputs, const std::vector<int32_t>& a_axes,
                     const std::vector<int32_t>& b_axes) {
  ProductAxes axes;
  OutputAxes out(inputs.out);
  const auto has = [](const std::vector<int32_t>& list, int32_t axis) {
    return std::find(list.begin(), list.end(), axis) != list.end();
  };
  if (a_axes.size() != b_axes.size()) Unsupported(kMismatch);
  for (size_t i = 0; i < a_axes.size(); ++i) {
    const int64_t extent = inputs.a.shape[a_axes[i]];
    if (extent != inputs.b.shape[b_axes[i]]) Unsupported(kMismatch);
    axes.summed.Add(extent, {0, inputs.a.strides[a_axes[i]], inputs.b.strides[b_axes[i]]});
  }
  for (int32_t i = 0; i < inputs.a.ndim; ++i) {
    if (has(a_axes, i)) continue;
    const int64_t extent = inputs.a.shape[i];
    axes.rows.Add(extent, {out.Next(extent), inputs.a.strides[i], 0});
  }
  for (int32_t i = 0; i < inputs.b.ndim; ++i) {
    if (has(b_axes, i)) continue;
    const int64_t extent = inputs.b.shape[i];
    axes.columns.Add(extent, {out.Next(extent), 0, inputs.b.strides[i]});
  }
  return axes;
}

/*! \brief Over the last axis of a and an axis of b, counted from its end. */
ProductAxes SumOverLast(const Inputs& inputs, int32_t from_end) {
  if (inputs.a.ndim == 0 || inputs.b.ndim == 0) Unsupported("a product with a number");
  return Contract(inputs, {inputs.a.ndim - 1}, {std::max(0, inputs.b.ndim - from_end)});
}

ProductAxes MatMulAxes(const Inputs& inputs) {
  const MXAccDLTensor& a = inputs.a;
  const MXAccDLTensor& b = inputs.b;
  if (a.ndim == 0 || b.ndim == 0) Unsupported("matmul of a number");
  ProductAxes axes;
  OutputAxes out(inputs.out);
  const int32_t a_batch = std::max(a.ndim - 2, 0);
  const int32_t b_batch = std::max(b.ndim - 2, 0);
  const int32_t batch = std::max(a_batch, b_batch);
  for (int32_t i = 0; i < batch; ++i) {
    const int32_t of_a = i - (batch - a_batch);
    const int32_t of_b = i - (batch - b_batch);
    const int64_t a_extent = of_a < 0 ? 1 : a.shape[of_a];
    const int64_t b_extent = of_b < 0 ? 1 : b.shape[of_b];
    const int64_t extent = a_extent == 1 ? b_extent : a_extent;
    if (b_extent != 1 && b_extent != extent) Unsupported(kMismatch);
    axes.batch.Add(extent, {out.Next(extent), a_extent == 1 ? 0 : a.strides[of_a],
                            b_extent == 1 ? 0 : b.strides[of_b]});
  }
  const int32_t b_summed = b.ndim == 1 ? 0 : b.ndim - 2;
  const int64_t extent = a.shape[a.ndim - 1];
  if (extent != b.shape[b_summed]) Unsupported(kMismatch);
  axes.summed.Add(extent, {0, a.strides[a.ndim - 1], b.strides[b_summed]});
  if (a.ndim > 1) {
    const int64_t rows = a.shape[a.ndim - 2];
    axes.rows.Add(rows, {out.Next(rows), a.strides[a.ndim - 2], 0});
  }
  if (b.ndim > 1) {
    const int64_t columns = b.shape[b.ndim - 1];
    axes.columns.Add(columns, {out.Next(columns), 0, b.strides[b.ndim - 1]});
  }
  return axes;
}

ProductAxes OuterAxes(const Inputs& inputs) {
  ProductAxes axes;
  if (inputs.out.ndim != 2) Unsupported(kMismatch);
  const auto add = [&](const MXAccDLTensor& tensor, int32_t side) {
    int64_t step = inputs.out.strides[side];
    std::vector<int64_t> steps(static_cast<size_t>(tensor.ndim));
    for (int32_t i = tensor.ndim - 1; i >= 0; --i) {
      steps[static_cast<size_t>(i)] = step;
      step *= tensor.shape[i];
    }
    for (int32_t i = 0; i < tensor.ndim; ++i) {
      const int64_t out = steps[static_cast<size_t>(i)];
      if (side == 0) axes.rows.Add(tensor.shape[i], {out, tensor.strides[i], 0});
      if (side == 1) axes.columns.Add(tensor.shape[i], {out, 0, tensor.strides[i]});
    }
  };
  add(inputs.a, 0);
  add(inputs.b, 1);
  return axes;
}

/*! \brief Axes given as an int or a list of them, none twice. */
std::vector<int32_t> AxesOf(const AttributeValue& value, int32_t ndim) {
  const bool is_list = value.kind == AttributeValue::Kind::kArray;
  const std::vector<AttributeValue> items =
      is_list ? value.items : std::vector<AttributeValue>{value};
  std::vector<int32_t> axes;
  for (const AttributeValue& item : items) {
    const int64_t axis = item.integer < 0 ? item.integer + ndim : item.integer;
    const bool right = item.kind == AttributeValue::Kind::kInt && axis >= 0 && axis < ndim &&
                       std::find(axes.begin(), axes.end(), axis) == axes.end();
    if (!right) Unsupported("tensordot over axes that the array has not");
    axes.push_back(static_cast<int32_t>(axis));
  }
  return axes;
}

ProductAxes TensorDotAxes(const Request& request, const Inputs& inputs) {
  const std::optional<AttributeValue> given = request.Attribute("axes");
  AttributeValue count;
  count.kind = AttributeValue::Kind::kInt;
  count.integer = 2;
  const AttributeValue& axes = given ? *given : count;
  if (axes.kind == AttributeValue::Kind::kArray && axes.items.size() == 2) {
    return Contract(inputs, AxesOf(axes.items[0], inputs.a.ndim),
                    AxesOf(axes.items[1], inputs.b.ndim));
  }
  const int64_t limit = std::min(inputs.a.ndim, inputs.b.ndim);
  if (axes.kind != AttributeValue::Kind::kInt || axes.integer > limit) {
    Unsupported("tensordot over axes that the arrays have not");
  }
  std::vector<int32_t> of_a;
  std::vector<int32_t> of_b;
  for (int32_t i = 0; i < axes.integer; ++i) {
    of_a.push_back(inputs.a.ndim - static_cast<int32_t>(axes.integer) + i);
    of_b.push_back(i);
  }
  return Contract(inputs, of_a, of_b);
}

ProductAxes FindAxes(const Request& request, const Inputs& inputs) {
  const std::string name = request.name();
  if (name == "matmul") return MatMulAxes(inputs);
  if (name == "dot") return SumOverLast(inputs, 2);
  if (name == "inner") return SumOverLast(inputs, 1);
  if (name == "outer") return OuterAxes(inputs);
  return TensorDotAxes(request, inputs);
}

}  // namespace

std::optional<Product> FindProduct(const Request& request) {
  static const char* const kNames[] = {"matmul", "dot", "inner", "outer", "tensordot"};
  const std::string name = request.name();
  if (std::find(std::begin(kNames), std::end(kNames), name) == std::end(kNames)) {
    return std::nullopt;
  }
  const bool is_matmul = name == "matmul";
  const char* const of_a = is_matmul ? "x1" : "a";
  const char* const of_b = is_matmul ? "x2" : "b";
  if (is_matmul) {
    request.CheckNames({of_a, of_b});
  } else {
    request.CheckNames({of_a, of_b, "axes"});
  }
  const Inputs inputs = FindInputs(request, of_a, of_b);
  Product product{request.IndexOf(inputs.a),
                  request.IndexOf(inputs.b),
                  DTypeOf(inputs.a.dtype),
                  DTypeOf(inputs.b.dtype),
                  DType::kBool,
                  FindAxes(request, inputs)};
  product.dtype = Promote(product.of_a, product.of_b);
  request.CheckOutput(product.dtype);
  return product;
}

ReduceAxes AsReduction(const ProductAxes& axes) {
  ReduceAxes reducer;
  for (const Axes* part : {&axes.batch, &axes.rows, &axes.columns}) {
    for (size_t i = 0; i < part->shape.size(); ++i) {
      reducer.kept.Add(part->shape[i],
                       {part->strides[0][i], part->strides[1][i], part->strides[2][i]});
    }
  }
  for (size_t i = 0; i < axes.summed.shape.size(); ++i) {
    reducer.reduced.Add(axes.summed.shape[i],
                        {axes.summed.strides[1][i], axes.summed.strides[2][i]});
  }
  return reducer;
}

}  // namespace mxacc
