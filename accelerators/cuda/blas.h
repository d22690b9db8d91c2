/*!
 * \file blas.h
 * \brief Matrix products by cuBLAS, where it is installed.
 */
#ifndef CUDAACC_BLAS_H_
#define CUDAACC_BLAS_H_

#include <cstdint>

#include "../sdk/operators/dtype.h"
#include "cublas_api.h"
#include "optional_library.h"
#include "runtime.h"

namespace cudaacc {

/*! \brief cuBLAS as it was found once: at the path in MXACC_CUBLAS, or else by the loader. */
class BlasLibrary : public OptionalLibrary {
 public:
  static const BlasLibrary& Get();

  cublas::Create create{};
  cublas::Destroy destroy{};
  cublas::SetStream set_stream{};
  cublas::SetMathMode set_math_mode{};
  cublas::GetVersion get_version{};
  cublas::GetStatusString get_status_string{};
  cublas::Gemm gemm{};

  void Check(cublas::Status status, const char* call) const;

 private:
  BlasLibrary();
};

/*! \brief A batch of products of row-major matrices; cuBLAS takes their sizes as int. */
struct BlasProduct {
  /*! \brief The first matrix of the batch; the next begins stride elements later. */
  struct Matrix {
    void* data;
    bool transposed;
    int64_t leading;
    int64_t stride;
  };

  mxacc::DType dtype;
  int64_t rows;
  int64_t columns;
  int64_t summed;
  int64_t batch;
  Matrix out;
  Matrix a;
  Matrix b;

  /*! \brief Whether cuBLAS has the type, and its int holds all sizes. */
  bool fits() const;
};

/*! \brief cuBLAS for one device; one thread at a time. The device is the thread's. */
class Blas {
 public:
  using Library = BlasLibrary;

  Blas();
  ~Blas();
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;

  int version() const;
  void Multiply(StreamHandle stream, const BlasProduct& product, bool allows_tf32);

 private:
  const BlasLibrary& library_;
  cublas::Handle handle_{nullptr};
};

}  // namespace cudaacc

#endif  // CUDAACC_BLAS_H_
