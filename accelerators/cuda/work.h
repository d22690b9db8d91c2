/*!
 * \file work.h
 * \brief What operators do on a device.
 */
#ifndef CUDAACC_WORK_H_
#define CUDAACC_WORK_H_

#include <memory>

#include "../sdk/operators/request.h"
#include "../sdk/skeleton/executor.h"
#include "copying.h"

namespace cudaacc {

using Work = WorkOn<Commands, Location>;

/*! \brief One maker for each family: the work of an operator, or NULL if it is not of the family.
 */
std::unique_ptr<Work> MakeElementwise(const Request& request);
std::unique_ptr<Work> MakeMovement(const Request& request);
std::unique_ptr<Work> MakeReduction(const Request& request);
std::unique_ptr<Work> MakeProduct(const Request& request);
std::unique_ptr<Work> MakeSoftmax(const Request& request);

}  // namespace cudaacc

#endif  // CUDAACC_WORK_H_
