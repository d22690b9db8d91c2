/*!
 * \file mxnet_acc_functions.h
 * \brief The simple way to write an accelerator library: functions that are found by their names.
 *
 * A library that exports these functions, and not mxacc_get_api, is an accelerator, too. It is
 * simple, and can do less than one with the table of mxnet_acc.h: tensors are row-major, calls are
 * blocking, arrays are on device 0 only, and an error is a number without words. Which functions
 * there are is up to the library; getAccName and getNumAcc must be there. C99, also C11 and C++17.
 *
 * Threads. MXNet calls one function at a time.
 *
 * Lifetime. What a function is given is valid until it returns; what it gives out stays until the
 * next call into the library, unless it says otherwise.
 *
 * Results. An int is 0 for success, unless it says otherwise. Anything else is a failure, whose
 * number MXNet tells the user.
 */
#ifndef MXNET_ACC_FUNCTIONS_H_
#define MXNET_ACC_FUNCTIONS_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define MXACC_FN_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define MXACC_FN_EXPORT __attribute__((visibility("default")))
#else
#define MXACC_FN_EXPORT
#endif

/*! \brief Room for the name of an accelerator, with its NUL. */
#define MXACC_FN_NAME_SIZE 32
/*! \brief Room for answers of configure. */
#define MXACC_FN_MAX_ANSWERS 64

/*! \brief Types of elements. An array of another type stays on the CPU where an operator runs. */
typedef enum MXAccFnType {
  kMXAccFnFloat32 = 0,
  kMXAccFnFloat64 = 1,
  kMXAccFnFloat16 = 2,
  kMXAccFnUint8 = 3, /*!< also raw bytes: what is copied of an array whose type is not listed */
  kMXAccFnInt32 = 4,
  kMXAccFnInt8 = 5,
  kMXAccFnInt64 = 6
} MXAccFnType;

/*! \brief A row-major tensor. */
typedef struct MXAccFnTensor {
  void* data; /*!< on the accelerator what mx_alloc gave, plus the bytes to the first element */
  const uint64_t* shape;
  uint64_t shape_len;
  int32_t dtype;      /*!< one of MXAccFnType */
  int32_t isSparse;   /*!< 0; MXNet passes no sparse tensor to such a library */
  const char* layout; /*!< "NCHW" ...; NULL for none */
} MXAccFnTensor;

/*!
 * \brief Runs an operator for tensors of the shapes and types that accGetExecutor was asked for;
 * what distinguishes operators and attributes is which function it is. It stays as long as the
 * library.
 */
typedef int (*MXAccFnExecutor)(const MXAccFnTensor* inputs, int num_in, MXAccFnTensor* outputs,
                               int num_out);

/*! \brief Required. Writes the name, [a-z][a-z0-9_]*, into MXACC_FN_NAME_SIZE characters. */
MXACC_FN_EXPORT void getAccName(char* name);
/*! \brief Required. How many devices there are; negative for a failure. After initialize. */
MXACC_FN_EXPORT int getNumAcc(void);
/*! \brief Called once, with MXNet's version: 10203 is 1.2.3. Other than 0 rejects that version. */
MXACC_FN_EXPORT int initialize(int version);

/*! \brief Memory of device 0 that one may count bytes in, aligned to 64; NULL if there is none. */
MXACC_FN_EXPORT void* mx_alloc(size_t size);
MXACC_FN_EXPORT void mx_free(void* data);
/*! \brief Frees all that is allocated. */
MXACC_FN_EXPORT void mx_releaseAll(void);
/*! \brief Copies a tensor of the host to one on the accelerator, of its shape and type. */
MXACC_FN_EXPORT int copyToAcc(MXAccFnTensor* target, const MXAccFnTensor* source);
/*! \brief The same from the accelerator to the host. */
MXACC_FN_EXPORT int copyFromAcc(MXAccFnTensor* target, const MXAccFnTensor* source);

/*! \brief Other than 0 where accGetExecutor and mx_alloc may be called. */
MXACC_FN_EXPORT int supportsImperative(void);
/*!
 * \brief How an operator is executed; NULL where it is not, and MXNet does it on the CPU.
 * Operators and attributes are those of MXAccOperator in mxnet_acc.h; of tensors only the shape
 * and the type are known.
 */
MXACC_FN_EXPORT MXAccFnExecutor accGetExecutor(const char* op_name, const MXAccFnTensor* inputs,
                                               const MXAccFnTensor* outputs, int num_in,
                                               int num_out, const char* const* attr_keys,
                                               const char* const* attr_vals, int num_attrs);

/*!
 * \brief Writes for each node of the graph -1, which it has before: it stays on the CPU; 0: it goes
 * into whatever subgraph suits; or the number of a group.
 */
MXACC_FN_EXPORT void supportedOps(const char* json, const char* const* data_names,
                                  const MXAccFnTensor* data, int num_data, int* ids);
/*! \brief Compiles a graph under an id that is not in use. */
MXACC_FN_EXPORT int loadModel(const char* model_id, const char* json, const char* const* data_names,
                              const MXAccFnTensor* data, int num_data, int dev_id);
MXACC_FN_EXPORT void unloadModel(const char* model_id);
/*! \brief Runs a model; inputs and outputs are known by name, and outputs have their memory. */
MXACC_FN_EXPORT int infer(const char* model_id, const char* const* in_names,
                          const char* const* out_names, const MXAccFnTensor* in_data,
                          MXAccFnTensor* out_data, int num_in, int num_out);

/*!
 * \brief Takes keywords with values and gives others out, at most MXACC_FN_MAX_ANSWERS. Returns
 * their number, or a negative one for a failure, such as an unknown keyword.
 */
MXACC_FN_EXPORT int configure(const char* const* in_keys, const char* const* in_vals, int num_in,
                              const char** out_keys, const char** out_vals);

#ifdef __cplusplus
}
#endif

#endif /* MXNET_ACC_FUNCTIONS_H_ */
