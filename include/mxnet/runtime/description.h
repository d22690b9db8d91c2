/*!
 * \file mxnet/runtime/description.h
 * \brief What is said of one signature: its parameters, with their types, defaults and docs.
 */
#ifndef MXNET_RUNTIME_DESCRIPTION_H_
#define MXNET_RUNTIME_DESCRIPTION_H_

#include <mxnet/runtime/packed_func.h>

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace mxnet {
namespace runtime {
namespace details MXNET_HIDDEN {

/*! \brief Whether a body's parameter of type T takes a value. */
template <typename T>
[[gnu::cold]] int Takes(const MXNetAny* value) {
  T read{};
  return TypeTraits<T>::TryFrom(value->value, value->type_code, &read) == Match::kOk ? 1 : 0;
}

/*!
 * \brief Collects a description, and completes it from the C++ signature.
 *
 * Every library that registers a function has this compiled in, so it does little itself: it keeps
 * texts and defaults, and what is to be found out of them the runtime does.
 */
class Description {
 public:
  std::string doc;
  std::string returns;

  /*! \brief A parameter. An empty type is that of the C++ parameter. */
  [[gnu::cold, gnu::noinline]] void Add(std::string name, std::string type, std::string doc_text,
                                        int32_t flags, Any default_value = Any()) {
    described_ = true;
    if (keyword_only_ && (flags & kMXNetParamVariadic) == 0) flags |= kMXNetParamKeywordOnly;
    const char* kept_type = type.empty() ? nullptr : Keep(std::move(type));
    const char* kept_doc = Keep(std::move(doc_text));
    const char* kept_name = Keep(std::move(name), std::move(default_value));
    params_.push_back({kept_name, kept_type, kept_doc, flags, 0, AsBorrowed(kept_->value)});
  }

  /*! \brief Says what the parameter added last is, MXNetParamRole. */
  [[gnu::cold]] void SetRole(int32_t role) { params_.back().role = role; }

  /*! \brief Adds flags to the parameter added last. */
  [[gnu::cold]] void MarkLast(int32_t flags) {
    if (!params_.empty()) params_.back().flags |= flags;
  }

  /*! \brief Parameters added from now on are taken by name only, variadic ones apart. */
  void BeginKeywordOnly() { keyword_only_ = true; }

  /*! \brief Reads the parameters and the result of a callable type. */
  template <typename F>
  [[gnu::cold]] void TakeSignature() {
    described_ = true;
    complete_ = [](Description* self, const char* function) {
      if (self->returns.empty()) self->returns = ResultAnnotation<ResultOf<F>>();
      self->TakeParams(function, static_cast<typename FunctionSignature<F>::Arguments*>(nullptr));
    };
  }

  /*! \brief Completes the description; ValueError where it contradicts the C++ signature. */
  [[gnu::cold]] void Complete(const std::string& function) {
    if (complete_ != nullptr) return complete_(this, function.c_str());
    CompleteParams(function.c_str(), nullptr, 0);
  }

  bool described() const { return described_; }
  /*! \brief The parameters, which live as long as this. */
  const std::vector<MXNetParamInfo>& params() const { return params_; }

  /*! \brief The description in the C form, borrowed from this and from name. */
  [[gnu::cold]] MXNetFuncInfo Describe(const std::string& name) const {
    MXNetFuncInfo info{};
    info.struct_size = sizeof(info);
    info.abi_major = MXNET_RUNTIME_ABI_MAJOR;
    info.abi_minor = MXNET_RUNTIME_ABI_MINOR;
    info.name = name.c_str();
    info.doc = doc.c_str();
    info.returns = returns.empty() ? nullptr : returns.c_str();
    info.described = described_ ? 1 : 0;
    info.params = params_.data();
    info.num_params = params_.size();
    info.release_lock_bytes = -1;
    return info;
  }

 private:
  /*! \brief What params_ refers to; the one before lives in it, as no address may change. */
  struct Kept {
    std::string text;
    Any value;
    std::unique_ptr<Kept> before;
  };

  [[gnu::cold, gnu::noinline]] const char* Keep(std::string text, Any value = Any()) {
    kept_.reset(new Kept{std::move(text), std::move(value), std::move(kept_)});
    return kept_->text.c_str();
  }

  /*! \brief Text of a default travels as kMXNetStr, not as an object. */
  [[gnu::cold]] static MXNetAny AsBorrowed(const Any& value) {
    MXNetAny raw = value.raw();
    std::string_view text;
    if (MapKey::AsText(raw, &text)) {
      raw.type_code = kMXNetStr;
      raw.value.v_str = MXNetByteArray{text.data(), text.size()};
    }
    return raw;
  }

  template <typename T>
  [[gnu::cold]] MXNetParamSignature SignatureOf() {
    if constexpr (IsVariadic<T>::value) {
      MXNetParamSignature param = SignatureOf<typename T::value_type>();
      param.flags |= kMXNetParamVariadic;
      return param;
    } else {
      return {Keep(ArgumentAnnotation<T>()), Keep(TypeTraits<T>::Name()),
              IsOptional<T>::value ? kMXNetParamOptional : kMXNetParamRequired, RoleOf<T>(),
              &Takes<T>};
    }
  }

  template <typename... Args>
  [[gnu::cold]] void TakeParams(const char* function, std::tuple<Args...>*) {
    constexpr size_t kSize = sizeof...(Args);
    const MXNetParamSignature signature[kSize + 1] = {SignatureOf<Args>()..., {}};
    CompleteParams(function, signature, kSize);
  }

  [[gnu::cold]] void CompleteParams(const char* function, const MXNetParamSignature* signature,
                                    size_t size) {
    if (params_.empty()) {
      for (size_t i = 0; i < size; ++i) params_.push_back({});
    }
    MXNET_CHECK_CALL(
        MXNetFuncCompleteParams(function, params_.data(), params_.size(), signature, size));
  }

  std::vector<MXNetParamInfo> params_;
  std::unique_ptr<Kept> kept_;
  bool described_{false};
  bool keyword_only_{false};
  /*! \brief Reads the C++ signature. Done late: types may be registered after their use. */
  void (*complete_)(Description* self, const char* function){nullptr};
};

/*! \brief Ways to call a function, which overload.h collects. */
class Overloads {
 public:
  virtual ~Overloads() = default;
  /*! \brief Completes their descriptions and adds them to that of the function. */
  virtual void Describe(MXNetFuncInfo* info) = 0;
};

}  // namespace details MXNET_HIDDEN
}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_RUNTIME_DESCRIPTION_H_
