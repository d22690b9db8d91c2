#include "onednn/operand.h"

#include <algorithm>

namespace mxnet {
namespace onednn {
namespace {

void CheckExtents(const Dims& shape, const std::string& name) {
  if (shape.size() > DNNL_MAX_NDIMS) {
    MXNET_THROW("NotImplementedError") << name << ": expected at most " << DNNL_MAX_NDIMS
                                       << " axes, got the shape " << Text(shape);
  }
  if (std::any_of(shape.begin(), shape.end(), [](int64_t extent) { return extent < 1; })) {
    MXNET_THROW("ValueError") << name << ": expected extents of 1 or more, got the shape "
                              << Text(shape);
  }
}

/*! \brief How the elements of an array lie. Strides of axes of extent 1 mean nothing, and get the
 * value that they would have without gaps. */
Desc StridedDesc(Dims strides, const Dims& shape, DType type, const std::string& name) {
  strides.resize(shape.size(), 1);
  for (size_t i = strides.size(); i-- > 0;) {
    if (shape[i] == 1) strides[i] = i + 1 < strides.size() ? strides[i + 1] * shape[i + 1] : 1;
    if (strides[i] < 0) {
      MXNET_THROW("ValueError") << name << ": expected a constant without negative strides";
    }
  }
  return Desc(shape, type, strides);
}

}  // namespace

Operand::Operand(const GivenOperand& given, std::string argument) : name(std::move(argument)) {
  if (const auto* elements = std::get_if<Constant>(&given)) {
    if (elements->device.device_type != kDLCPU) {
      MXNET_THROW("ValueError") << name << ": expected an array on the CPU";
    }
    constant = *elements;
    shape = elements->shape;
    dtype = elements->dtype;
  } else {
    const Input& input = std::get<Input>(given);
    shape = input.shape;
    dtype = input.dtype;
    keep = input.keep;
    if (input.layout) offered = input.layout->desc();
  }
  CheckExtents(shape, name);
  is_scalar = shape.empty();
  if (is_scalar) shape = {1};
  type = TypeOf(dtype, name);
  if (constant) offered = StridedDesc(constant->strides, shape, type, name);
}

std::optional<Operand> OperandOf(const std::optional<GivenOperand>& given, const char* name) {
  if (!given) return std::nullopt;
  return Operand(*given, name);
}

size_t AxisOf(int64_t axis, int ndim, const char* argument) {
  if (axis >= -ndim && axis < ndim) return static_cast<size_t>(axis < 0 ? axis + ndim : axis);
  MXNET_THROW("ValueError") << argument << ": expected " << -ndim << " to " << ndim - 1 << ", got "
                            << axis;
}

void CheckAxes(const Operand& operand, int least, int most) {
  if (operand.ndim() >= least && operand.ndim() <= most) return;
  MXNET_THROW("ValueError") << operand.name << ": expected " << least
                            << (most > least ? " to " + std::to_string(most) : "")
                            << " axes, got the shape " << Text(operand.shape);
}

void CheckSameType(const Operand& operand, const Operand& x) {
  if (operand.is_constant()) return CheckFloat(operand.dtype, operand.name);
  if (operand.dtype == x.dtype) return;
  MXNET_THROW("TypeError") << operand.name << ": expected " << runtime::DataTypeName(x.dtype)
                           << " as " << x.name << " is, got "
                           << runtime::DataTypeName(operand.dtype);
}

void CheckShape(const Operand& operand, const Dims& expected) {
  if (operand.shape == expected) return;
  MXNET_THROW("ValueError") << operand.name << ": expected the shape " << Text(expected) << ", got "
                            << Text(operand.shape);
}

}  // namespace onednn
}  // namespace mxnet
