/*!
 * \file attribute.h
 * \brief Values of attributes as accelerator libraries get them.
 */
#ifndef MXNET_SRC_ACC_DISPATCH_ATTRIBUTE_H_
#define MXNET_SRC_ACC_DISPATCH_ATTRIBUTE_H_

#include <mxnet_acc.h>

#include <deque>
#include <string>
#include <vector>

#include "acc/dispatch/call.h"

namespace mxnet {
namespace acc {

/*! \brief Owns what attributes point to. */
class AttributeStorage {
 public:
  /*!
   * \brief Makes an attribute of a value; false where values of its kind cannot be attributes. The
   * caller keeps the name.
   */
  bool Make(const char* name, const MXNetValue& value, int type_code, MXAccAttribute* out);

 private:
  bool MakeList(const MXNetAnyArray& items, MXAccAttribute* out);
  void MakeInts(const MXNetIntArray& ints, MXAccAttribute* out);
  void SetText(std::string text, MXAccAttribute* out);

  std::deque<std::string> texts_;
  std::deque<std::vector<int64_t>> integers_;
  std::deque<std::vector<MXAccAttribute>> lists_;
};

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_DISPATCH_ATTRIBUTE_H_
