/*!
 * \file operand.h
 * \brief What a maker is told of an input: data, of which a run brings the elements, or a constant.
 */
#ifndef MXNET_SRC_ONEDNN_OPERAND_H_
#define MXNET_SRC_ONEDNN_OPERAND_H_

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "onednn/layout.h"
#include "onednn/weight.h"

namespace mxnet {
namespace onednn {

/*! \brief Data, of which runs bring the elements. */
struct Input {
  std::vector<int64_t> shape;
  DLDataType dtype;
  std::optional<Layout> layout; /*!< that it is offered in; row-major where empty */
  bool keep{false};             /*!< whether no other layout is wanted */
};

/*! \brief An array whose elements are known, in memory of the host; read while the maker runs. */
struct Constant {
  const void* data; /*!< of the first element; NULL to ask for a kernel that will not run */
  Dims shape;
  Dims strides; /*!< in elements */
  DLDataType dtype;
  DLDevice device{kDLCPU, 0}; /*!< of the data; no other is taken */
  Weight* weight{nullptr};    /*!< has the elements in place of data, and shares what is packed */
};

using GivenOperand = std::variant<Input, Constant>;

struct Operand {
  /*! \brief name is that of the argument. Errors for what oneDNN has no arrays of. */
  Operand(const GivenOperand& given, std::string name);

  bool is_constant() const { return constant.has_value(); }
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
  std::optional<Constant> constant;
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
