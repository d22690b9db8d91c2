/*!
 * \file operator.h
 * \brief What the runtime asks of whoever carries operators out.
 */
#ifndef MXNET_SRC_RUNTIME_CORE_OPERATOR_H_
#define MXNET_SRC_RUNTIME_CORE_OPERATOR_H_

#include <mxnet/op/c_operator_api.h>

/*! \brief Carries operators out; each function does what that of the C API does. */
typedef struct {
  int (*call)(const MXNetOperator* op, MXNetFunctionHandle func, const MXNetValue* values,
              const int* type_codes, int num_args, MXNetValue* ret, int* ret_type_code);
  int (*infer)(const MXNetOperator* op, MXNetFunctionHandle func, const MXNetValue* values,
               const int* type_codes, int num_args, MXNetTensorSpec* outputs, int* num_out);
  int (*read_ints)(const MXNetValue* value, int type_code, MXNetFunctionHandle func, int index,
                   int64_t* out, int32_t* count, int32_t* single);
} MXNetOperatorAdapter;

/*! \brief Sets the one adapter of the process, which lives as long as that. */
extern "C" MXNET_DLL void MXNetOperatorSetAdapter(const MXNetOperatorAdapter* adapter);

#endif  // MXNET_SRC_RUNTIME_CORE_OPERATOR_H_
