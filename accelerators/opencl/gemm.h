/*!
 * \file gemm.h
 * \brief Matrix products by CLBlast.
 */
#ifndef OPENCL_GEMM_H_
#define OPENCL_GEMM_H_

#include "executor.h"

namespace opencl {

/*! \brief The axes of a product, each with its strides in the output, a and b; 0 where it is not
 * theirs. */
struct ProductAxes {
  Axes batch{3};   /*!< of all three */
  Axes rows{3};    /*!< of the output and a */
  Axes columns{3}; /*!< of the output and b */
  Axes summed{3};  /*!< of a and b */
};

/*! \brief Whether that many elements are worth a call of CLBlast. */
bool IsWorthGemm(const ProductAxes& axes);

/*! \brief Work for a, b and the output of one type, float32 or float64. */
std::unique_ptr<Work> MakeGemm(const Request& request, ProductAxes axes);

/*! \brief Drops the programs that CLBlast keeps, and by them contexts. */
void ForgetGemms();

}  // namespace opencl

#endif  // OPENCL_GEMM_H_
