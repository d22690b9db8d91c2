/*!
 * \file mxnet/runtime/packed_func.h
 * \brief PackedFunc: a callable whose arguments and result are tagged values.
 */
#ifndef MXNET_RUNTIME_PACKED_FUNC_H_
#define MXNET_RUNTIME_PACKED_FUNC_H_

#include <mxnet/runtime/packed_func/arguments.h>
#include <mxnet/runtime/packed_func/function.h>
#include <mxnet/runtime/packed_func/result.h>
#include <mxnet/runtime/packed_func/typed.h>

#endif  // MXNET_RUNTIME_PACKED_FUNC_H_
