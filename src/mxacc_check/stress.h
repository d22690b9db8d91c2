/*!
 * \file stress.h
 * \brief Threads that call an accelerator library at once, for mxacc-check.
 *
 * Threads of Python hardly overlap: the interpreter lets one at a time prepare its call.
 */
#ifndef MXNET_SRC_MXACC_CHECK_STRESS_H_
#define MXNET_SRC_MXACC_CHECK_STRESS_H_

#include <mxnet_acc.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*!
 * \brief What each thread does: copies the inputs to the device, runs an operator on them, and
 * copies the result back.
 */
typedef struct {
  const MXAccOperator* op;       /*!< NULL: inputs are copied to the device and back */
  const MXAccExecutor* executor; /*!< that all threads share; NULL where each makes its own */
  const MXTensor* inputs;        /*!< row-major tensors of the host */
  const MXTensor* expected;      /*!< the same; what one thread alone was given */
  int32_t num_in;
  int32_t num_out;
} StressJob;

/*! \brief Whether a result that differs in some byte from the expected one is right all the same.
 */
typedef int (*StressJudge)(int32_t job, const MXTensor* came);

typedef struct {
  const MXAccApi* api;
  const StressJob* jobs;
  StressJudge judge; /*!< called by one thread at a time */
  int32_t dev_id;
  int32_t num_jobs;
  int32_t threads;
  int32_t rounds;     /*!< of each thread */
  int32_t one_thread; /*!< not 0: one call into the library at a time */
} Stress;

/*!
 * \brief Runs all threads; writes the first failure, or "", cut to the room there is.
 */
MXACC_EXPORT void mxacc_check_stress(const Stress* stress, char* failure, size_t room);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // MXNET_SRC_MXACC_CHECK_STRESS_H_
