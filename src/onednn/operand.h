/*!
 * \file operand.h
 * \brief What a maker is told of an input: data, of which a run brings the elements, or a constant.
 */
#ifndef MXNET_SRC_ONEDNN_OPERAND_H_
#define MXNET_SRC_ONEDNN_OPERAND_H_

#include <mxnet/runtime/ndarray.h>
#include <mxnet/runtime/stl.h>

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "onednn/layout.h"

namespace mxnet {
namespace onednn {

/*! \brief Data, as Python describes it: "mx.onednn.Input". */
struct Input {
  std::vector<int64_t> shape;
  DLDataType dtype;
  std::optional<runtime::Ref<Layout>> layout; /*!< that it is offered in; row-major where empty */
  bool keep;                                  /*!< whether no other layout is wanted */
};

}  // namespace onednn
}  // namespace mxnet

MXNET_DECLARE_CLASS(mxnet::onednn::Input, "mx.onednn.Input");

namespace mxnet {
namespace onednn {

/*! \brief As Python passes it: an array is a constant. */
using GivenOperand = std::variant<runtime::Ref<Input>, runtime::NDArray>;

struct Operand {
  /*! \brief name is that of the argument. Errors for what oneDNN has no arrays of. */
  Operand(const GivenOperand& given, std::string name);

  bool is_constant() const { return constant.defined(); }
  /*! \brief () where shape, as oneDNN has no such arrays, is (1,). */
  Dims GivenShape() const { return is_scalar ? Dims() : shape; }
  int ndim() const { return static_cast<int>(shape.size()); }
  /*! \brief In the layout that it is offered in; a constant as it lies. */
  Desc Offered() const {
    // A stride along an axis of one element means nothing, and may be none that oneDNN takes.
    return offered && !IsPlain(*offered) ? *offered : PlainDesc(shape, type);
  }
  /*! \brief In any layout, where no other is to be kept. */
  Desc Wished() const { return keep ? Offered() : AnyDesc(shape, type); }
  bool is_plain() const { return !offered || IsPlain(*offered); }

  std::string name;
  Dims shape;
  DLDataType dtype;
  DType type;
  std::optional<Desc> offered;
  bool keep{false};
  bool is_scalar{false};
  runtime::NDArray constant;
};

/*! \brief None where nothing is given. */
std::optional<Operand> OperandOf(const std::optional<GivenOperand>& given, const char* name);

/*! \brief An axis counted from the beginning; ValueError, naming the argument, where there is none.
 */
size_t AxisOf(int64_t axis, int ndim, const char* argument);

/*! \brief ValueError for another number of axes. */
void CheckAxes(const Operand& operand, int least, int most);
/*! \brief TypeError for data of another type than x has; constants are converted. */
void CheckSameType(const Operand& operand, const Operand& x);
/*! \brief ValueError for another shape. */
void CheckShape(const Operand& operand, const Dims& expected);

}  // namespace onednn
}  // namespace mxnet

#endif  // MXNET_SRC_ONEDNN_OPERAND_H_
