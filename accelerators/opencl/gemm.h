/*!
 * \file gemm.h
 * \brief Matrix products by CLBlast.
 */
#ifndef OPENCL_GEMM_H_
#define OPENCL_GEMM_H_

#include "../sdk/operators/product.h"
#include "work.h"

namespace opencl {

/*! \brief Whether that many elements are worth a call of CLBlast. */
bool IsWorthGemm(const ProductAxes& axes);

/*! \brief Work for a, b and the output of one type, float32 or float64. */
std::unique_ptr<Work> MakeGemm(const Request& request, const ProductAxes& axes);

/*! \brief Drops the compiled programs that CLBlast caches, which hold references to contexts. */
void ForgetGemms();

}  // namespace opencl

#endif  // OPENCL_GEMM_H_
