/*!
 * \file arguments.h
 * \brief The arguments of a call with other arrays in their place.
 */
#ifndef MXNET_SRC_ACC_ARGUMENTS_H_
#define MXNET_SRC_ACC_ARGUMENTS_H_

#include <deque>
#include <functional>
#include <vector>

#include "acc/call.h"

namespace mxnet {
namespace acc {

/*! \brief Arguments of which each array of an accelerator, also in sequences, is replaced. */
class Arguments {
 public:
  /*! \brief What stands for an array; written tells whether the body writes to it. */
  using Replace = std::function<NDArray(const NDArray& array, bool written)>;

  /*!
   * \brief Replaces the context by ctx, too, where the operator takes one.
   *
   * With all, arrays of the CPU are replaced as well.
   */
  Arguments(const Call& call, Context ctx, const Replace& replace, bool all = false);

  /*! \brief Leaves an argument out. */
  void Drop(size_t index) {
    if (index < type_codes_.size()) type_codes_[index] = kMXNetNull;
  }

  const MXNetValue* values() const { return values_.data(); }
  const int* type_codes() const { return type_codes_.data(); }
  int size() const { return static_cast<int>(values_.size()); }

 private:
  void Convert(MXNetValue* value, int* type_code, bool written);
  void ConvertItems(const MXNetAnyArray& items, MXNetValue* value, bool written);

  bool IsReplaced(const MXNetValue& value, int type_code) const;

  const Replace& replace_;
  const bool all_;
  std::vector<MXNetValue> values_;
  std::vector<int> type_codes_;
  std::deque<std::vector<MXNetAny>> sequences_;
  std::deque<NDArray> arrays_;
};

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_ARGUMENTS_H_
