/*!
 * \file operators.h
 * \brief The operators, by family: each adds to a plan what it takes.
 *
 * Failure, kMXAccUnsupported, where oneDNN does not do exactly what MXNet's operator does, or only
 * by its reference code.
 */
#ifndef ONEDNN_OPERATORS_H_
#define ONEDNN_OPERATORS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "plan.h"

namespace onednn {

struct Entry {
  const char* name;
  void (*add)(const MXAccOperator& op, Plan* plan);
};

/*! \brief Operators of one file. */
struct Family {
  const Entry* entries;
  size_t size;
  uint32_t flags; /*!< kMXAccInPlace where it holds for all of them */
  /*! \brief Steps of arithmetic, by which the number of threads is chosen. */
  int64_t (*work)(const MXAccOperator& op);
};

Family Copying();
Family Elementwise();
Family Products();
Family Reductions();
Family Softmaxes();

/*! \brief How an operator is executed, by at most that many threads; *flags are those of the
 * executor. */
std::unique_ptr<Plan> MakePlan(const MXAccOperator& op, int threads, uint32_t* flags);

/*! \brief The names of all operators, with commas between them. */
std::string OperatorNames();

/* ---- what families share ---- */

/*! \brief The work of operators that look at each element once. */
int64_t ElementsOf(const MXAccOperator& op);

/*! \brief The operator's only output; Failure where there are others. */
Array TheOutput(const MXAccOperator& op);
/*! \brief The only input; Failure where there are others. */
Array TheInput(const MXAccOperator& op);

/*! \brief The value of an attribute; Failure where it is no number, or none that double has. */
double NumberOf(const AttributeValue& value, const char* key);
/*! \brief Failure for other types than those of floats that oneDNN has. */
void CheckFloat(const Array& array);

}  // namespace onednn

#endif  // ONEDNN_OPERATORS_H_
