/*!
 * \file mxnet/op/operator.h
 * \brief MXNET_REGISTER_OPERATOR: describes an operator once, for calls, graphs and accelerators.
 *
 *   struct ScaleAttributes {
 *     double factor;
 *   };
 *
 *   void InferScale(const InferCall& call, const ScaleAttributes&) {
 *     SetSpec(call.in[0].dtype, ShapeOf(call.in[0]), &call.out[0]);
 *   }
 *
 *   void RunScale(const RunCall& call, const ScaleAttributes& attributes) { ... }
 *
 *   MXNET_REGISTER_OPERATOR("_npi.scale", ScaleAttributes)
 *       .describe("Multiplies each element by a factor.")
 *       .input("x", "The array.")
 *       .attribute("factor", &ScaleAttributes::factor, 2.0, "What elements are multiplied by.")
 *       .out()
 *       .types(kMXNetTypesFloat)
 *       .infer(&InferScale)
 *       .run(&RunScale);
 *
 * A call of the function reads its arguments, promotes the inputs, infers the outputs, makes them
 * (or takes `out=`) and runs. mxnet/op/extent.h has arithmetic for extents that may be symbolic.
 */
#ifndef MXNET_OP_OPERATOR_H_
#define MXNET_OP_OPERATOR_H_

#include <mxnet/op/attributes.h>
#include <mxnet/op/extent.h>
#include <mxnet/runtime/ndarray.h>
#include <mxnet/runtime/registry.h>

#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace mxnet {
namespace op {

/*! \brief What infer gets: the specs of inputs, and where it writes those of outputs. */
struct InferCall {
  const MXNetTensorSpec* in;
  int num_in;
  MXNetTensorSpec* out;
  int num_out;
  const void* data; /*!< what OperatorRegistry::data was given */
};

/*! \brief What run gets: inputs, outputs that were placed for it, and its workspace. */
struct RunCall {
  const DLTensor* in;
  int num_in;
  DLTensor* out;
  int num_out;
  void* workspace;
  const void* data;
};

/*! \brief What view gets: an array, and outputs whose strides and byte_offset it writes. */
struct ViewCall {
  const DLTensor& in;
  DLTensor* out;
  int num_out;
  const void* data;
};

/*! \brief What measure gets: the inputs, and where it writes the specs of outputs. */
struct MeasureCall {
  const DLTensor* in;
  int num_in;
  MXNetTensorSpec* out;
  int num_out;
  const void* data;
};

/*! \brief What check gets: the inputs. */
struct CheckCall {
  const DLTensor* in;
  int num_in;
  const void* data;
};

inline runtime::ShapeView ShapeOf(const MXNetTensorSpec& spec) noexcept {
  return {spec.shape, static_cast<size_t>(spec.ndim)};
}

/*! \brief Whether an optional input is given. */
inline bool IsGiven(const MXNetTensorSpec& spec) noexcept { return spec.ndim >= 0; }
inline bool IsGiven(const DLTensor& tensor) noexcept { return tensor.ndim >= 0; }

inline runtime::ShapeView ShapeOf(const DLTensor& tensor) noexcept {
  return {tensor.shape, static_cast<size_t>(tensor.ndim)};
}

inline void SetSpec(DLDataType dtype, runtime::ShapeView shape, MXNetTensorSpec* out) noexcept {
  out->dtype = dtype;
  out->ndim = shape.ndim();
  for (int i = 0; i < out->ndim; ++i) out->shape[i] = shape[static_cast<size_t>(i)];
}

/*! \brief The attributes of an operator that has none. */
struct NoAttributes {};

namespace details MXNET_HIDDEN {

/*! \brief Reads one attribute of a struct. */
struct AttributeReader {
  int index; /*!< of the argument */
  size_t offset;
  void (*read)(const runtime::MXNetArgValue& arg, MXNetFunctionHandle func, int index, void* at);
};

/*! \brief The functions of an operator with attributes of one type; self of its MXNetOperator. */
template <typename Attributes>
struct TypedOperator {
  void (*infer)(const InferCall& call, const Attributes& attributes){nullptr};
  int (*count_outputs)(const InferCall& call, const Attributes& attributes){nullptr};
  size_t (*workspace)(const InferCall& call, const Attributes& attributes){nullptr};
  int64_t (*operations)(const InferCall& call, const Attributes& attributes){nullptr};
  void (*run)(const RunCall& call, const Attributes& attributes){nullptr};
  void (*promote)(MXNetTensorSpec* in, int num_in, const Attributes& attributes){nullptr};
  MXNetViewKind (*view)(const ViewCall& call, const Attributes& attributes){nullptr};
  void (*measure)(const MeasureCall& call, const Attributes& attributes){nullptr};
  void (*check)(const CheckCall& call, const Attributes& attributes){nullptr};
  const void* data{nullptr};
  std::vector<AttributeReader> readers;

  static const TypedOperator& Of(void* self) { return *static_cast<TypedOperator*>(self); }
  static const Attributes& In(const void* attrs) { return *static_cast<const Attributes*>(attrs); }

  template <typename Body>
  static int Guarded(const Body& body) {
    const auto run = [&] {
      body();
      return 0;
    };
    return runtime::details::Guarded(run, [](const Error& error) { return error.SetLast(); });
  }

  static int Read(void* self, const MXNetValue* values, const int* type_codes, int num_args,
                  MXNetFunctionHandle func, void* attrs) {
    return Guarded([&] {
      struct Destroy {
        void operator()(Attributes* made) const { made->~Attributes(); }
      };
      std::unique_ptr<Attributes, Destroy> made(new (attrs) Attributes);
      const runtime::MXNetArgs args{values, type_codes, num_args, func};
      for (const AttributeReader& reader : Of(self).readers) {
        reader.read(args[reader.index], func, reader.index,
                    reinterpret_cast<char*>(made.get()) + reader.offset);
      }
      made.release();
    });
  }

  static void Destroy(void*, void* attrs) { static_cast<Attributes*>(attrs)->~Attributes(); }

  static int Infer(void* self, const MXNetTensorSpec* in, int num_in, const void* attrs,
                   MXNetTensorSpec* out, int num_out) {
    const TypedOperator& op = Of(self);
    return Guarded([&] { op.infer({in, num_in, out, num_out, op.data}, In(attrs)); });
  }

  static int CountOutputs(void* self, const MXNetTensorSpec* in, int num_in, const void* attrs,
                          int* num_out) {
    const TypedOperator& op = Of(self);
    return Guarded(
        [&] { *num_out = op.count_outputs({in, num_in, nullptr, 0, op.data}, In(attrs)); });
  }

  static int Workspace(void* self, const MXNetTensorSpec* in, int num_in, const void* attrs,
                       size_t* bytes) {
    const TypedOperator& op = Of(self);
    return Guarded([&] { *bytes = op.workspace({in, num_in, nullptr, 0, op.data}, In(attrs)); });
  }

  static int Operations(void* self, const MXNetTensorSpec* in, int num_in, const void* attrs,
                        int64_t* count) {
    const TypedOperator& op = Of(self);
    return Guarded([&] { *count = op.operations({in, num_in, nullptr, 0, op.data}, In(attrs)); });
  }

  static int Run(void* self, const DLTensor* in, int num_in, const void* attrs, DLTensor* out,
                 int num_out, void* workspace) {
    const TypedOperator& op = Of(self);
    return Guarded([&] { op.run({in, num_in, out, num_out, workspace, op.data}, In(attrs)); });
  }

  static int View(void* self, const DLTensor* in, const void* attrs, DLTensor* out, int num_out,
                  int* kind) {
    const TypedOperator& op = Of(self);
    return Guarded([&] { *kind = op.view({*in, out, num_out, op.data}, In(attrs)); });
  }

  static int Measure(void* self, const DLTensor* in, int num_in, const void* attrs,
                     MXNetTensorSpec* out, int num_out) {
    const TypedOperator& op = Of(self);
    return Guarded([&] { op.measure({in, num_in, out, num_out, op.data}, In(attrs)); });
  }

  static int Check(void* self, const DLTensor* in, int num_in, const void* attrs) {
    const TypedOperator& op = Of(self);
    return Guarded([&] { op.check({in, num_in, op.data}, In(attrs)); });
  }

  static int Promote(void* self, MXNetTensorSpec* in, int num_in, const void* attrs) {
    return Guarded([&] { Of(self).promote(in, num_in, In(attrs)); });
  }

  using Error = runtime::Error;
};

/*! \brief Has an address of its own for each type. */
template <typename T>
struct TypeMark {
  static constexpr char kMark{};
};

/*! \brief What OperatorRegistry::data was given, and the TypeMark of its type; void without. */
struct OperatorData {
  const void* data{nullptr};
  const char* type{&TypeMark<void>::kMark};
};

/*! \brief The body of a function that is an operator. */
struct OperatorBody {
  MXNetFunctionHandle self;
  OperatorData data;
  std::shared_ptr<void> typed; /*!< what the operator's functions are called with */

  static int Call(void* resource, const MXNetValue* values, const int* type_codes, int num_args,
                  MXNetValue* ret, int* ret_type_code) {
    return MXNetOperatorCall(static_cast<OperatorBody*>(resource)->self, values, type_codes,
                             num_args, ret, ret_type_code);
  }

  static void Delete(void* resource) { delete static_cast<OperatorBody*>(resource); }

  static runtime::PackedFunc New(OperatorData data, std::shared_ptr<void> typed) {
    auto* body = new OperatorBody{nullptr, data, std::move(typed)};
    MXNET_CHECK_CALL(MXNetFuncCreateFromCFunc(&Call, body, &Delete, &body->self));
    return runtime::PackedFunc(runtime::ObjectRef::Steal(body->self));
  }
};

}  // namespace details MXNET_HIDDEN

/*! \brief What the pages and messages say of an output that a call gives. */
constexpr char kOutDoc[] =
    "Array of the result's shape that the result is written to and that is returned; its data type "
    "must take the result's by a 'same_kind' cast.";

/*! \brief Collects the one description of an operator. */
template <typename Attributes>
class MXNET_HIDDEN OperatorRegistry {
 public:
  using Typed = details::TypedOperator<Attributes>;

  [[gnu::cold]] OperatorRegistry(std::string name, const char* file, int line)
      : registry_(std::move(name), file, line), typed_(new Typed()) {
    registry_.returns("ndarray");
    op_.struct_size = sizeof(op_);
    op_.version = 1;
    op_.num_outputs = 1;
    op_.attrs_size = sizeof(Attributes);
  }

  /*! \brief What it computes; the first line is a summary. */
  [[gnu::cold]] OperatorRegistry& describe(std::string doc) {
    registry_.describe(std::move(doc));
    return *this;
  }
  /*! \brief Of its meaning, 1 unless said: raised where the same call gives something else. */
  [[gnu::cold]] OperatorRegistry& version(int32_t version) {
    op_.version = version;
    return *this;
  }
  /*! \brief An input: an array, a number, or a nested sequence. */
  [[gnu::cold]] OperatorRegistry& input(std::string name, std::string doc) {
    registry_.add_argument(std::move(name), kArray, std::move(doc));
    ++next_;
    return *this;
  }
  /*! \brief An input that calls change, so that it has to be an array. */
  [[gnu::cold]] OperatorRegistry& mutated_input(std::string name, std::string doc) {
    registry_.add_argument(std::move(name), kMutated, std::move(doc)).mutated();
    ++next_;
    return *this;
  }
  /*! \brief An input that may be None. */
  [[gnu::cold]] OperatorRegistry& optional_input(std::string name, std::string doc) {
    registry_.add_argument(std::move(name), kOptionalArray, nullptr, std::move(doc));
    ++next_;
    return *this;
  }
  /*! \brief Inputs: a sequence of any length. */
  [[gnu::cold]] OperatorRegistry& inputs(std::string name, std::string doc) {
    registry_.add_argument(std::move(name), kArrays, std::move(doc));
    ++next_;
    return *this;
  }
  /*! \brief An attribute that must be given. */
  template <typename T, typename Base>
  [[gnu::cold]] OperatorRegistry& attribute(std::string name, T Base::* member, std::string doc) {
    registry_.add_argument(std::move(name), Type<T>(), std::move(doc));
    return Read<T>(member);
  }
  /*! \brief An attribute that is no parameter of its own: what the argument of the input before it
   * is. */
  template <typename T, typename Base>
  [[gnu::cold]] OperatorRegistry& kind_of_input(T Base::* member) {
    --next_;
    return Read<T>(member);
  }
  /*! \brief An attribute with a default: nullptr for None, a bool, a number, a string. */
  template <typename T, typename Base, typename Default>
  [[gnu::cold]] OperatorRegistry& attribute(std::string name, T Base::* member,
                                            Default default_value, std::string doc) {
    registry_.add_argument(std::move(name), Type<T>(), std::move(default_value), std::move(doc));
    return Read<T>(member);
  }
  /*! \brief The parameter `ctx`: where outputs are made whose device no input tells. */
  [[gnu::cold]] OperatorRegistry& context(
      std::string doc = "Where the array is allocated; the current context if None.") {
    registry_.add_argument("ctx", kContext, nullptr, std::move(doc));
    ++next_;
    return *this;
  }
  /*! \brief The parameter `out`: an array that the output is written to. */
  [[gnu::cold]] OperatorRegistry& out(std::string doc = kOutDoc) {
    registry_.add_argument("out", kOut, nullptr, std::move(doc)).mutated();
    ++next_;
    return *this;
  }
  /*! \brief A parameter of the front-end signature that accepts its default only. */
  template <typename T>
  [[gnu::cold]] OperatorRegistry& frontend(std::string name, std::string type, T default_value,
                                           std::string doc) {
    registry_.add_frontend_argument(std::move(name), std::move(type), std::move(default_value),
                                    std::move(doc));
    return *this;
  }
  /*! \brief Python type expression of the result, where it is not one array. */
  [[gnu::cold]] OperatorRegistry& returns(std::string type) {
    registry_.returns(std::move(type));
    return *this;
  }
  /*! \brief How inputs are promoted. */
  OperatorRegistry& types(MXNetTypeRule rule) {
    op_.type_rule = rule;
    return *this;
  }
  /*! \brief A rule of its own: writes the types that inputs are converted to. */
  OperatorRegistry& types(void (*promote)(MXNetTensorSpec* in, int num_in, const Attributes&)) {
    typed_->promote = promote;
    op_.promote = &Typed::Promote;
    return types(kMXNetTypesOwn);
  }
  /*! \brief Adds MXNetOpProperty, or-ed. */
  OperatorRegistry& properties(uint64_t properties) {
    op_.properties |= properties;
    return *this;
  }
  /*! \brief Let Python run other threads meanwhile, if the arguments hold at least that much. */
  OperatorRegistry& release_gil(int64_t min_bytes = 0) {
    registry_.release_gil(min_bytes);
    return *this;
  }
  /*! \brief Adds MXNetFuncFlag, or-ed. */
  OperatorRegistry& flags(uint64_t flags) {
    registry_.flags(flags);
    return *this;
  }
  /*! \brief What the functions get as call.data: a table that several operators differ in. */
  template <typename Data>
  OperatorRegistry& data(const Data* data) {
    typed_->data = data;
    data_ = {data, &details::TypeMark<Data>::kMark};
    return *this;
  }
  OperatorRegistry& infer(void (*infer)(const InferCall& call, const Attributes& attributes)) {
    typed_->infer = infer;
    op_.infer = &Typed::Infer;
    return *this;
  }
  OperatorRegistry& outputs(int (*count)(const InferCall& call, const Attributes& attributes)) {
    typed_->count_outputs = count;
    op_.num_outputs = -1;
    op_.count_outputs = &Typed::CountOutputs;
    return *this;
  }
  OperatorRegistry& workspace(size_t (*bytes)(const InferCall& call, const Attributes&)) {
    typed_->workspace = bytes;
    op_.workspace = &Typed::Workspace;
    return *this;
  }
  OperatorRegistry& operations(int64_t (*count)(const InferCall& call, const Attributes&)) {
    typed_->operations = count;
    op_.operations = &Typed::Operations;
    return *this;
  }
  OperatorRegistry& run(void (*run)(const RunCall& call, const Attributes& attributes)) {
    typed_->run = run;
    op_.run = &Typed::Run;
    return *this;
  }
  OperatorRegistry& view(MXNetViewKind (*view)(const ViewCall& call, const Attributes&)) {
    typed_->view = view;
    op_.view = &Typed::View;
    return *this;
  }
  /*! \brief The specs of outputs whose extents follow from elements, always or of some calls. */
  OperatorRegistry& measure(void (*measure)(const MeasureCall& call, const Attributes&),
                            bool always = true) {
    typed_->measure = measure;
    op_.measure = &Typed::Measure;
    if (always) op_.properties |= kMXNetOpDataDependent;
    return *this;
  }
  /*! \brief Throws for elements that run throws for before it writes. */
  OperatorRegistry& check(void (*check)(const CheckCall& call, const Attributes& attributes)) {
    typed_->check = check;
    op_.check = &Typed::Check;
    return *this;
  }
  /*!
   * \brief Has calls be executed by a function that make gives, rather than by run. What make gets
   * has to live as long as that function.
   */
  OperatorRegistry& body(runtime::PackedFunc (*make)(std::shared_ptr<void> typed)) {
    make_body_ = make;
    op_.properties |= kMXNetOpOwnBody;
    return *this;
  }

  /*! \brief Registers; called once the whole chain has been read. */
  [[gnu::cold]] void Commit() {
    uint64_t flags = kMXNetFuncOperator;
    constexpr uint64_t kNoElements = kMXNetOpAnywhere | kMXNetOpZeros;
    if (op_.view != nullptr || (op_.properties & kNoElements) != 0) flags |= kMXNetFuncAnywhere;
    op_.read = &Typed::Read;
    if (!std::is_trivially_destructible_v<Attributes>) op_.destroy = &Typed::Destroy;
    op_.self = typed_.get();
    registry_.flags(flags).set_operator(&op_).set_function(
        make_body_ != nullptr ? make_body_(typed_) : details::OperatorBody::New(data_, typed_));
    registry_.Commit();
  }

 private:
  static constexpr runtime::ParamType kArray{"ArrayLike", kMXNetRoleArray};
  static constexpr runtime::ParamType kMutated{"ndarray", kMXNetRoleArray};
  static constexpr runtime::ParamType kOptionalArray{"ArrayLike | None", kMXNetRoleArray};
  static constexpr runtime::ParamType kArrays{"Sequence[ArrayLike]", kMXNetRoleArrays};
  static constexpr runtime::ParamType kContext{"Context | str | None", kMXNetRoleContext};
  static constexpr runtime::ParamType kOut{"ndarray | None", kMXNetRoleOut};

  template <typename T>
  struct IsOptional : std::false_type {};
  template <typename T>
  struct IsOptional<std::optional<T>> : std::true_type {};

  /*! \brief The type expression of an attribute; texts live as long as this. */
  template <typename T>
  runtime::ParamType Type() {
    runtime::ParamType type = AttributeTraits<T>::kType;
    if (IsOptional<T>::value) {
      texts_.push_back(std::make_unique<std::string>(std::string(type.text) + " | None"));
      type.text = texts_.back()->c_str();
    }
    return type;
  }

  template <typename T>
  OperatorRegistry& Read(T Attributes::* member) {
    static_assert(std::is_default_constructible_v<Attributes>, "read makes one, and sets members");
    alignas(Attributes) char room[sizeof(Attributes)];
    auto* attributes = reinterpret_cast<Attributes*>(room);
    const auto offset = reinterpret_cast<char*>(&(attributes->*member)) - room;
    typed_->readers.push_back(
        {next_++, static_cast<size_t>(offset),
         [](const runtime::MXNetArgValue& arg, MXNetFunctionHandle func, int index, void* at) {
           *static_cast<T*>(at) = AttributeTraits<T>::Read(arg, func, index);
         }});
    return *this;
  }

  runtime::Registry registry_;
  std::shared_ptr<Typed> typed_;
  std::vector<std::unique_ptr<std::string>> texts_;
  MXNetOperator op_{};
  details::OperatorData data_;
  runtime::PackedFunc (*make_body_)(std::shared_ptr<void> typed){nullptr};
  int next_{0};
};

}  // namespace op
}  // namespace mxnet

/*!
 * \brief Starts the registration of an operator; see the top of this file.
 *
 * Of Attributes, members that are no attribute need an initializer of their own.
 */
#define MXNET_REGISTER_OPERATOR(Name, Attributes)                                       \
  static const ::mxnet::runtime::RegistryEntry MXNET_REGISTER_CONCAT(mxnet_registered_, \
                                                                     __COUNTER__) =     \
      ::mxnet::op::OperatorRegistry<Attributes>(Name, __FILE__, __LINE__)

#endif  // MXNET_OP_OPERATOR_H_
