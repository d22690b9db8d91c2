/*!
 * \file mkl.cc
 * \brief How products are shared among threads, each of which calls MKL for its part.
 *
 * MKL would start threads of its own, or of the OpenMP that it is linked with, beside those of the
 * pool.
 */
#include "graph/mkl.h"

#include <mxnet/runtime/error.h>
#include <mxnet/runtime/registry.h>

#include <algorithm>
#include <atomic>

#include "op/parallel/parallel.h"

namespace mxnet {
namespace graph {
namespace {

using op::product::BlasMatrix;

std::atomic<Mkl::Sgemm> sgemm{nullptr};
std::atomic<Mkl::SetThreads> set_threads{nullptr};

/*! \brief Rows and columns of a part are a multiple of this, but for those of the last ones. */
constexpr int64_t kStep = 16;

/*! \brief How a matrix is cut. */
struct Parts {
  Parts(int64_t extent, int64_t count) {
    size = (extent + count - 1) / count;
    size = (size + kStep - 1) / kStep * kStep;
    number = (extent + size - 1) / size;
  }
  int64_t size;
  int64_t number;
};

/*! \brief Into how many parts rows are cut, of so many parts of which the others are cuts of
 * columns: those that read the least of both factors. */
int64_t CutsOfRows(int64_t rows, int64_t columns, int64_t count) {
  int64_t best = 1;
  for (int64_t cuts = 1; cuts <= count; ++cuts) {
    if (count % cuts != 0) continue;
    const auto read = [&](int64_t of_rows) { return rows / of_rows + columns / (count / of_rows); };
    if (read(cuts) < read(best)) best = cuts;
  }
  return best;
}

/*! \brief Where a part of a factor begins. */
const float* From(const BlasMatrix<float>& x, int64_t row, int64_t column) {
  const bool is_turned = x.trans == CblasTrans;
  return x.data + (is_turned ? column * x.ld + row : row * x.ld + column);
}

const char* NameOf(CBLAS_TRANSPOSE trans) { return trans == CblasTrans ? "T" : "N"; }

}  // namespace

void Mkl::Use(Sgemm given, SetThreads setter) noexcept {
  sgemm = given;
  set_threads = setter;
}

bool Mkl::IsThere() noexcept { return sgemm.load() != nullptr && set_threads.load() != nullptr; }

bool Mkl::IsWorthIt() noexcept {
#if defined(__x86_64__)
  return IsThere() && __builtin_cpu_is("intel") != 0;
#else
  return false;
#endif
}

void Mkl::Gemm(const BlasMatrix<float>& a, const BlasMatrix<float>& b,
               const op::product::Operands<float>& p, float alpha, float beta, float* c) {
  const int64_t threads = op::NumThreads();
  const int64_t cuts = CutsOfRows(p.m, p.n, threads);
  const Parts rows(p.m, cuts);
  const Parts columns(p.n, threads / cuts);
  op::ForEachItem(rows.number * columns.number, [&](int64_t item) {
    const int64_t row = item / columns.number * rows.size;
    const int64_t column = item % columns.number * columns.size;
    const auto m = static_cast<int>(std::min(rows.size, p.m - row));
    const auto n = static_cast<int>(std::min(columns.size, p.n - column));
    const auto k = static_cast<int>(p.k);
    const auto ldc = static_cast<int>(p.n);
    const int before = set_threads.load()(1);
    // Rows of c are its columns there, and so the second factor comes first.
    sgemm.load()(NameOf(b.trans), NameOf(a.trans), &n, &m, &k, &alpha, From(b, 0, column), &b.ld,
                 From(a, row, 0), &a.ld, &beta, c + row * p.n + column, &ldc);
    set_threads.load()(before);
  });
}

MXNET_REGISTER_API("mx.use_mkl")
    .describe(
        "Tells of an MKL in the process, whose products plans then take on Intel's "
        "processors: the addresses of its functions.")
    .arg("sgemm", "sgemm_, of 32-bit integers.")
    .arg("set_num_threads_local", "MKL_Set_Num_Threads_Local.")
    .name_errors()
    .set_body_typed([](int64_t given, int64_t setter) {
      Mkl::Use(reinterpret_cast<Mkl::Sgemm>(given), reinterpret_cast<Mkl::SetThreads>(setter));
    });

MXNET_REGISTER_API("mx.graph.has_mkl")
    .describe("Whether large products of plans are MKL's, see mx.use_mkl.")
    .set_body_typed(&Mkl::IsWorthIt);

}  // namespace graph
}  // namespace mxnet
