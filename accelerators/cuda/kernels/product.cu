/*!
 * \file product.cu
 * \brief Products of matrices, by tiles, where cuBLAS is not there or does not do them.
 */
#include <cmath>

#include "kernels.h"
#include "launch.h"

namespace cudaacc {
namespace {

/*! \brief Rows and columns of the output that a block makes. */
constexpr int kTile = 64;
/*! \brief Length of the tiles along the summed axis. */
constexpr int kDepth = 16;
/*! \brief Rows and columns of the output that each thread computes; neighbours are kSide apart. */
constexpr int kOwn = 4;
constexpr int kSide = kTile / kOwn;
static_assert(kSide * kSide == kThreads, "all threads of a block have the same to do");

template <typename C>
struct ProductBlock {
  struct Shared {
    C a[kDepth][kTile + 1]; /*!< one more, so that columns lie in different banks of memory */
    C b[kDepth][kTile + 1];
  };
  struct Sums {
    C of[kOwn][kOwn];
  };
  ProductTask task;
  int64_t tiles_down;
  int64_t tiles_across;

  CUDAACC_BOTH void Run(int64_t block, Shared* shared) const {
    const int64_t row = block % tiles_down * kTile;
    const int64_t column = block / tiles_down % tiles_across * kTile;
    const int64_t batch = block / (tiles_down * tiles_across);
    PerThread<Sums> sums;
    ForThreads([&](int thread) { sums[thread] = Sums{}; });
    for (int64_t k = 0; k < task.summed; k += kDepth) {
      ForThreads([&](int thread) {
        LoadTile(task.a, task.rows, row, k, batch, thread, shared->a);
        LoadTile(Turned(task.b), task.columns, column, k, batch, thread, shared->b);
      });
      ForThreads([&](int thread) { AddTile(*shared, thread, &sums[thread]); });
    }
    ForThreads([&](int thread) { StoreTile(row, column, batch, thread, sums[thread]); });
  }

 private:
  CUDAACC_BOTH static ProductTask::Matrix Turned(const ProductTask::Matrix& matrix) {
    return {matrix.slot, matrix.column, matrix.row, matrix.batch};
  }
  /*! \brief Rows from row on and columns from k on, 0 beyond the matrix; as columns of the tile. */
  CUDAACC_BOTH void LoadTile(const ProductTask::Matrix& matrix, int64_t rows, int64_t row,
                             int64_t k, int64_t batch, int thread, C (*tile)[kTile + 1]) const {
    const bool rows_are_dense = matrix.row == 1;
    for (int i = thread; i < kTile * kDepth; i += kThreads) {
      // Neighbouring threads read neighbouring elements, where there are any.
      const int down = rows_are_dense ? i % kTile : i / kDepth;
      const int deep = rows_are_dense ? i / kTile : i % kDepth;
      const bool inside = row + down < rows && k + deep < task.summed;
      const int64_t position = matrix.slot.first + batch * matrix.batch +
                               (row + down) * matrix.row + (k + deep) * matrix.column;
      tile[deep][down] = inside ? Load<C>(matrix.slot, position, task.dtype) : C{0};
    }
  }
  CUDAACC_BOTH static void AddTile(const Shared& shared, int thread, Sums* sums) {
    const int across = thread % kSide;
    const int down = thread / kSide;
    for (int k = 0; k < kDepth; ++k) {
      for (int i = 0; i < kOwn; ++i) {
        for (int j = 0; j < kOwn; ++j) {
          sums->of[i][j] = std::fma(shared.a[k][down + i * kSide], shared.b[k][across + j * kSide],
                                    sums->of[i][j]);
        }
      }
    }
  }
  CUDAACC_BOTH void StoreTile(int64_t row, int64_t column, int64_t batch, int thread,
                              const Sums& sums) const {
    for (int i = 0; i < kOwn; ++i) {
      for (int j = 0; j < kOwn; ++j) {
        const int64_t down = row + thread / kSide + i * kSide;
        const int64_t across = column + thread % kSide + j * kSide;
        if (down >= task.rows || across >= task.columns) continue;
        const ProductTask::Matrix& out = task.out;
        const int64_t position =
            out.slot.first + batch * out.batch + down * out.row + across * out.column;
        Store(out.slot, position, sums.of[i][j]);
      }
    }
  }
};

template <typename C>
void Launch(StreamHandle stream, const ProductTask& task) {
  const int64_t down = (task.rows - 1) / kTile + 1;
  const int64_t across = (task.columns - 1) / kTile + 1;
  LaunchBlocks(stream, down * across * task.batch, ProductBlock<C>{task, down, across});
}

}  // namespace

void LaunchProduct(StreamHandle stream, const ProductTask& task) {
  if (task.dtype == DType::kFloat64) return Launch<double>(stream, task);
  Launch<float>(stream, task);
}

}  // namespace cudaacc
