/*!
 * \file call_observer.h
 * \brief The interface by which a library sees calls as they end.
 */
#ifndef MXNET_SRC_RUNTIME_CORE_CALL_OBSERVER_H_
#define MXNET_SRC_RUNTIME_CORE_CALL_OBSERVER_H_

#include <mxnet/runtime/c_runtime_api.h>

/*!
 * \brief Sees a call of MXNetFuncCall that has ended, on its thread: the arguments as they were
 * given, the status, and what it gave. Where the status is not 0 it leaves the last error as it is.
 */
typedef void (*MXNetCallObserver)(MXNetFunctionHandle func, const MXNetValue* values,
                                  const int* type_codes, int num_args, int status,
                                  const MXNetValue* ret, int ret_type_code);

/*! \brief Sets the one observer of the process; NULL for none. */
extern "C" MXNET_DLL void MXNetFuncSetObserver(MXNetCallObserver observer);

#endif  // MXNET_SRC_RUNTIME_CORE_CALL_OBSERVER_H_
