/*!
 * \file model_profile.h
 * \brief What a library tells of the work of one run of a model.
 */
#ifndef MXNET_SRC_ACC_PARTITION_MODEL_PROFILE_H_
#define MXNET_SRC_ACC_PARTITION_MODEL_PROFILE_H_

#include <mxnet_acc.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "acc/device/device.h"

namespace mxnet {
namespace acc {

/*! \brief A piece of work; times are of CLOCK_MONOTONIC. */
struct WorkRecord {
  std::string name;
  int64_t node; /*!< of the graph; 0 where it is of none */
  uint64_t work;
  int64_t begin_ns;
  int64_t end_ns;
};

/*!
 * \brief Takes a device's records from its construction to End. A process has one at a time: others
 * wait.
 */
class Profiling {
 public:
  explicit Profiling(Device* device);
  ~Profiling();
  Profiling(const Profiling&) = delete;
  Profiling& operator=(const Profiling&) = delete;

  /*! \brief The records in the order in which the work began: those of the work of that number, and
   * those of which the library does not say. No other comes. */
  std::vector<WorkRecord> End(uint64_t work);
  /*! \brief Why there are no records though the library gives some; else "". */
  const std::string& problem() const { return problem_; }

 private:
  class Collector;

  /*! \brief Calls the library's profile; whether it succeeded. */
  bool Call(MXAccProfileSink sink);

  Device* device_;
  std::unique_lock<std::mutex> one_;
  std::unique_ptr<Collector> collector_; /*!< where the library has begun */
  std::string problem_;
};

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_PARTITION_MODEL_PROFILE_H_
