/*!
 * \file openmp.h
 * \brief OpenMP's functions, as far as oneDNN calls them, on the pool of threads of operators.
 */
#ifndef MXNET_SRC_ONEDNN_OPENMP_H_
#define MXNET_SRC_ONEDNN_OPENMP_H_

#include <cstddef>

namespace mxnet {
namespace op {
class ThreadPool;
}
namespace onednn {

/*!
 * \brief The pool of threads that oneDNN computes with. Whoever these files are compiled for
 * defines it: functions/ for plans, where it is the one of operators, the accelerator for its
 * models.
 */
op::ThreadPool* Pool();

/*! \brief A function that oneDNN calls by that name. */
struct OpenMPFunction {
  const char* name;
  void* address;
};

constexpr size_t kNumOpenMPFunctions = 10;
extern const OpenMPFunction kOpenMPFunctions[kNumOpenMPFunctions];

/*! \brief How many threads regions take that the calling thread begins from now on. */
int RegionThreads() noexcept;
void SetRegionThreads(int threads) noexcept;

}  // namespace onednn
}  // namespace mxnet

#endif  // MXNET_SRC_ONEDNN_OPENMP_H_
