#include "onednn/functions/classes.h"

#include <cstring>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "onednn/openmp.h"
#include "onednn/threads.h"

namespace mxnet {
namespace onednn {

int NumThreads() {
  static const auto* get =
      new runtime::PackedFunc(runtime::PackedFunc::GetGlobal("mx.get_num_threads"));
  return static_cast<int>((*get)().As<int64_t>());
}

op::ThreadPool* Pool() {
  static const auto get = reinterpret_cast<op::ThreadPool* (*)()>(
      runtime::PackedFunc::GetGlobal("mx.thread_pool")().As<void*>());
  return get();
}

namespace python {

GivenOperand Given(const Operand& operand) {
  if (const auto* input = std::get_if<Ref<Input>>(&operand)) return **input;
  if (const auto* given = std::get_if<Ref<Weight>>(&operand)) {
    Weight& weight = **given;
    const Dims strides = RowMajorStrides(weight.shape());
    return Constant{nullptr, weight.shape(), strides, weight.dtype(), {kDLCPU, 0}, &weight};
  }
  const auto& array = std::get<NDArray>(operand);
  return Constant{runtime::TensorData(array.tensor()),
                  Dims(array.shape().begin(), array.shape().end()),
                  Dims(array.strides().begin(), array.strides().end()), array.dtype(), array.ctx()};
}

std::optional<GivenOperand> Given(const std::optional<Operand>& operand) {
  if (!operand) return std::nullopt;
  return Given(*operand);
}

onednn::MaybeLayout Given(const MaybeLayout& layout) {
  if (!layout) return std::nullopt;
  return **layout;
}

onednn::PostOp Given(const PostOp& post) {
  return {post.kind, post.alpha, post.beta, Given(post.operand)};
}

GivenPostOps Given(const PostOps& posts) {
  GivenPostOps given;
  if (!posts) return given;
  for (const Ref<PostOp>& post : *posts) given.push_back(Given(*post));
  return given;
}

std::vector<GivenOperand> Given(const std::vector<Operand>& operands) {
  std::vector<GivenOperand> given;
  for (const Operand& operand : operands) given.push_back(Given(operand));
  return given;
}

MaybeLayout Told(const onednn::MaybeLayout& layout) {
  if (!layout) return std::nullopt;
  return Ref<Layout>::Make(*layout);
}

Ref<Primitive> Told(onednn::Primitive made) {
  const auto told = [](const std::vector<onednn::MaybeLayout>& layouts) {
    std::vector<MaybeLayout> all;
    for (const onednn::MaybeLayout& layout : layouts) all.push_back(Told(layout));
    return all;
  };
  const size_t workspace = made.steps->workspace_bytes();
  Ref<op::Kernel> kernel =
      op::MakeKernel(std::move(made.name), std::move(made.inputs), std::move(made.outputs),
                     std::move(made.steps), workspace);
  return Ref<Primitive>::Make(Primitive{std::move(kernel), told(made.input_layouts),
                                        told(made.output_layouts), made.implementation,
                                        made.is_reference});
}

namespace {

MXNET_REGISTER_CLASS(Layout, "mx.onednn.Layout")
    .describe("How oneDNN has the elements of an array in memory.")
    .def_static(
        "plain",
        [](const std::vector<int64_t>& shape, DLDataType dtype) {
          const DType type = TypeOf(dtype, "mx.onednn.Layout.plain: dtype");
          return Translated([&] { return Layout(PlainDesc(shape, type), dtype); });
        },
        "Row-major.")
    .arg("shape")
    .arg("dtype", runtime::kFloat32)
    .def_property("shape", &Layout::shape, "The logical shape.")
    .def_property("dtype", &Layout::dtype, "The type of the elements.")
    .def_property("bytes", &Layout::bytes, "How much memory it takes, with what fills blocks up.")
    .def_property("is_plain", &Layout::is_plain, "Whether it is row-major without gaps.")
    .def_property("text", &Layout::Text, "As oneDNN writes it: 'aBcd16b f32'.")
    .def("permuted", &Layout::Permuted, "The same memory seen with its axes in another order.")
    .arg("axes", "Which axis each of the new ones is.")
    .def("reshaped", &Layout::Reshaped, "The same memory seen in another shape.")
    .arg("shape", "ValueError where blocks do not allow it.")
    .def("__repr__",
         [](const Layout& self) {
           return "<mx.onednn.Layout " + self.Text() + " " + Text(self.shape()) + ">";
         })
    .def("__hash__", &Layout::Hash)
    .def_eq();

MXNET_REGISTER_CLASS(Input, "mx.onednn.Input")
    .describe("The spec of data that a kernel reads, and the layout that it is offered in.")
    .def_init([](std::vector<int64_t> shape, DLDataType dtype, std::optional<Ref<Layout>> layout,
                 bool keep) {
      if (layout && ((*layout)->shape() != (shape.empty() ? Dims{1} : shape) ||
                     !((*layout)->dtype() == dtype))) {
        MXNET_THROW("ValueError") << "mx.onednn.Input: layout: expected one of "
                                  << runtime::DataTypeName(dtype) << " and the shape "
                                  << Text(shape) << ", got " << (*layout)->Text()
                                  << " and the shape " << Text((*layout)->shape());
      }
      return Input{std::move(shape), dtype, Given(layout), keep};
    })
    .arg("shape", "The logical shape.")
    .arg("dtype", runtime::kFloat32, "The type of the elements.")
    .arg("layout", nullptr, "That it is offered in; row-major where None.")
    .arg("keep", false, "Whether it stays in that layout, whatever the primitive would like.")
    .def_readonly("shape", &Input::shape, "The logical shape.")
    .def_readonly("dtype", &Input::dtype, "The type of the elements.")
    .def_property(
        "layout", [](const Input& self) { return Told(self.layout); }, "That it is offered in.")
    .def_readonly("keep", &Input::keep, "Whether it stays in that layout.");

MXNET_REGISTER_CLASS(Weight, "mx.onednn.Weight")
    .describe("A constant that many kernels may read: packed once for each layout that they want.")
    .def_init([](const NDArray& array) {
      if (array.ctx().device_type != kDLCPU || !runtime::IsContiguous(array.tensor())) {
        MXNET_THROW("ValueError") << "mx.onednn.Weight: array: expected one on the CPU whose "
                                  << "elements are row-major without gaps";
      }
      const Weight::Elements elements(runtime::TensorData(array.tensor()), [array](const void*) {});
      return Ref<Weight>::Make(elements, Dims(array.shape().begin(), array.shape().end()),
                               array.dtype());
    })
    .arg("array", "The elements, which do not change any more.")
    .def_static(
        "packed",
        [](std::vector<int64_t> shape, DLDataType dtype,
           const std::vector<std::tuple<std::string, std::string, NDArray>>& forms) {
          std::vector<Weight::Form> kept;
          for (const auto& [lies, wanted, array] : forms) {
            if (array.ctx().device_type != kDLCPU || !runtime::IsContiguous(array.tensor())) {
              MXNET_THROW("ValueError") << "mx.onednn.Weight.packed: forms: expected arrays on the "
                                        << "CPU whose elements are row-major without gaps";
            }
            const auto bytes =
                static_cast<size_t>(SizeOf(Dims(array.shape().begin(), array.shape().end()))) *
                static_cast<size_t>(runtime::ItemSize(array.dtype()));
            const Weight::Elements data(runtime::TensorData(array.tensor()),
                                        [array = array](const void*) {});
            kept.push_back({lies, wanted, data, bytes});
          }
          return Ref<Weight>::Make(std::move(kept), Dims(std::move(shape)), dtype);
        },
        "One that has but packed elements, which another process has got from `forms`.")
    .arg("shape")
    .arg("dtype")
    .arg("forms", "Texts of the layouts, from which and to which, and the bytes.")
    .def(
        "forms",
        [](const Weight& self) {
          std::vector<std::tuple<std::string, std::string, NDArray>> forms;
          for (const Weight::Form& one : self.Forms()) {
            const auto bytes = static_cast<int64_t>(one.bytes);
            NDArray array = NDArray::Empty(runtime::ShapeView(&bytes, 1), runtime::kUInt8);
            std::memcpy(array.data(), one.data.get(), one.bytes);
            forms.emplace_back(one.lies, one.wanted, std::move(array));
          }
          return forms;
        },
        "All that it is packed to, for `packed`: copies.")
    .def(
        "array",
        [](Weight& self) {
          const runtime::ShapeView shape(self.shape().data(), self.shape().size());
          NDArray array = NDArray::Empty(shape, self.dtype());
          const size_t bytes = static_cast<size_t>(runtime::ItemSize(self.dtype()));
          std::memcpy(array.data(), self.Get().get(),
                      bytes * static_cast<size_t>(SizeOf(self.shape())));
          return array;
        },
        "A copy of the elements, which are made again where they were released.")
    .def("release", &Weight::Release,
         "Gives the elements up, where a packed form has all of them; returns whether they are.")
    .def_property(
        "shape", [](const Weight& self) { return self.shape(); }, "The logical shape.")
    .def_property(
        "dtype", [](const Weight& self) { return self.dtype(); }, "The type of the elements.")
    .def_property(
        "num_packed", [](const Weight& self) { return static_cast<int64_t>(self.num_packed()); },
        "For how many layouts it is packed.");

MXNET_REGISTER_CLASS(PostOp, "mx.onednn.PostOp")
    .describe("What a primitive does to its result before it writes it.")
    .def_init([](std::string kind, std::optional<double> alpha, std::optional<double> beta,
                 std::optional<Operand> operand) {
      PostOp post{std::move(kind), alpha, beta, std::move(operand)};
      CheckPostOp(Given(post));
      return post;
    })
    .arg("kind", "'relu', 'clip', 'add', ...; 'sum' adds to what is in the output's memory.")
    .arg("alpha", nullptr, "The first number of the kind; its usual value where None.")
    .arg("beta", nullptr, "The second number of the kind.")
    .arg("operand", nullptr,
         "The second operand: an Input, which is one of the kernel then, or a constant.")
    .def_readonly("kind", &PostOp::kind, "What it does.")
    .def_readonly("alpha", &PostOp::alpha, "The first number.")
    .def_readonly("beta", &PostOp::beta, "The second number.")
    .def_readonly("operand", &PostOp::operand, "The second operand, or None.");

MXNET_REGISTER_CLASS(Primitive, "mx.onednn.Primitive")
    .describe("A kernel of oneDNN, with the layouts that it reads and writes.")
    .def_readonly("kernel", &Primitive::kernel, "What a plan runs.")
    .def_readonly("inputs", &Primitive::inputs,
                  "The layout that each input has to be brought to; None for row-major.")
    .def_readonly("outputs", &Primitive::outputs, "The layout of each output.")
    .def_property(
        "output", [](const Primitive& self) { return self.outputs.at(0); },
        "The layout of the first output; None for row-major.")
    .def_readonly("implementation", &Primitive::implementation, "As oneDNN calls it.")
    .def_readonly("is_reference", &Primitive::is_reference,
                  "Whether it is slow, as oneDNN has but code for reference.");

}  // namespace
}  // namespace python
}  // namespace onednn
}  // namespace mxnet
