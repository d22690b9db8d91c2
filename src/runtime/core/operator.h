/*!
 * \file operator.h
 * \brief The interface by which the runtime reaches the package that executes operators.
 */
#ifndef MXNET_SRC_RUNTIME_CORE_OPERATOR_H_
#define MXNET_SRC_RUNTIME_CORE_OPERATOR_H_

#include <mxnet/op/c_operator_api.h>

/*!
 * \brief The status of a call that needs elements of a device: the code that drives the device has
 * to execute it. Other callers find an error set. An unlikely number, so that no body of somebody
 * else returns it by accident.
 */
constexpr int kElementsElsewhere = -0x4d58;

/*! \brief Executes operators; each function does what that of the C API does. */
typedef struct {
  int (*call)(const MXNetOperator* op, MXNetFunctionHandle func, const MXNetValue* values,
              const int* type_codes, int num_args, MXNetValue* ret, int* ret_type_code);
  int (*infer)(const MXNetOperator* op, MXNetFunctionHandle func, const MXNetValue* values,
               const int* type_codes, int num_args, MXNetTensorSpec* outputs, int* num_out);
  int (*read_ints)(const MXNetValue* value, int type_code, MXNetFunctionHandle func, int index,
                   int64_t* out, int64_t room, int64_t* count, int32_t* single);
} MXNetOperatorAdapter;

/*! \brief Sets the one adapter of the process, which lives as long as that. */
extern "C" MXNET_DLL void MXNetOperatorSetAdapter(const MXNetOperatorAdapter* adapter);

#endif  // MXNET_SRC_RUNTIME_CORE_OPERATOR_H_
