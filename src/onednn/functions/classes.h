/*!
 * \file classes.h
 * \brief What makers take and give, as Python has it.
 */
#ifndef MXNET_SRC_ONEDNN_FUNCTIONS_CLASSES_H_
#define MXNET_SRC_ONEDNN_FUNCTIONS_CLASSES_H_

#include <mxnet/op/kernel.h>
#include <mxnet/runtime/class.h>
#include <mxnet/runtime/registry.h>
#include <mxnet/runtime/stl.h>

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "onednn/makers.h"

MXNET_DECLARE_CLASS(mxnet::onednn::Layout, "mx.onednn.Layout");
MXNET_DECLARE_CLASS(mxnet::onednn::Input, "mx.onednn.Input");
MXNET_DECLARE_CLASS(mxnet::onednn::Weight, "mx.onednn.Weight");

namespace mxnet {
namespace onednn {
namespace python {

using runtime::NDArray;
using runtime::Ref;

/*! \brief None for row-major. */
using MaybeLayout = std::optional<Ref<Layout>>;
/*! \brief A weight or an array is a constant. */
using Operand = std::variant<Ref<Input>, Ref<Weight>, NDArray>;

struct PostOp {
  std::string kind;
  std::optional<double> alpha;
  std::optional<double> beta;
  std::optional<Operand> operand;
};

struct Primitive {
  Ref<op::Kernel> kernel;
  std::vector<MaybeLayout> inputs;
  std::vector<MaybeLayout> outputs;
  std::string implementation;
  bool is_reference;
};

}  // namespace python
}  // namespace onednn
}  // namespace mxnet

MXNET_DECLARE_CLASS(mxnet::onednn::python::PostOp, "mx.onednn.PostOp");
MXNET_DECLARE_CLASS(mxnet::onednn::python::Primitive, "mx.onednn.Primitive");

namespace mxnet {
namespace onednn {
namespace python {

using PostOps = std::optional<std::vector<Ref<PostOp>>>;

/* ---- as makers have it: valid as long as what it is made of ---- */

GivenOperand Given(const Operand& operand);
std::optional<GivenOperand> Given(const std::optional<Operand>& operand);
onednn::MaybeLayout Given(const MaybeLayout& layout);
onednn::PostOp Given(const PostOp& post);
GivenPostOps Given(const PostOps& posts);
std::vector<GivenOperand> Given(const std::vector<Operand>& operands);

/* ---- as Python has it ---- */

MaybeLayout Told(const onednn::MaybeLayout& layout);
Ref<Primitive> Told(onednn::Primitive made);

}  // namespace python
}  // namespace onednn
}  // namespace mxnet

#endif  // MXNET_SRC_ONEDNN_FUNCTIONS_CLASSES_H_
