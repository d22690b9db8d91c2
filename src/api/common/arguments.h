/*!
 * \file arguments.h
 * \brief Arguments that many operators share: shapes and axes, element types, contexts.
 */
#ifndef MXNET_SRC_API_COMMON_ARGUMENTS_H_
#define MXNET_SRC_API_COMMON_ARGUMENTS_H_

#include <mxnet/runtime/packed_func.h>

#include "api/common/context.h"
#include "api/common/dispatch.h"
#include "api/common/strided.h"

namespace mxnet {
namespace op {

/*!
 * \brief An int, or a tuple, list or 1-d array of ints; a run of ints is borrowed, not copied.
 *
 * TypeError "expected int or tuple of int" for anything else.
 */
class IntsArgument {
 public:
  explicit IntsArgument(const MXNetArgValue& arg) {
    const int code = arg.type_code();
    if (code == kMXNetIntTuple || code == kMXNetIntList) {
      view_ = ShapeView(arg.value().v_ints.data, arg.value().v_ints.size);
    } else if (code == kMXNetInt) {
      single_ = true;
      view_ = ShapeView(&arg.value().v_int64, 1);
    } else {
      ReadOther(arg);
    }
  }
  IntsArgument(const IntsArgument&) = delete;
  IntsArgument& operator=(const IntsArgument&) = delete;

  ShapeView view() const noexcept { return view_; }
  /*! \brief Whether it was a bare int. */
  bool is_single() const noexcept { return single_; }
  int size() const noexcept { return view_.ndim(); }
  int64_t operator[](int i) const noexcept { return view_[static_cast<size_t>(i)]; }

 private:
  void ReadOther(const MXNetArgValue& arg);
  bool ReadArray(const MXNetArgValue& arg);
  void ReadItems(const MXNetArgValue& arg, const MXNetAnyArray& run);

  ShapeView view_;
  bool single_{false};
  DimBuffer own_;
};

/*! \brief An int or a 0-d integer array; TypeError "expected int" for anything else. */
int64_t ToInt(const MXNetArgValue& arg);

/*! \brief An int as ToInt has it, or the default where it is None. */
inline int64_t ToIntOr(const MXNetArgValue& arg, int64_t default_value) {
  return arg.is_null() ? default_value : ToInt(arg);
}

/*! \brief An axis, or the default where it is None; TypeError for a bool, which is a mistake here.
 */
int64_t ToAxisOr(const MXNetArgValue& arg, int64_t default_axis);

/*! \brief A bool, or an int in its place, of which 0 is false; TypeError for anything else. */
inline bool ToFlag(const MXNetArgValue& arg) {
  return arg.type_code() == kMXNetInt ? arg.value().v_int64 != 0 : arg.As<bool>();
}

/*! \brief The items of a tuple, list or container; false for anything else, and for runs of ints.
 */
bool ItemsOf(const MXNetValue& value, int type_code, MXNetAnyArray* out);

/*! \brief The element type of an argument; TypeError for one that operators do not know. */
DLDataType DTypeOf(const MXNetArgValue& arg);

/*! \brief The element type of an argument, or the default where it is None. */
inline DLDataType DTypeOr(const MXNetArgValue& arg, DLDataType default_dtype) {
  return arg.is_null() ? default_dtype : DTypeOf(arg);
}

/*! \brief The context of an argument, or the current one where it is None. */
inline Context ContextOrCurrent(const MXNetArgValue& arg) {
  return arg.is_null() ? CurrentContext() : arg.As<Context>();
}

/*! \brief An axis counted from the front; AxisError where an array of ndim axes has none such. */
int NormalizeAxis(int64_t axis, int ndim, const char* prefix = "");

/*! \brief Several axes counted from the front; ValueError "repeated axis" where two are the same.
 */
void NormalizeAxes(ShapeView axes, int ndim, DimBuffer* out, const char* repeated);

/*! \brief A shape as NumPy's messages write it, "(2,3)". */
std::string CompactShape(ShapeView shape);

/*!
 * \brief ValueError "could not broadcast input array ..." unless an assignment of values of shape
 * `from` to a place of shape `to` is possible.
 */
void CheckBroadcastInto(ShapeView from, ShapeView to);

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_API_COMMON_ARGUMENTS_H_
