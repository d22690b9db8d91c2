/*!
 * \file mxnet/runtime/overload.h
 * \brief Registry::overload: several typed bodies under one name, of which a call chooses one.
 *
 *   MXNET_REGISTER_API("demo.twice")
 *       .describe("Adds a value to itself.")
 *       .arg("x", "A number.")
 *       .overload([](double x) { return x + x; })
 *       .arg("text", "Any text.").arg("between", "", "What comes between the two.")
 *       .overload([](std::string text, std::string between) { return text + between + text; });
 *
 * The first body that takes the arguments as they are is called, else the first that takes them
 * converted, as an int is to a double.
 */
#ifndef MXNET_RUNTIME_OVERLOAD_H_
#define MXNET_RUNTIME_OVERLOAD_H_

#include <mxnet/runtime/registry.h>

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace mxnet {
namespace runtime {
namespace details MXNET_HIDDEN {

template <typename T>
bool IsExact(const MXNetValue& value, int type_code);

/*! \brief IsExact of every element of any run; true where there are none. */
template <typename T>
bool AreExact(const MXNetValue& value, int type_code) {
  const MXNetAnyArray* run = nullptr;
  if (type_code == kMXNetTuple || type_code == kMXNetList) run = &value.v_seq;
  if (run == nullptr) run = ItemsOf(value, type_code);
  if (run == nullptr) return std::is_integral_v<T> && !std::is_same_v<T, bool>;
  for (size_t i = 0; i < run->size; ++i) {
    if (!IsExact<T>(run->data[i].value, run->data[i].type_code)) return false;
  }
  return true;
}

template <typename T>
struct ElementOf {
  using type = void;
};
template <typename T>
struct ElementOf<Array<T>> {
  using type = T;
};
template <typename T>
struct ElementOf<std::vector<T>> {
  using type = T;
};

template <typename T>
struct Unwrapped {
  using type = T;
};
template <typename T>
struct Unwrapped<std::optional<T>> {
  using type = T;
};
template <typename T>
struct Unwrapped<Variadic<T>> {
  using type = T;
};

template <typename T, typename = void>
struct IsComplex : std::false_type {};
template <typename T>
struct IsComplex<T, std::enable_if_t<std::is_same_v<decltype(std::declval<T>().real()), double>>>
    : std::true_type {};

/*!
 * \brief Whether a value is of the type itself, and not just convertible to it.
 *
 * An int is convertible to a double, a bool to an int, text to an element type, everything to Any.
 */
template <typename T>
bool IsExact(const MXNetValue& value, int type_code) {
  if constexpr (IsOptional<T>::value) {
    return type_code == kMXNetNull || IsExact<typename Unwrapped<T>::type>(value, type_code);
  } else if constexpr (std::is_same_v<T, Any> || std::is_same_v<T, ObjectRef>) {
    return false;
  } else if constexpr (std::is_same_v<T, bool>) {
    return type_code == kMXNetBool;
  } else if constexpr (std::is_integral_v<T>) {
    return type_code == kMXNetInt || type_code == kMXNetUInt;
  } else if constexpr (std::is_enum_v<T>) {
    return type_code == kMXNetEnum;
  } else if constexpr (std::is_floating_point_v<T>) {
    return type_code == kMXNetFloat;
  } else if constexpr (IsComplex<T>::value) {
    return type_code == kMXNetComplex;
  } else if constexpr (std::is_same_v<T, DLDataType>) {
    return type_code == kMXNetType;
  } else if constexpr (std::is_same_v<T, Context>) {
    return type_code == kMXNetContext;
  } else if constexpr (!std::is_void_v<typename ElementOf<T>::type>) {
    return AreExact<typename ElementOf<T>::type>(value, type_code);
  } else {
    return true;
  }
}

/*! \brief How Python writes a default, as far as that is short. */
inline std::string DefaultText(const MXNetAny& value) {
  std::string_view text;
  if (MapKey::AsText(value, &text)) return "'" + std::string(text) + "'";
  switch (value.type_code) {
    case kMXNetNull:
      return "None";
    case kMXNetBool:
      return value.value.v_int64 != 0 ? "True" : "False";
    case kMXNetInt:
      return std::to_string(value.value.v_int64);
    default:
      return "...";
  }
}

inline bool HasFlag(const MXNetParamInfo& param, MXNetParamFlag flag) {
  return (param.flags & flag) != 0;
}

/*! \brief "(a: int, b: str = 'x', *rest: Any) -> int" */
inline std::string SignatureText(const Description& about) {
  std::string text = "(";
  for (const MXNetParamInfo& param : about.params()) {
    if (text.size() > 1) text += ", ";
    text += HasFlag(param, kMXNetParamVariadic) ? "*" : "";
    text += param.name;
    if (param.type != nullptr) text += std::string(": ") + param.type;
    if (HasFlag(param, kMXNetParamOptional)) text += " = " + DefaultText(param.default_value);
  }
  text += ")";
  return about.returns.empty() ? text : text + " -> " + about.returns;
}

/*! \brief The arguments of one call in the order of a candidate's parameters. */
struct Arrangement {
  std::vector<MXNetValue> values;
  std::vector<int> type_codes;

  void Add(const MXNetValue& value, int type_code) {
    values.push_back(value);
    type_codes.push_back(type_code);
  }
};

/*! \brief One of the bodies of an overloaded function, with its description. */
class Candidate {
 public:
  explicit Candidate(Description about) : about_(std::move(about)) {}
  virtual ~Candidate() = default;

  Description& about() { return about_; }
  const Description& about() const { return about_; }

  /*!
   * \brief Calls the body and returns true if the arguments fit; else says in *reason why not.
   *
   * exact asks for values that need no conversion. reason may be NULL.
   */
  bool Try(const MXNetArgs& args, bool exact, MXNetRetValue* ret, std::string* reason) const {
    if (IsInOrder(args)) return CallWith(args, exact, ret, reason);
    Arrangement arranged;
    if (!Arrange(args, &arranged, reason)) return false;
    return CallWith(MXNetArgs{arranged.values.data(), arranged.type_codes.data(),
                              static_cast<int>(arranged.values.size()), args.func},
                    exact, ret, reason);
  }

 protected:
  virtual bool CallWith(const MXNetArgs& args, bool exact, MXNetRetValue* ret,
                        std::string* reason) const = 0;

  /*! \brief False; the text is made only where it is asked for. */
  template <typename Text>
  static bool Reject(std::string* reason, const Text& text) {
    if (reason != nullptr) *reason = text();
    return false;
  }

  /*! \brief "argument 1 ('dtype')" */
  std::string ArgumentName(size_t i) const {
    const auto& params = about_.params();
    const std::string name = params[std::min(i, params.size() - 1)].name;
    return "argument " + std::to_string(i) + " ('" + name + "')";
  }

 private:
  /*! \brief Whether there is nothing to fill in and no keyword. */
  bool IsInOrder(const MXNetArgs& args) const {
    if (static_cast<size_t>(args.num_args) != about_.params().size()) return false;
    if (TakesAll()) return false;
    for (int i = 0; i < args.num_args; ++i) {
      if (args.type_codes[i] == kMXNetMissing || args.type_codes[i] == kMXNetKeyword) return false;
    }
    return true;
  }

  /*! \brief Whether the last parameter is variadic. */
  bool TakesAll() const {
    const auto& params = about_.params();
    return !params.empty() && HasFlag(params.back(), kMXNetParamVariadic);
  }

  bool Arrange(const MXNetArgs& args, Arrangement* out, std::string* reason) const {
    const std::vector<MXNetParamInfo>& params = about_.params();
    const bool variadic = TakesAll();
    const size_t fixed = params.size() - (variadic ? 1 : 0);
    int positional = 0;
    while (positional < args.num_args && args.type_codes[positional] != kMXNetKeyword) ++positional;
    const size_t given = static_cast<size_t>(positional);
    if (given > fixed && !variadic) {
      return Reject(reason,
                    [&] { return "takes at most " + std::to_string(fixed) + " arguments"; });
    }
    std::vector<int> source(fixed, -1);
    for (size_t i = 0; i < std::min(given, fixed); ++i) {
      if (args.type_codes[i] != kMXNetMissing) source[i] = static_cast<int>(i);
    }
    for (int i = positional; i < args.num_args; i += 2) {
      if (args.type_codes[i] != kMXNetKeyword) {
        return Reject(reason, [] { return "an argument by position follows one by keyword"; });
      }
      if (i + 1 == args.num_args) return Reject(reason, [] { return "a keyword has no value"; });
      if (!Assign(args, i, fixed, &source, reason)) return false;
    }
    for (size_t i = 0; i < fixed; ++i) {
      if (source[i] >= 0) {
        out->Add(args.values[source[i]], args.type_codes[source[i]]);
      } else if (HasFlag(params[i], kMXNetParamOptional)) {
        out->Add(params[i].default_value.value, params[i].default_value.type_code);
      } else {
        return Reject(reason, [&] { return ArgumentName(i) + " is missing"; });
      }
    }
    for (size_t i = fixed; i < given; ++i) out->Add(args.values[i], args.type_codes[i]);
    return true;
  }

  /*! \brief Finds the parameter of the keyword argument whose name is argument i. */
  bool Assign(const MXNetArgs& args, int i, size_t fixed, std::vector<int>* source,
              std::string* reason) const {
    const MXNetByteArray& raw = args.values[i].v_str;
    const std::string_view name(raw.data, raw.size);
    for (size_t p = 0; p < fixed; ++p) {
      if (about_.params()[p].name != name) continue;
      if ((*source)[p] >= 0) {
        return Reject(reason,
                      [&] { return ArgumentName(p) + " was given by position and by keyword"; });
      }
      (*source)[p] = i + 1;
      return true;
    }
    return Reject(reason, [&] { return "has no parameter '" + std::string(name) + "'"; });
  }

  Description about_;
};

template <typename F>
class TypedCandidate : public Candidate {
 public:
  TypedCandidate(Description about, F body) : Candidate(std::move(about)), body_(std::move(body)) {}

 protected:
  bool CallWith(const MXNetArgs& args, bool exact, MXNetRetValue* ret,
                std::string* reason) const override {
    using Arguments = typename FunctionSignature<F>::Arguments;
    return Call(args, exact, ret, reason, static_cast<Arguments*>(nullptr),
                std::make_index_sequence<std::tuple_size_v<Arguments>>());
  }

 private:
  template <typename... Args, size_t... I>
  bool Call(const MXNetArgs& args, bool exact, MXNetRetValue* ret, std::string* reason,
            std::tuple<Args...>*, std::index_sequence<I...>) const {
    std::tuple<Args...> values{};
    if (!(Read(args, I, exact, &std::get<I>(values), reason) && ...)) return false;
    if constexpr (std::is_void_v<ResultOf<F>>) {
      body_(std::move(std::get<I>(values))...);
    } else {
      *ret = body_(std::move(std::get<I>(values))...);
    }
    return true;
  }

  template <typename T>
  bool Read(const MXNetArgs& args, size_t i, bool exact, T* out, std::string* reason) const {
    const MXNetValue& value = args.values[i];
    const int type_code = args.type_codes[i];
    if (exact && !IsExact<T>(value, type_code)) return false;
    try {
      const Match match = TypeTraits<T>::TryFrom(value, type_code, out);
      if (match == Match::kOk) return true;
      return Reject(reason, [&] {
        return MismatchText(match, ArgumentName(i), TypeTraits<T>::Name(), value, type_code) +
               Culprit<T>::Of(value, type_code);
      });
    } catch (const Error& error) {
      return Reject(reason, [&] { return ArgumentName(i) + ": " + error.message(); });
    }
  }

  template <typename T>
  bool Read(const MXNetArgs& args, size_t i, bool exact, Variadic<T>* out,
            std::string* reason) const {
    for (; i < static_cast<size_t>(args.num_args); ++i) {
      T item{};
      if (!Read(args, i, exact, &item, reason)) return false;
      out->push_back(std::move(item));
    }
    return true;
  }

  F body_;
};

/*! \brief The candidates of an overloaded function. */
class OverloadSet : public Overloads {
 public:
  explicit OverloadSet(std::string name) : name_(std::move(name)) {}

  template <typename F>
  void Add(Description about, F body) {
    candidates_.push_back(std::make_unique<TypedCandidate<F>>(std::move(about), std::move(body)));
  }

  void Describe(MXNetFuncInfo* info) override {
    infos_.clear();
    pointers_.clear();
    for (const auto& candidate : candidates_) {
      Description& about = candidate->about();
      about.Complete(name_);
      RejectFrontEnd(about);
      infos_.push_back(about.Describe(name_));
    }
    for (const MXNetFuncInfo& described : infos_) pointers_.push_back(&described);
    info->overloads = pointers_.data();
    info->num_overloads = pointers_.size();
  }

  /*! \brief Calls the candidate that takes the arguments, or fails with what is wrong with each. */
  void Call(const MXNetArgs& args, MXNetRetValue* ret) const {
    for (bool exact : {true, false}) {
      for (const auto& candidate : candidates_) {
        if (candidate->Try(args, exact, ret, nullptr)) return;
      }
    }
    *ret = Error("TypeError", Rejection(args));
  }

 private:
  std::string Rejection(const MXNetArgs& args) const {
    std::string text = name_ + ": no overload takes (";
    for (int i = 0; i < args.num_args; ++i) {
      if (i > 0) text += ", ";
      if (args.type_codes[i] == kMXNetKeyword && i + 1 < args.num_args) {
        text += std::string(args.values[i].v_str.data, args.values[i].v_str.size) + "=";
        ++i;
      }
      text += TypeNameOf(args.values[i], args.type_codes[i]);
    }
    text += ")";
    for (const auto& candidate : candidates_) {
      std::string reason;
      MXNetRetValue ignored;
      candidate->Try(args, false, &ignored, &reason);
      text += "\n    " + SignatureText(candidate->about()) + ": " + reason;
    }
    return text;
  }

  void RejectFrontEnd(const Description& about) const {
    for (const MXNetParamInfo& param : about.params()) {
      if (!HasFlag(param, kMXNetParamFrontEnd)) continue;
      MXNET_THROW("ValueError") << name_ << ": '" << param.name
                                << "' is of the front end only, which an overload cannot have";
    }
  }

  std::string name_;
  std::vector<std::unique_ptr<Candidate>> candidates_;
  std::vector<MXNetFuncInfo> infos_;
  std::vector<const MXNetFuncInfo*> pointers_;
};

}  // namespace details MXNET_HIDDEN

template <typename F>
Registry& Registry::overload(F body, std::string doc) {
  if (overloads_ == nullptr) {
    auto set = std::make_unique<details::OverloadSet>(name_);
    overloads_ = set.get();
    overloaded_body_ = PackedFunc(
        [set = std::move(set)](MXNetArgs args, MXNetRetValue* ret) { set->Call(args, ret); },
        names_errors_);
  }
  about_.doc = std::move(doc);
  about_.template TakeSignature<F>();
  static_cast<details::OverloadSet*>(overloads_)->Add(std::move(about_), std::move(body));
  about_ = details::Description();
  return *this;
}

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_RUNTIME_OVERLOAD_H_
