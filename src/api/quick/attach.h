/*!
 * \file attach.h
 * \brief MXNET_QUICK: has an operator executed in fewer steps where its arguments are the usual.
 *
 *   bool QuickSort(const MXNetArgs& args, MXNetRetValue* ret);
 *   MXNET_QUICK("_npi.sort", &QuickSort);
 *
 * A quick way reads arguments of the commonest kinds itself, makes the output and computes. It
 * returns false, and has done nothing, for all other calls, which are executed as those of any
 * operator. One of an operator that has data gets that first, and its type has to be the
 * operator's:
 *
 *   bool QuickBinary(const BinaryOp& op, const MXNetArgs& args, MXNetRetValue* ret);
 *   MXNET_QUICK_FOR_ALL(&QuickBinary);
 *
 * is of all operators whose data is a BinaryOp, but for those with a quick way by name. They are
 * attached once the whole library is loaded, so that it does not matter which file's
 * registrations come first.
 */
#ifndef MXNET_SRC_API_QUICK_ATTACH_H_
#define MXNET_SRC_API_QUICK_ATTACH_H_

#include <mxnet/op/operator.h>

#include <type_traits>

#include "op/semantics/dispatch.h"

namespace mxnet {
namespace op {

/*! \brief A quick way as the body of a function whose resource is an OperatorBody. */
struct QuickBody {
  MXNetPackedCFunc call;
  const char* data_type; /*!< TypeMark of the data that it takes */
};

/*! \brief One line of the list that is attached when the library has been loaded. */
class QuickWay {
 public:
  /*! \brief A name of NULL is all operators whose data has the type. */
  QuickWay(const char* name, QuickBody body) noexcept : name_(name), body_(body), next_(first) {
    first = this;
  }
  QuickWay(const QuickWay&) = delete;
  QuickWay& operator=(const QuickWay&) = delete;

  /*! \brief Attaches all there are. ValueError for one that no operator takes. */
  static void AttachAll();

 private:
  void AttachByName() const;
  void AttachByType() const;

  // There before any initialiser runs.
  static QuickWay* first;

  const char* name_;
  QuickBody body_;
  const QuickWay* next_;
};

namespace internal {

template <typename T>
struct TypeIs {
  using Type = T;
};

template <typename Data>
TypeIs<Data> DataOf(bool (*)(const Data&, const MXNetArgs&, MXNetRetValue*));
TypeIs<void> DataOf(bool (*)(const MXNetArgs&, MXNetRetValue*));

template <auto kQuick>
__attribute__((no_sanitize("null"))) int CallQuick(void* resource, const MXNetValue* values,
                                                   const int* type_codes, int num_args,
                                                   MXNetValue* ret, int* ret_type_code) {
  const auto& body = *static_cast<const details::OperatorBody*>(resource);
  const auto call = [&] {
    MXNetRetValue result;
    const MXNetArgs args{values, type_codes, num_args, body.self};
    bool is_done;
    using Data = typename decltype(DataOf(kQuick))::Type;
    if constexpr (std::is_void_v<Data>) {
      is_done = kQuick(args, &result);
    } else {
      is_done = kQuick(*static_cast<const Data*>(body.data.data), args, &result);
    }
    if (__builtin_expect(!is_done, 0)) {
      return MXNetOperatorCall(body.self, values, type_codes, num_args, ret, ret_type_code);
    }
    result.MoveTo(ret, ret_type_code);
    return 0;
  };
  return runtime::details::Guarded(call, [&](const runtime::Error& error) {
    return runtime::details::SetLastOf(body.self, error);
  });
}

template <auto kQuick>
constexpr QuickBody QuickBodyOf() {
  using Data = typename decltype(DataOf(kQuick))::Type;
  return {&CallQuick<kQuick>, &details::TypeMark<Data>::kMark};
}

}  // namespace internal
}  // namespace op
}  // namespace mxnet

#define MXNET_QUICK(Name, ...)                                                             \
  static const ::mxnet::op::QuickWay MXNET_REGISTER_CONCAT(mxnet_quick_way_, __COUNTER__)( \
      Name, ::mxnet::op::internal::QuickBodyOf<__VA_ARGS__>())

#define MXNET_QUICK_FOR_ALL(...) MXNET_QUICK(nullptr, __VA_ARGS__)

#endif  // MXNET_SRC_API_QUICK_ATTACH_H_
