/*!
 * \file arguments.h
 * \brief The arguments of a call with some arrays replaced.
 */
#ifndef MXNET_SRC_ACC_DISPATCH_ARGUMENTS_H_
#define MXNET_SRC_ACC_DISPATCH_ARGUMENTS_H_

#include <deque>
#include <functional>
#include <vector>

#include "acc/dispatch/call.h"

namespace mxnet {
namespace acc {

/*! \brief Arguments of which some, also in sequences, are replaced by arrays. */
class Arguments {
 public:
  /*!
   * \brief The array that replaces a value given for a parameter; NULL where the value stays.
   *
   * The parameter is NULL for arguments beyond the described ones.
   */
  using Replace =
      std::function<NDArray(const MXNetValue& value, int type_code, const MXNetParamInfo* param)>;

  explicit Arguments(const Call& call, const Replace& replace);

  /*! \brief Replaces the context, where the operator takes one. */
  void SetContext(Context ctx);

  /*! \brief Gives integers, which outlive this object, instead of an argument. */
  void SetInts(size_t index, MXNetIntArray ints) {
    values_[index].v_ints = ints;
    type_codes_[index] = kMXNetIntTuple;
  }

  /*! \brief Leaves an argument out. */
  void Drop(size_t index) {
    if (index < type_codes_.size()) type_codes_[index] = kMXNetNull;
  }

  const MXNetValue* values() const { return values_.data(); }
  const int* type_codes() const { return type_codes_.data(); }
  int size() const { return static_cast<int>(values_.size()); }
  CallArguments view() const { return {values(), type_codes(), size()}; }

 private:
  /*! \brief Replaces a value, or items of it; false where nothing was replaced. */
  bool Convert(MXNetValue* value, int* type_code, const MXNetParamInfo* param);
  bool ConvertItems(const MXNetAnyArray& items, MXNetValue* value, const MXNetParamInfo* param);

  const int context_index_;
  const Replace& replace_;
  std::vector<MXNetValue> values_;
  std::vector<int> type_codes_;
  std::deque<std::vector<MXNetAny>> sequences_;
  std::deque<NDArray> arrays_;
};

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_DISPATCH_ARGUMENTS_H_
