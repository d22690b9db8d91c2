/*!
 * \file arguments.h
 * \brief Tagged values of every type code, as a caller in C may pass them.
 */
#ifndef MXNET_TESTS_FUZZ_ARGUMENTS_H_
#define MXNET_TESTS_FUZZ_ARGUMENTS_H_

#include <mxnet/runtime/any.h>

#include <deque>
#include <memory>
#include <vector>

#include "./input.h"

namespace mxnet {
namespace fuzz {

/*! \brief Makes values of an input and owns what they borrow. */
class Arguments {
 public:
  /*! \brief objects: those that a value may hold, borrowed for as long as this lives. */
  Arguments(Input* input, const std::vector<runtime::Any>* objects)
      : input_(input), objects_(objects) {}

  /*! \brief The next value. What lies in a container is no tensor, keyword or missing argument. */
  MXNetAny Next(int depth = 0);

 private:
  MXNetAny Object();
  MXNetAny Tensor(int type_code);
  /*! \brief Memory of an owner that may outlive this. */
  char* Borrow(size_t bytes, MXNetBorrowedTensor* borrowed);
  MXNetAny Run(int type_code, int depth);
  MXNetAny Ints(int type_code);
  MXNetAny Text(int type_code);

  /*! \brief Memory of exactly this size, so that AddressSanitizer sees a byte too much. */
  template <typename T>
  T* Keep(size_t count);

  Input* input_;
  const std::vector<runtime::Any>* objects_;
  std::deque<std::unique_ptr<char[]>> kept_;
  std::deque<std::unique_ptr<void, void (*)(void*)>> owned_;
  std::deque<MXNetBorrowedTensor> tensors_;
};

}  // namespace fuzz
}  // namespace mxnet

#endif  // MXNET_TESTS_FUZZ_ARGUMENTS_H_
