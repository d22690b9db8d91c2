/*!
 * \file plan.h
 * \brief How an operator is executed for tensors of one spec and layout: primitives and copies,
 * in order.
 */
#ifndef ONEDNN_PLAN_H_
#define ONEDNN_PLAN_H_

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "array.h"
#include "loops.h"
#include "onednn/engine.h"

namespace onednn {

using mxnet::onednn::AttributesWith;
using mxnet::onednn::Engine;

/*! \brief Whether oneDNN has more for it than its reference code, which walks by single elements
 * and is slower than the CPU's operators by orders of magnitude. */
template <typename PrimitiveDesc>
bool IsFast(const PrimitiveDesc& desc) {
  return static_cast<bool>(desc) && std::string(desc.impl_info_str()).rfind("ref", 0) != 0;
}

/*! \brief Made by one thread; once made, any thread may run it. */
class Plan {
 public:
  struct Argument {
    int name; /*!< DNNL_ARG_... */
    Array array;
  };

  /*! \brief For that many threads. */
  explicit Plan(int threads);
  ~Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  /*! \brief A dense array in the workspace, for intermediate results. */
  Array Scratch(MXAccDataType dtype, const Dims& shape);
  /*! \brief One float, rounded to the type, that broadcasts to the shape. */
  Array Constant(MXAccDataType dtype, double value, const Dims& shape);
  /*! \brief The value that Constant makes of a number. */
  static float Rounded(MXAccDataType dtype, double value);

  void Add(const dnnl::primitive_desc_base& desc, const dnnl::primitive& primitive,
           std::vector<Argument> arguments);
  /*! \brief Copies elements between arrays of one shape and type. */
  void Copy(const Array& from, const Array& to);
  /*! \brief Copies and converts elements, on each processor alike. */
  void Convert(const Array& from, const Array& to);

  /*! \brief The array, or a dense copy of it where it is not dense. */
  Array Dense(const Array& array);

  /*! \brief Bytes of the workspace, in which the steps keep intermediate results. */
  uint64_t workspace_bytes() const { return workspace_size_; }
  /*! \brief Runs all steps. */
  void Run(const MXTensor* inputs, const MXTensor* outputs, const MXTensor* workspace) const;

  int threads() const { return threads_; }

 private:
  /*! \brief A primitive; where it is empty, a loop from the first argument to the second, or,
   * where that is nullptr, a copy. */
  struct Step {
    dnnl::primitive primitive;
    Loop loop;
    std::vector<Argument> arguments;
  };
  struct Slot;

  /*! \brief False, and nothing added, where oneDNN has no fast way. */
  bool AddReorder(const Array& from, const Array& to);
  void AddLoop(Loop loop, const Array& from, const Array& to);
  /*! \brief Between dense arrays: what Convert does without oneDNN, or by way of float32. */
  void AddConversion(const Array& from, const Array& to);
  std::unique_ptr<Slot> TakeSlot() const;
  void ReturnSlot(std::unique_ptr<Slot> slot) const;

  const int threads_;
  std::vector<Step> steps_;
  size_t workspace_size_{0};
  std::vector<char> constants_;

  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Slot>> slots_;
};

}  // namespace onednn

#endif  // ONEDNN_PLAN_H_
