/*!
 * \file elementwise.h
 * \brief What elementwise operators are made of: how they are inferred and run, and registered.
 */
#ifndef MXNET_SRC_OP_ELEMENTWISE_ELEMENTWISE_H_
#define MXNET_SRC_OP_ELEMENTWISE_ELEMENTWISE_H_

#include <mxnet/op/operator.h>
#include <mxnet/runtime/registry.h>

#include <atomic>

#include "op/kernels/elementwise/loops.h"
#include "op/schema/describe.h"
#include "op/semantics/formula.h"
#include "op/tensor/cast.h"

namespace mxnet {
namespace op {

/* ---- operators ---- */

/*! \brief A binary operator. A loop of type T is the one two arrays of type T use. */
struct BinaryOp {
  LoopTable table;
  MXNetTypeRule rule{kMXNetTypesCommon};
  ResultRule result{ResultRule::kSame};
  const char* hint{""}; /*!< ends the message about an unsupported type */
  /*! \brief Throws for values of an integer operand x2 the operator rejects; may be NULL. */
  void (*check_integers)(const BinaryOp& op, const DLTensor& x2){nullptr};
};

/*! \brief The float16 results of an operator for each integer of 8 bits. */
class ResultsOfBytes {
 public:
  /*!
   * \brief Those for integers of that DTypeIndex, by their bits; made when first asked for, by the
   * loop of the operator for float16.
   */
  const uint16_t* Find(InnerLoop loop, int index) const;

 private:
  /*! \brief Of int8 and of uint8; never freed. */
  mutable std::atomic<const uint16_t*> results_[2]{};
};

struct UnaryOp {
  LoopTable table;
  MXNetTypeRule rule{kMXNetTypesCommon};
  ResultRule result{ResultRule::kSame};
  const char* hint{""};
  ResultsOfBytes of_bytes{};
};

/*! \brief An operator by its formulas, for real types and for those of the lists. */
template <typename Op, typename... Lists>
BinaryOp BinaryOf(const char* hint = "") {
  return {BinaryFormulaLoops<Op, Lists...>(), Op::kRule, Op::kResult, hint};
}

/*! \brief The same of an operator that is one instruction of the processor. */
template <typename Op, typename... Lists>
BinaryOp LightBinaryOf(const char* hint = "") {
  BinaryOp op = BinaryOf<Op, Lists...>(hint);
  op.table.is_light = true;
  return op;
}

template <typename Op, typename... Lists>
UnaryOp UnaryOf(const char* hint = "") {
  return {UnaryFormulaLoops<Op, Lists...>(), Op::kRule, Op::kResult, hint};
}

/*! \brief The same of an operator that keeps integers as they are: those are copied as memory. */
template <typename Op, typename... Lists>
UnaryOp UnaryKeepingIntegers() {
  LoopTable table = UnaryFormulaLoops<Op, Lists...>();
  for (int i = 0; i < kNumDTypes; ++i) {
    if (IsIntDType(kDTypes[i])) table.loops[i] = CastLoop(i, i);
  }
  return {table, Op::kRule, Op::kResult};
}

/* ---- the functions of operators, whose data is a BinaryOp or a UnaryOp ---- */

void InferBinary(const InferCall& call, const NoAttributes&);
void RunBinary(const RunCall& call, const NoAttributes&);
/*! \brief What RunBinary throws for integers that the operator rejects. */
void CheckBinary(const CheckCall& call, const NoAttributes&);

void InferUnary(const InferCall& call, const NoAttributes&);
void RunUnary(const RunCall& call, const NoAttributes&);

/*! \brief Runs a loop, which may be a light one, over operands that broadcast to the shape of out.
 */
void Walk(InnerLoop loop, const DLTensor* inputs, int count, const DLTensor& out,
          bool is_light = false);

/*!
 * \brief Runs a loop of `count` operands, the output first, over elements of items[i] bytes; inputs
 * that lie apart are brought together first, unless the loop is light and its results are to be
 * written apart by themselves.
 */
void RunStrided(InnerLoop loop, const int64_t* items, int count, char* const* data,
                const int64_t* strides, int64_t n, bool is_light = false);

/*!
 * \brief Whether a Python int, given as int64 or uint64, is below the values of an integer type,
 * -1, above, 1, or neither.
 */
int SideOf(const DLTensor& number, DLDataType dtype);

/*! \brief The loops of maximum and of minimum. */
const LoopTable& MaximumLoops();
const LoopTable& MinimumLoops();

/* ---- registration ---- */

/*! \brief Elementwise work below this many bytes is not worth letting other threads run. */
constexpr int64_t kReleaseGilBytes = 1 << 16;

#define MXNET_BROADCAST_DOC                                                             \
  "\n\nThe operands broadcast together; the result has the broadcast shape. Raises "    \
  "ValueError for shapes that do not broadcast, TypeError for data types without this " \
  "operation, OverflowError for a Python integer beyond the data type of the other operand."

#define MXNET_FLOAT_DOC                                                                   \
  "\n\nIntegers and bool give a float: 8 bits and bool float16, 16 bits float32, others " \
  "float64."

#define MXNET_REGISTER_BINARY(Name, Doc, Op)                                     \
  MXNET_REGISTER_OPERATOR("_npi." Name, NoAttributes)                            \
      .describe(Doc MXNET_BROADCAST_DOC)                                         \
      .input("x1", "First operand.")                                             \
      .input("x2", "Second operand.")                                            \
      .out()                                                                     \
      .types((Op).rule)                                                          \
      .properties(kMXNetOpElementwise | kMXNetOpInPlace | kMXNetOpStridedOutput) \
      .release_gil(kReleaseGilBytes)                                             \
      .data(&(Op))                                                               \
      .infer(&InferBinary)                                                       \
      .run(&RunBinary)

#define MXNET_REGISTER_UNARY_AS(Name, Doc, Op)                                                \
  MXNET_REGISTER_OPERATOR(Name, NoAttributes)                                                 \
      .describe(Doc                                                                           \
                "\n\nThe result has the shape of x. Raises TypeError for data types without " \
                "this operation.")                                                            \
      .input("x", "Operand.")                                                                 \
      .out()                                                                                  \
      .types((Op).rule)                                                                       \
      .properties(kMXNetOpElementwise | kMXNetOpInPlace | kMXNetOpStridedOutput)              \
      .release_gil(kReleaseGilBytes)                                                          \
      .data(&(Op))                                                                            \
      .infer(&InferUnary)                                                                     \
      .run(&RunUnary)

#define MXNET_REGISTER_UNARY(Name, Doc, Op) MXNET_REGISTER_UNARY_AS("_npi." Name, Doc, Op)

/*! \brief One that NumPy has no function for. */
#define MXNET_REGISTER_UNARY_EXTENSION(Name, Doc, Op) MXNET_REGISTER_UNARY_AS("_npx." Name, Doc, Op)

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_ELEMENTWISE_ELEMENTWISE_H_
