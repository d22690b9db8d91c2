/*!
 * \file faults.h
 * \brief Failures on demand: "mx_alloc@3=memory,run@10+".
 */
#ifndef REFACC_FAULTS_H_
#define REFACC_FAULTS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace refacc {

/*!
 * \brief Which calls fail, and how.
 *
 * Items are separated by commas. Each begins with what fails: a member of MXAccApi, mxacc_get_api,
 * run, or work, which is given to a stream and fails when it is executed. It may go on with
 *
 *   @3      the third call alone, or @3+, all from the third on, instead of all;
 *   =crash  the process ends, =hang: the call never returns, or one of failed, which is meant
 * without it, bad_argument, unsupported, memory, no_device, rejected, bad_index and cancelled: the
 * call says so.
 *
 * Calls count from when the text is set. Any thread may call Reach.
 */
class Faults {
 public:
  Faults() = default;
  explicit Faults(const std::string& text);

  /*! \brief Counts a call, and throws the Failure that is due, if one is. */
  void Reach(const char* call) const {
    if (items_ != nullptr) Fail(Count(call), call);
  }
  /*! \brief Counts a call; what is due, for Fail, or 0. */
  int32_t Due(const char* call) const { return items_ == nullptr ? 0 : Count(call); }
  /*! \brief Fails as Due said. */
  static void Fail(int32_t due, const char* call);
  const std::string& text() const { return text_; }

 private:
  struct Item {
    std::string call;
    uint64_t first;
    uint64_t last;
    int32_t code; /*!< kCrash, kHang, or of MXAccError */
    uint64_t count;
  };
  static Item ReadItem(const std::string& text);
  int32_t Count(const char* call) const;

  std::string text_;
  /*! \brief Shared by copies, which go on counting where they were made; NULL where nothing fails.
   */
  std::shared_ptr<std::vector<Item>> items_;
};

}  // namespace refacc

#endif  // REFACC_FAULTS_H_
