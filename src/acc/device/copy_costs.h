/*!
 * \file copy_costs.h
 * \brief How long copies between the host and a device take.
 */
#ifndef MXNET_SRC_ACC_DEVICE_COPY_COSTS_H_
#define MXNET_SRC_ACC_DEVICE_COPY_COSTS_H_

#include <mutex>
#include <optional>

namespace mxnet {
namespace acc {

class Device;

/*! \brief Microseconds of a copy in one direction: of any, and of each byte besides. */
struct CopyCost {
  double base;
  double per_byte;
};

struct CopyCosts {
  CopyCost to_device;
  CopyCost to_host;
};

/*! \brief Those of a device, measured when they are first asked for. Any thread may call. */
class MeasuredCopies {
 public:
  /*! \brief Throws what copies of 1 MiB fail with. */
  CopyCosts Get(Device* device);
  /*! \brief Has them measured again, as the library was configured. */
  void Clear();

 private:
  std::mutex mutex_; /*!< held while they are measured */
  std::optional<CopyCosts> costs_;
};

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_DEVICE_COPY_COSTS_H_
