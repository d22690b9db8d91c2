/*!
 * \file options.h
 * \brief What models are compiled with: the options of loadModel and the keywords of configure.
 */
#ifndef OVACC_OPTIONS_H_
#define OVACC_OPTIONS_H_

#include <mxnet_acc.h>

#include <string>
#include <utility>
#include <vector>

namespace ovacc {

/*! \brief A value for each option. At first OpenVINO computes in float32, for one run at a time. */
class Options {
 public:
  Options();
  /*! \brief Those that text() gave. Failure, kMXAccBadArgument, for another text. */
  explicit Options(const std::string& text);

  /*! \brief Failure, kMXAccBadArgument, which names `call`, for what is no option or no value of
   * it. */
  void Set(const char* call, const std::string& name, const std::string& value);
  /*! \brief The same for a value of any kind. */
  void Set(const char* call, const MXAccAttribute& option);

  /*! \brief Names and values. */
  std::vector<std::pair<std::string, std::string>> items() const;
  std::string text() const;
  /*! \brief The same as OpenVINO's properties. */
  std::vector<std::pair<std::string, std::string>> properties() const;

  /*! \brief For listOptions. */
  static const std::vector<MXAccOption>& All();

 private:
  std::vector<std::string> values_; /*!< in the order of the table */
};

}  // namespace ovacc

#endif  // OVACC_OPTIONS_H_
