/*!
 * \file attach.cc
 * \brief Attaches quick ways to their operators once all of both are registered.
 */
#include "api/quick/attach.h"

#include "runtime/core/function.h"

namespace mxnet {
namespace op {
namespace {

using details::OperatorBody;
using runtime::FunctionObject;

/*! \brief The operator of this library that a function is, as long as it has no quick way. */
const OperatorBody* PlainOperator(const FunctionObject& function) {
  // Each library has an OperatorBody::Call of its own.
  return function.call == &OperatorBody::Call ? static_cast<OperatorBody*>(function.resource)
                                              : nullptr;
}

}  // namespace

QuickWay* QuickWay::first = nullptr;

void QuickWay::AttachByName() const {
  const PackedFunc registered = PackedFunc::GetGlobal(name_);
  if (!registered.defined()) {
    MXNET_THROW("ValueError") << "a quick way is of '" << name_ << "', which is no operator";
  }
  auto* function = reinterpret_cast<FunctionObject*>(registered.get());
  const OperatorBody* body = PlainOperator(*function);
  if (body == nullptr) {
    MXNET_THROW("ValueError") << "a quick way is of '" << name_ << "', which has one already or is "
                              << "no operator of the same library";
  }
  if (body->data.type != body_.data_type) {
    MXNET_THROW("ValueError") << "a quick way is of '" << name_ << "', whose data is of another "
                              << "type than the one that it takes";
  }
  function->call = body_.call;
}

void QuickWay::AttachByType() const {
  int count = 0;
  int size = 0;
  const char** names = nullptr;
  MXNET_CHECK_CALL(MXNetFuncListGlobalNames(&size, &names));
  for (int i = 0; i < size; ++i) {
    const PackedFunc registered = PackedFunc::GetGlobal(names[i]);
    auto* function = reinterpret_cast<FunctionObject*>(registered.get());
    const OperatorBody* body = function == nullptr ? nullptr : PlainOperator(*function);
    if (body == nullptr || body->data.type != body_.data_type) continue;
    function->call = body_.call;
    ++count;
  }
  if (count > 0) return;
  MXNET_THROW("ValueError") << "a quick way is of all operators whose data has a type that is the "
                            << "data of none";
}

void QuickWay::AttachAll() {
  for (const QuickWay* way = first; way != nullptr; way = way->next_) {
    if (way->name_ != nullptr) way->AttachByName();
  }
  for (const QuickWay* way = first; way != nullptr; way = way->next_) {
    if (way->name_ == nullptr) way->AttachByType();
  }
}

}  // namespace op
}  // namespace mxnet

/*! \brief Called when the initialisers of all files, and so all registrations, have run. */
int MXNetLibraryInit() {
  mxnet::op::QuickWay::AttachAll();
  return 0;
}
