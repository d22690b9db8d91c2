/*!
 * \file fault.h
 * \brief Which of its faults the library has.
 */
#ifndef PLANTED_FAULT_H_
#define PLANTED_FAULT_H_

#include <cstdlib>
#include <string>

namespace planted {

/*! \brief Whether it is the one that the environment's MXACC_PLANTED names. */
inline bool Has(const char* fault) {
  static const std::string chosen = [] {
    const char* name = std::getenv("MXACC_PLANTED");
    return std::string(name == nullptr ? "" : name);
  }();
  return chosen == fault;
}

}  // namespace planted

#endif  // PLANTED_FAULT_H_
