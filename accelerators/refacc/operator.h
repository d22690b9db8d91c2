/*!
 * \file operator.h
 * \brief An operator of the CPU, prepared for tensors of one spec and layout.
 */
#ifndef REFACC_OPERATOR_H_
#define REFACC_OPERATOR_H_

#include <mxnet_acc.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "arguments.h"
#include "layout.h"
#include "runtime.h"
#include "sdk.h"

namespace refacc {

/*!
 * \brief The CPU's operator rejects its arguments: kMXAccUnsupported, so that MXNet hears it from
 * the CPU, as the exception it is there.
 */
class Rejection : public Failure {
 public:
  Rejection(const std::string& op, const std::string& kind, const std::string& message)
      : Failure(kMXAccUnsupported, op + ": " + kind + ": " + message),
        kind_(kind),
        message_(message) {}
  /*! \brief The same in a stream, where it is too late for the CPU: with the exception's code. */
  Failure InStream() const;

 private:
  std::string kind_;
  std::string message_;
};

/*! \brief An operator on addresses of the host. Does not change once made: any thread may call. */
class Operator {
 public:
  /*! \brief Failure, kMXAccUnsupported, where the operator does not take what op gives it. */
  Operator(const Runtime& runtime, const MXAccOperator& op);
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  /*! \brief Failure unless there are as many tensors as were asked for. */
  void CheckCount(int32_t num_in, int32_t num_out) const;
  /*! \brief Runs it: addresses has those of the inputs, then of the outputs; workspace is that of
   * workspace_bytes. */
  void Run(const MXTensor* outputs, char* const* addresses, char* workspace) const;

  size_t num_in() const { return num_in_; }
  size_t num_out() const { return num_out_; }
  /*! \brief Of the inputs, then of the outputs. */
  const Layout* layouts() const { return layouts_.data(); }
  /*! \brief For the row-major copy of its input that an operator sorts; 0 for all others. */
  size_t workspace_bytes() const { return packed_ == nullptr ? 0 : packed_->size; }

 private:
  /*! \brief Where an input goes: to an argument, or to a position in the sequence that one is. */
  struct Position {
    size_t argument;
    size_t item;
  };
  static constexpr size_t kNoItem = SIZE_MAX;

  void FindFunction();
  void ReadParameters();
  size_t IndexOf(const std::string& param) const;
  void AddInput(const MXTensor& input);
  void AddAttribute(const MXAccAttribute& attribute);
  void CheckComplete() const;
  void PrepareCall();
  void CopyResult(const MXNetAny& result, const MXTensor* outputs, char* const* addresses) const;
  void CopyArray(const MXNetAny& item, size_t index, const MXTensor* outputs,
                 char* const* addresses) const;

  Runtime runtime_;
  std::string name_;
  size_t num_in_;
  size_t num_out_;
  size_t num_args_{0};
  TensorCopies inputs_;
  TensorCopies outputs_;
  std::shared_ptr<void> function_;
  std::vector<const MXNetParamInfo*> params_;
  std::vector<MXNetAny> arguments_; /*!< of params_; those of inputs are filled in by Run */
  std::vector<size_t> lengths_;     /*!< of params_: of the sequence of inputs that it takes */
  std::vector<Position> positions_; /*!< of the inputs */
  std::vector<Layout> layouts_;     /*!< of inputs, then of outputs */
  // Copied by each run, which then fills in addresses.
  std::vector<DLTensor> tensors_;       /*!< the inputs on the host */
  std::unique_ptr<RowMajor> packed_;    /*!< how the only input lies in the workspace; or NULL */
  std::vector<MXNetValue> call_values_; /*!< values of arguments_, padded to kFew */
  std::vector<int> call_types_;
  std::vector<size_t> first_items_; /*!< of sequences: where their items begin, of all items */
  size_t num_items_{0};
  AttributeArguments values_;
};

}  // namespace refacc

#endif  // REFACC_OPERATOR_H_
