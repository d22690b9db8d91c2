/*!
 * \file kernels.h
 * \brief What kernels are given, and the functions that launch them.
 */
#ifndef CUDAACC_KERNELS_H_
#define CUDAACC_KERNELS_H_

#include "../../sdk/operators/elementwise.h"
#include "../../sdk/operators/reduction.h"
#include "../runtime.h"
#include "element.h"
#include "walk.h"

namespace cudaacc {

/*! \brief Of elements of item bytes; the walk is over target and source. */
struct CopyTask {
  Walk walk;
  Slot target;
  Slot source;
  int64_t item;
};

void LaunchCopy(StreamHandle stream, int64_t count, const CopyTask& task);

/*! \brief A formula; the walk is over the output and the operands. */
struct FormulaTask {
  struct Operand {
    Slot slot; /*!< no data for a number */
    Number::Value number;
    DType dtype; /*!< that it is converted to */
  };

  Walk walk;
  Formula formula;
  Slot out;
  int num_operands;
  Operand operands[mxacc::kMaxOperands];
};

/*! \brief The formula is computed in the type of the last operand. */
void LaunchFormula(StreamHandle stream, int64_t count, const FormulaTask& task);

/*! \brief A reduction of one input, or of the products of elements of two inputs. */
struct ReduceTask {
  mxacc::ReduceKind kind;
  Walk kept;    /*!< over the output and both inputs */
  Walk reduced; /*!< over both inputs */
  int64_t outputs;
  int64_t count; /*!< of elements that are reduced into each */
  int64_t ddof;
  DType element; /*!< that the elements are converted to */
  bool multiplies;
  Slot out;
  Slot inputs[2]; /*!< the second only where it multiplies */
};

/*! \brief How a reduction is spread over the device: by threads, an output each, or by blocks, of
 * which so many share an output. */
struct ReducePlan {
  bool by_blocks;
  int64_t parts;
  size_t part_size; /*!< bytes that a part needs; 0 where no memory is needed */
};

ReducePlan PlanReduction(const ReduceTask& task);
/*! \brief memory has room for plan.parts parts of each output. */
void LaunchReduction(StreamHandle stream, const ReduceTask& task, const ReducePlan& plan,
                     void* memory);

/*! \brief Products of matrices of floats, of any strides. */
struct ProductTask {
  /*! \brief Steps from row to row, from column to column, and from matrix to matrix. */
  struct Matrix {
    Slot slot;
    int64_t row;
    int64_t column;
    int64_t batch;
  };

  int64_t rows;
  int64_t columns;
  int64_t summed;
  int64_t batch; /*!< how many there are */
  DType dtype;   /*!< that is computed in */
  Matrix out;
  Matrix a;
  Matrix b;
};

void LaunchProduct(StreamHandle stream, const ProductTask& task);

/*! \brief softmax or log_softmax of some rows, which are of any strides. */
struct SoftmaxTask {
  bool is_log;
  DType dtype;        /*!< that is computed in, float32 or float64 */
  double temperature; /*!< what the elements are divided by first */
  Walk rows;          /*!< over the output and the input */
  int64_t num_rows;
  int64_t length;   /*!< of a row */
  int64_t steps[2]; /*!< along a row, in the output and the input */
  Slot out;
  Slot input; /*!< may be the output */
};

void LaunchSoftmax(StreamHandle stream, const SoftmaxTask& task);

}  // namespace cudaacc

#endif  // CUDAACC_KERNELS_H_
