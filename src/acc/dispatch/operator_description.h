/*!
 * \file operator_description.h
 * \brief The description of a call that accelerator libraries get.
 */
#ifndef MXNET_SRC_ACC_DISPATCH_OPERATOR_DESCRIPTION_H_
#define MXNET_SRC_ACC_DISPATCH_OPERATOR_DESCRIPTION_H_

#include <mxnet_acc.h>

#include <deque>
#include <string>
#include <vector>

#include "acc/dispatch/attribute.h"
#include "acc/dispatch/call.h"

namespace mxnet {
namespace acc {

/*! \brief The argument that an input comes from. */
struct InputPosition {
  static constexpr int kNoItem = -1;
  int argument;
  int item; /*!< of a sequence */
};

/*! \brief Why a library cannot be asked about a call; the text continues "because". */
class NotOffered : public std::exception {
 public:
  explicit NotOffered(std::string reason) : reason_(std::move(reason)) {}
  const char* what() const noexcept override { return reason_.c_str(); }

 private:
  std::string reason_;
};

/*!
 * \brief An operator with its attributes and the specs of its inputs and of its result.
 *
 * Keeps all that MXAccOperator points to.
 */
class OperatorDescription {
 public:
  /*!
   * \brief Throws NotOffered; also for wrong arguments, of which the CPU has the better messages.
   */
  OperatorDescription(const Call& call, Context ctx);
  OperatorDescription(const OperatorDescription&) = delete;
  OperatorDescription& operator=(const OperatorDescription&) = delete;

  const MXAccOperator& view() const { return op_; }
  /*! \brief The operator's name without its prefix. */
  const std::string& name() const { return name_; }
  const std::vector<InputPosition>& positions() const { return positions_; }
  const std::vector<MXTensor>& inputs() const { return inputs_; }
  const MXTensor& output() const { return output_; }
  /*! \brief The argument that the result is written to; -1 where it is made. */
  int out_argument() const { return out_argument_; }
  /*! \brief Whether any input is not row-major. */
  bool has_strided_inputs() const;
  /*! \brief Describes the inputs as row-major; they are packed so before each run. */
  void PackInputs();

 private:
  void AddParameter(const MXNetParamInfo& param, int index, const MXNetValue& value, int type_code);
  void AddInput(const char* name, const DLTensor& tensor, InputPosition position);
  void AddAttribute(const char* name, const MXNetValue& value, int type_code);
  void AddOut(int index, const MXNetValue& value, int type_code);
  void FindResult(const Call& call);
  MXTensor Copied(const DLTensor& tensor);
  void FillView();

  Context ctx_;
  std::string name_;
  std::deque<std::string> texts_;
  std::deque<std::vector<int64_t>> numbers_;
  std::vector<InputPosition> positions_;
  std::vector<MXTensor> inputs_;
  AttributeStorage attribute_storage_;
  std::vector<MXAccAttribute> attributes_;
  const DLTensor* out_{nullptr};
  int out_argument_{-1};
  MXTensor output_{};
  MXAccOperator op_{};
};

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_DISPATCH_OPERATOR_DESCRIPTION_H_
