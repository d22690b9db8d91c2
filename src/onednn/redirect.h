/*!
 * \file redirect.h
 * \brief Has oneDNN call other functions for OpenMP's.
 */
#ifndef MXNET_SRC_ONEDNN_REDIRECT_H_
#define MXNET_SRC_ONEDNN_REDIRECT_H_

namespace mxnet {
namespace onednn {

/*!
 * \brief Has oneDNN call kOpenMPFunctions, unless another library of this project has it call its
 * own already.
 *
 * \return The function that sets how many threads regions take that the calling thread begins.
 * \throws ImportError where oneDNN does not call GNU's OpenMP.
 */
using SetThreads = void (*)(int threads);
SetThreads RedirectOpenMP();

}  // namespace onednn
}  // namespace mxnet

/*! \brief SetRegionThreads, for another library of this project that finds oneDNN redirected. */
extern "C" __attribute__((visibility("default"))) void mxnet_onednn_set_threads(int threads);

#endif  // MXNET_SRC_ONEDNN_REDIRECT_H_
