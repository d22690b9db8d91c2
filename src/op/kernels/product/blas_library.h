/*!
 * \file blas_library.h
 * \brief The BLAS, loaded when a product first needs it.
 *
 * Its own threads start, and spin, as soon as it is loaded, although they get no work. A program
 * that multiplies nothing, or has yet to finish its imports, is spared them.
 */
#ifndef MXNET_SRC_OP_KERNELS_PRODUCT_BLAS_LIBRARY_H_
#define MXNET_SRC_OP_KERNELS_PRODUCT_BLAS_LIBRARY_H_

#include <cblas.h>

namespace mxnet {
namespace op {
namespace blas {

/*! \brief The routines in use, X(name) for each. */
#define MXNET_BLAS_ROUTINES(X) \
  X(cdotu_sub)                 \
  X(cgemm)                     \
  X(cgemv)                     \
  X(ddot)                      \
  X(dgemm)                     \
  X(dgemv)                     \
  X(dsyrk)                     \
  X(sdot)                      \
  X(sgemm)                     \
  X(sgemv)                     \
  X(ssyrk)                     \
  X(zdotu_sub)                 \
  X(zgemm)                     \
  X(zgemv)

/*! \brief Their addresses. */
struct Library {
#define MXNET_BLAS_MEMBER(name) decltype(&scipy_cblas_##name) name;
  MXNET_BLAS_ROUTINES(MXNET_BLAS_MEMBER)
#undef MXNET_BLAS_MEMBER
  int (*get_num_threads)();

  /*! \brief The library; the first call loads it. ImportError where that fails. */
  static const Library& Get() {
    static const Library library = Load();
    return library;
  }

  /*! \brief The library for a routine that may be shared among threads, once there are as many as
   * it may take. RuntimeError where the system has no more. */
  static const Library& WithThreads();

 private:
  static Library Load();
};

}  // namespace blas
}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_PRODUCT_BLAS_LIBRARY_H_
