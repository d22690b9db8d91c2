/*!
 * \file tensor_spec.cc
 * \brief Asking an operator what it gives, from Python.
 */
#include "api/call/tensor_spec.h"

#include <mxnet/op/dims.h>
#include <mxnet/op/extent.h>
#include <mxnet/runtime/container/array.h>

#include "api/call/outputs.h"
#include "op/semantics/dispatch.h"

namespace mxnet {
namespace op {
namespace {

int64_t ExtentOf(const TensorSpec::Extent& extent) {
  if (const auto* known = std::get_if<int64_t>(&extent)) {
    if (*known < 0) MXNET_THROW("ValueError") << "an extent is " << *known;
    return *known;
  }
  const auto& name = std::get<std::string>(extent);
  int64_t symbol = 0;
  // The C name of a text with a NUL would be another.
  const bool is_c_text = name.find('\0') == std::string::npos;
  MXNET_CHECK_CALL(MXNetExtentSymbol(is_c_text ? name.c_str() : "", &symbol));
  return symbol;
}

MXNET_REGISTER_CLASS(TensorSpec, "mx.TensorSpec")
    .describe("A tensor without its elements: a shape and an element type.")
    .def_init<std::vector<TensorSpec::Extent>, DLDataType>()
    .arg(
        "shape",
        "Extents: numbers, or for those that are not known names of symbols, or texts as shape has "
        "them, '2*n + 1'.")
    .arg("dtype", "Element type.")
    .def_property("shape", &TensorSpec::shape, "Extents: numbers, and texts of symbolic ones.")
    .def_property("dtype", &TensorSpec::dtype, "Element type.")
    .def_eq()
    .def("__hash__", &TensorSpec::hash);

MXNET_REGISTER_API("mx.op.infer")
    .describe(
        "What an operator gives for arguments, of which arrays may be specs; nothing is computed. "
        "Raises what a call would raise, and NotImplementedError for what is no operator.")
    .add_argument("operator", "ffi.Function", "The operator.")
    .add_variadic("args", "Any", "Its arguments in order.")
    .returns("Sequence[TensorSpec]")
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      std::vector<Ref<TensorSpec>> specs;
      for (const TensorSpec& spec : InferSpecs(args)) specs.push_back(Ref<TensorSpec>::Make(spec));
      *ret = Array<Ref<TensorSpec>>(specs);
    });

MXNET_REGISTER_API("mx.op.version")
    .describe("The version of an operator's meaning. NotImplementedError for what is no operator.")
    .add_argument("operator", "ffi.Function", "The operator.")
    .returns("int")
    .set_body_typed([](const PackedFunc& func) {
      const MXNetFuncInfo* info = nullptr;
      MXNET_CHECK_CALL(MXNetFuncGetInfo(func.get(), &info));
      if (info->op == nullptr) {
        MXNET_THROW("NotImplementedError")
            << info->name << ": it is no operator, and has no version";
      }
      return static_cast<const MXNetOperator*>(info->op)->version;
    });

}  // namespace

std::vector<TensorSpec> InferSpecs(const MXNetArgs& args) {
  const PackedFunc func = args[0].As<PackedFunc>();
  // More outputs are asked for a second time.
  int room = 4;
  while (true) {
    int count = room;
    std::vector<DimBuffer> shapes(static_cast<size_t>(room));
    std::vector<MXNetTensorSpec> specs;
    for (DimBuffer& shape : shapes) specs.push_back({{}, {}, 0, kMXNetWeakNone, shape.data});
    MXNET_CHECK_CALL(MXNetOperatorInfer(func.get(), args.values + 1, args.type_codes + 1,
                                        args.size() - 1, specs.data(), &count));
    if (count <= room) {
      return std::vector<TensorSpec>(specs.begin(), specs.begin() + count);
    }
    CheckRoomFor(count, 2 * sizeof(DimBuffer));
    room = count;
  }
}

TensorSpec::TensorSpec(const std::vector<Extent>& shape, DLDataType dtype) : dtype_(dtype) {
  CheckedIndexOfDType(dtype);
  if (shape.size() > kMaxNdim) {
    MXNET_THROW("ValueError") << "an array has 0 to " << kMaxNdim << " dimensions, got "
                              << shape.size();
  }
  for (const Extent& extent : shape) shape_.push_back(ExtentOf(extent));
}

int64_t TensorSpec::hash() const {
  uint64_t hash = static_cast<uint64_t>(dtype_.code) << 16 | static_cast<uint64_t>(dtype_.bits);
  for (int64_t extent : shape_) hash = hash * 0x9e3779b97f4a7c15 + static_cast<uint64_t>(extent);
  return static_cast<int64_t>(hash);
}

std::vector<TensorSpec::Extent> TensorSpec::shape() const {
  std::vector<Extent> shape;
  for (int64_t extent : shape_) shape.push_back(Written(extent));
  return shape;
}

TensorSpec::Extent TensorSpec::Written(int64_t extent) {
  return IsSymbolic(extent) ? Extent(ExtentText(extent)) : Extent(extent);
}

}  // namespace op
}  // namespace mxnet
