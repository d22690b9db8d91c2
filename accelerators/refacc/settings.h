/*!
 * \file settings.h
 * \brief What can be chosen about the accelerator: by REFACC_<NAME> when it is loaded, and some of
 * it by configure. README.md says what each means.
 */
#ifndef REFACC_SETTINGS_H_
#define REFACC_SETTINGS_H_

#include <cstdint>
#include <functional>
#include <string>

#include "faults.h"

namespace refacc {

enum class Guard { kNone, kZones, kPages };
/*! \brief How MXNet learns the shapes of a model's outputs. */
enum class Shapes { kGiven, kAsked, kFound };
/*! \brief What checkModel says. */
enum class Verdict { kRight, kFits, kRecompile, kDoesNotFit };

struct Settings {
  std::string name = "refacc";
  int64_t devices = 2;
  int64_t abi_major;
  int64_t api_size;
  bool opaque = true;
  bool streams = false;
  bool failures_named = true;
  bool strides = true;
  bool one_thread = false;
  bool models = true;

  Guard guard = Guard::kZones;
  bool poison = true;
  int64_t memory = 0;
  int64_t slow = 0;
  int64_t compiling = 0;
  Faults faults;
  std::string operators = "*";
  std::string nodes = "*";
  std::string wrong;
  std::string claims;
  std::string costs;
  Shapes shapes = Shapes::kGiven;
  bool one_run = false;
  bool updates = true;
  Verdict verdict = Verdict::kRight;

  Settings();
  /*! \brief The defaults, changed by the environment. */
  static Settings OfEnvironment();
  /*! \brief Changes what may change once the library is loaded; Failure for anything else. */
  void Set(const std::string& key, const std::string& value);
  /*! \brief Passes the name and value of everything on. */
  void ForEach(const std::function<void(const char* key, const std::string& value)>& visit) const;

  /*! \brief Whether `operators` has the operator: "*" has all, "add,dot" these, "!sum" all others.
   */
  bool HasOperator(const std::string& op) const { return IsIn(operators, op); }
  /*! \brief The same of `nodes`, which is about the operators of graphs. */
  bool HasNode(const std::string& op) const { return IsIn(nodes, op); }
  /*! \brief Whether nodes of the operator give a wrong result in models. */
  bool IsWrong(const std::string& op) const { return !wrong.empty() && IsIn(wrong, op); }

 private:
  static bool IsIn(const std::string& chosen, const std::string& op);
};

}  // namespace refacc

#endif  // REFACC_SETTINGS_H_
