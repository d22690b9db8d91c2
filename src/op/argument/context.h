/*!
 * \file context.h
 * \brief The context new arrays go to where none is named.
 */
#ifndef MXNET_SRC_OP_ARGUMENT_CONTEXT_H_
#define MXNET_SRC_OP_ARGUMENT_CONTEXT_H_

#include <mxnet/runtime/data_type.h>

namespace mxnet {
namespace op {

/*! \brief The calling thread's current context; cpu(0) where no `with ctx:` is open. */
runtime::Context CurrentContext() noexcept;

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_ARGUMENT_CONTEXT_H_
