/*!
 * \file arguments.h
 * \brief Arguments that many operators share: shapes and axes, element types, contexts.
 */
#ifndef MXNET_SRC_API_ARGUMENT_ARGUMENTS_H_
#define MXNET_SRC_API_ARGUMENT_ARGUMENTS_H_

#include <mxnet/runtime/packed_func.h>

#include <vector>

#include "op/schema/items.h"
#include "op/semantics/dispatch.h"
#include "op/tensor/axes.h"
#include "op/tensor/strided.h"

namespace mxnet {
namespace op {

/*!
 * \brief An int, or a tuple, list or 1-d array of ints; a span of ints is borrowed, not copied.
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
  void ReadItems(const MXNetArgValue& arg, const MXNetAnyArray& items);

  ShapeView view_;
  bool single_{false};
  std::vector<int64_t> own_;
};

/*! \brief An int or a 0-d integer array; TypeError "expected int" for anything else. */
int64_t ToInt(const MXNetArgValue& arg);

/*! \brief A bool, or an int instead, of which 0 is false; TypeError for anything else. */
inline bool ToFlag(const MXNetArgValue& arg) {
  return arg.type_code() == kMXNetInt ? arg.value().v_int64 != 0 : arg.As<bool>();
}

/*! \brief The element type of an argument; TypeError for one that operators do not know. */
DLDataType DTypeOf(const MXNetArgValue& arg);

/*! \brief The element type of an argument, or the default where it is None. */
inline DLDataType DTypeOr(const MXNetArgValue& arg, DLDataType default_dtype) {
  return arg.is_null() ? default_dtype : DTypeOf(arg);
}

/*! \brief The calling thread's current context; cpu(0) where no `with ctx:` is open. */
Context CurrentContext() noexcept;

/*! \brief The context of an argument, or the current one where it is None. */
inline Context ContextOrCurrent(const MXNetArgValue& arg) {
  return arg.is_null() ? CurrentContext() : arg.As<Context>();
}

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_API_ARGUMENT_ARGUMENTS_H_
