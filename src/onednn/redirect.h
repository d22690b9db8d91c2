/*!
 * \file redirect.h
 * \brief Has oneDNN call other functions for OpenMP's.
 */
#ifndef MXNET_SRC_ONEDNN_REDIRECT_H_
#define MXNET_SRC_ONEDNN_REDIRECT_H_

namespace mxnet {
namespace onednn {

/*! \brief Sets how many threads regions take that the calling thread begins; whether there are so
 * many. */
using SetThreads = bool (*)(int threads);

/*!
 * \brief Has oneDNN call kOpenMPFunctions, unless another library of this project has it call its
 * own already, which then stays loaded.
 *
 * \return What sets the number of threads, of the library whose functions oneDNN calls.
 * \throws ImportError where oneDNN does not call GNU's OpenMP.
 */
SetThreads RedirectOpenMP();

/*!
 * \brief Has oneDNN call GNU's OpenMP again, unless it calls another library's functions or other
 * libraries rely on these. Nobody may be in a region.
 *
 * \return Whether this library may be unloaded.
 */
bool RestoreOpenMP();

}  // namespace onednn
}  // namespace mxnet

/*! \brief For another library of this project that finds oneDNN redirected to this one. */
extern "C" __attribute__((visibility("default"))) mxnet::onednn::SetThreads
mxnet_onednn_share_threads();

#endif  // MXNET_SRC_ONEDNN_REDIRECT_H_
