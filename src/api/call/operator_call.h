/*!
 * \file operator_call.h
 * \brief A call of an operator: its arguments as inputs and attributes, and its outputs.
 */
#ifndef MXNET_SRC_API_CALL_OPERATOR_CALL_H_
#define MXNET_SRC_API_CALL_OPERATOR_CALL_H_

#include <mxnet/op/c_operator_api.h>
#include <mxnet/runtime/packed_func.h>

#include <deque>
#include <memory>
#include <vector>

#include "api/argument/operand.h"
#include "op/semantics/input_types.h"

namespace mxnet {
namespace op {

/*! \brief Throws the last error where a function of an operator has failed. */
inline void Check(int status) {
  if (__builtin_expect(status != 0, 0)) throw Error::FromLast();
}

/*! \brief How many outputs a call has, and whether it gives one as it is rather than in a tuple. */
struct OutputCount {
  int count;
  bool is_one;
};

/*! \brief The outputs that an operator has for inputs of these specs. */
OutputCount CountOutputs(const MXNetOperator& op, const MXNetTensorSpec* specs, int num_in,
                         const void* attributes);

/*! \brief How the inputs of a call are promoted. */
struct TypeRule {
  int32_t rule;     /*!< MXNetTypeRule */
  bool asks;        /*!< whether a type is asked for */
  DLDataType dtype; /*!< the one */
  const MXNetOperator* op;
  const void* attributes; /*!< of the operator, which may have a rule of its own */
};

/*! \brief The attributes of one call, in memory of the call's own. */
class CallAttributes {
 public:
  /*! \brief Throws what is wrong with them. */
  CallAttributes(const MXNetOperator& op, const MXNetArgs& args);
  ~CallAttributes() {
    if (op_.destroy != nullptr) op_.destroy(op_.self, room());
  }
  CallAttributes(const CallAttributes&) = delete;
  CallAttributes& operator=(const CallAttributes&) = delete;

  const void* get() const { return const_cast<CallAttributes*>(this)->room(); }

 private:
  void* room() { return __builtin_expect(large_ == nullptr, 1) ? small_ : large_.get(); }

  const MXNetOperator& op_;
  std::unique_ptr<char[]> large_;
  alignas(16) char small_[1024];
};

/*! \brief The inputs of one call, of which few need memory of the heap. */
class CallInputs {
 public:
  CallInputs() = default;
  ~CallInputs();
  CallInputs(const CallInputs&) = delete;
  CallInputs& operator=(const CallInputs&) = delete;

  /*! \brief Adds what an argument is. Throws where it is no operand. */
  void Add(const MXNetArgValue& arg, ArrayUse use = ArrayUse::kOperand);
  /*! \brief Adds the items of an array along its first axis. */
  void AddRows(const MXNetArgValue& arg);
  /*! \brief Adds one that is not given. */
  void AddNone();

  int size() const noexcept { return size_; }
  /*! \brief NULL for one that is not given. */
  Operand* operator[](int i) noexcept { return i < kFew ? few_[i] : more_[i - kFew].get(); }

  /*! \brief Writes the specs; of the types by rule, which are what inputs are converted to. */
  void Specs(const TypeRule& rule, MXNetTensorSpec* out);
  /*! \brief Converts inputs to the types of the specs, and writes them as tensors. */
  void Tensors(MXNetTensorSpec* specs, DLTensor* out) { Tensors(specs, &Operand::TensorAs, out); }
  /*! \brief Writes inputs as tensors, arrays of several elements in the types that they have. */
  void TensorsToConvert(MXNetTensorSpec* specs, DLTensor* out) {
    Tensors(specs, &Operand::TensorToConvert, out);
  }
  /*! \brief Where the first array is; false where there is none. */
  bool FindContext(Context* ctx);

 private:
  static constexpr int kFew = 6;

  void Tensors(MXNetTensorSpec* specs, const DLTensor& (Operand::*tensor)(DLDataType),
               DLTensor* out);

  int size_{0};
  Operand* few_[kFew];
  std::vector<NDArray> rows_;
  std::vector<std::unique_ptr<Operand>> more_;
  std::vector<std::unique_ptr<ElementBuffer>> more_scalars_;
  ElementBuffer scalars_[kFew];
  alignas(Operand) char room_[kFew][sizeof(Operand)];
};

/*! \brief The inputs of a call of which only the specs are asked, wherever elements are: those of
 * arrays in a sequence, too, which the call brings to the CPU. */
class SpecInputs {
 public:
  void Add(const MXNetArgValue& arg, ArrayUse use = ArrayUse::kOperand);
  void AddRows(const MXNetArgValue& arg);
  void AddNone();
  /*! \brief The specs, of the types by rule. */
  const std::vector<MXNetTensorSpec>& Specs(const TypeRule& rule);
  /*! \brief Throws where a Python number, or one of a sequence, is no value of its spec's type. */
  void CheckNumbers();

 private:
  /*! \brief What has its elements among the arguments, and which of the inputs it is. */
  struct Given {
    static constexpr size_t kSeveral = SIZE_MAX;

    size_t input;
    std::unique_ptr<Operand> operand;
  };

  ShapeView Read(const MXNetArgValue& arg, InputType* type, ArrayUse use = ArrayUse::kOperand);
  void Append(const InputType& type, ShapeView shape);

  std::vector<MXNetTensorSpec> specs_;
  std::vector<InputType> types_;
  std::vector<Given> given_;
  std::deque<NestedSpec> elsewhere_;
};

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_API_CALL_OPERATOR_CALL_H_
