/*!
 * \file library.h
 * \brief What exists from initialize to finalize: the devices.
 */
#ifndef CUDAACC_LIBRARY_H_
#define CUDAACC_LIBRARY_H_

#include <deque>
#include <string>
#include <utility>

#include "device.h"

namespace cudaacc {

/*! \brief Any thread may call. */
class Library {
 public:
  explicit Library(const MXAccHost* host);

  void Warn(const std::string& message) const { Log(*host_, kMXAccWarning, message); }
  /*! \brief How many devices there are; Failure with the reason where there is none. */
  int32_t CountDevices() const;
  /*! \brief Failure where there is none of that number. */
  Device& device(int32_t dev_id);

 private:
  const MXAccHost* host_;
  std::deque<Device> devices_;
  std::string missing_; /*!< why there is no device */
};

/*! \brief Failure before initialize and after finalize. */
Library& TheLibrary();
void MakeLibrary(const MXAccHost* host);
void DropLibrary();

/*! \brief The status of body(Device&), in which the device is the thread's. Failure where it cannot
 * be used. */
template <typename Body>
MXAccStatus OnDevice(int32_t dev_id, Body&& body) {
  return StatusOf([&] {
    Device& device = TheLibrary().device(dev_id);
    if (!device.traits.reason.empty()) throw Failure(kMXAccNoDevice, device.traits.reason);
    const OnDeviceOf current(device.id);
    std::forward<Body>(body)(device);
  });
}

/*! \brief The functions that go into the table, by file. */
void SetMemoryFunctions(MXAccApi* api);
void SetStreamFunctions(MXAccApi* api);
void SetOperatorFunctions(MXAccApi* api);

}  // namespace cudaacc

#endif  // CUDAACC_LIBRARY_H_
