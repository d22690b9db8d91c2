/*!
 * \file operator.h
 * \brief An operator of the CPU, prepared for tensors of one geometry.
 */
#ifndef REFACC_OPERATOR_H_
#define REFACC_OPERATOR_H_

#include <mxnet_acc.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "arguments.h"
#include "common.h"
#include "runtime.h"

namespace refacc {

/*! \brief An operator on addresses of the host. Does not change once made: any thread may call. */
class Operator {
 public:
  /*! \brief Failure, kMXAccUnsupported, where the operator does not take what op gives it. */
  Operator(const Runtime& runtime, const MXAccOperator& op);
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  /*! \brief Failure where tensors are not of the geometry that was asked for. */
  void CheckGeometry(const MXTensor* inputs, int32_t num_in, const MXTensor* outputs,
                     int32_t num_out) const;
  /*! \brief Runs it: addresses has those of the inputs, then of the outputs. */
  void Run(const MXTensor* outputs, char* const* addresses) const;

  /*! \brief Of inputs and outputs, from a byte_offset of 0. */
  const Span* input_spans() const { return spans_.data(); }
  const Span* output_spans() const { return spans_.data() + num_in_; }

 private:
  /*! \brief Where an input goes: to an argument, or to a place of the sequence that one is. */
  struct Place {
    size_t argument;
    size_t item;
  };
  /*! \brief The geometry of a tensor that was asked for. */
  struct Layout {
    explicit Layout(const MXAccGeometry& geometry);
    /*! \brief Of two kinds of tensors, which have members of the same names. */
    template <typename Tensor>
    bool IsThatOf(const Tensor& tensor) const;

    int32_t ndim;
    uint32_t dtype;
    const int64_t* shape;
    const int64_t* strides;
    size_t dense_bytes; /*!< 0 where it is not row-major */
  };
  static constexpr size_t kNoItem = SIZE_MAX;

  void FindFunction();
  void ReadParameters();
  size_t IndexOf(const std::string& param) const;
  void PlaceInput(const MXTensor& input);
  void PlaceAttribute(const char* key, const char* value);
  void CheckComplete() const;
  void PrepareCall();
  bool AreAsked(const Layout* layouts, const MXTensor* tensors, size_t count) const;
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
  std::vector<Place> places_;       /*!< of the inputs */
  std::vector<Span> spans_;
  std::vector<Layout> layouts_; /*!< of inputs, then of outputs */
  // What a run begins with, before the addresses are filled in.
  std::vector<DLTensor> tensors_;       /*!< the inputs on the host */
  std::vector<MXNetValue> call_values_; /*!< what arguments_ has, and then some */
  std::vector<int> call_types_;
  std::vector<size_t> first_items_; /*!< of sequences: where their items begin, of all items */
  size_t num_items_{0};
  AttributeArguments values_;
};

}  // namespace refacc

#endif  // REFACC_OPERATOR_H_
