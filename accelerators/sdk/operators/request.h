/*!
 * \file request.h
 * \brief What an executor is asked for.
 */
#ifndef MXACC_SDK_OPERATORS_REQUEST_H_
#define MXACC_SDK_OPERATORS_REQUEST_H_

#include <initializer_list>
#include <optional>
#include <string>

#include "../attribute.h"
#include "../tensor.h"
#include "dtype.h"

namespace mxacc {

/*! \brief An operator as it was asked for. */
class Request {
 public:
  /*! \brief kMXAccUnsupported where a tensor is not dense, or not of one output. */
  explicit Request(const MXAccOperator& op);

  std::string name() const { return op_.name; }
  int num_in() const { return op_.num_in; }
  const MXAccDLTensor& input(int i) const { return op_.inputs[i].tensor; }
  /*! \brief The input of that name; NULL if there is none. */
  const MXAccDLTensor* FindInput(const char* name) const;
  /*! \brief The position of an input among the inputs. */
  int IndexOf(const MXAccDLTensor& input) const;
  const MXAccDLTensor& output() const { return op_.outputs[0].tensor; }

  /*! \brief The value of an attribute; none where it was not given or is null. */
  std::optional<AttributeValue> Attribute(const char* key) const;
  bool Flag(const char* key) const;
  /*! \brief Whether it was given, and is null. */
  bool IsNull(const char* key) const;
  /*! \brief kMXAccUnsupported where there is an attribute, or an input, of another name. */
  void CheckNames(std::initializer_list<const char*> names) const;
  /*! \brief kMXAccUnsupported where the output is of another type, to which it would be cast. */
  void CheckOutput(DType dtype) const;

 private:
  const MXAccOperator& op_;
};

}  // namespace mxacc

#endif  // MXACC_SDK_OPERATORS_REQUEST_H_
