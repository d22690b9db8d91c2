/*!
 * \file plugin.h
 * \brief The table of one accelerator library, checked, and the library it comes from.
 */
#ifndef MXNET_SRC_ACC_PLUGIN_PLUGIN_H_
#define MXNET_SRC_ACC_PLUGIN_PLUGIN_H_

#include <mxnet_acc.h>

#include <cstdint>
#include <memory>
#include <string>

#include "acc/plugin/adapter.h"

namespace mxnet {
namespace acc {

/*! \brief Version of the operators' meaning, for MXAccRuntime::operator_set. */
constexpr int32_t kOperatorSet = 1;

/*!
 * \brief A loaded library whose table was checked. It is initialized, and finalized at its end.
 *
 * All throw ImportError, saying which library and what is wrong with it, or what the library's own
 * error maps to.
 */
class Plugin {
 public:
  /*! \brief Loads the file into this process; path is absolute. */
  explicit Plugin(const std::string& path) : Plugin(path, nullptr) {}
  /*! \brief The same for an adapter that replaces a library loaded elsewhere; NULL for none. */
  Plugin(const std::string& path, std::unique_ptr<Adapter> adapter);
  ~Plugin();
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;

  /*! \brief Calls initialize; once. */
  void Initialize();
  /*! \brief Calls finalize, after which the destructor may unload the library; once. */
  void Finalize();

  /*! \brief The table; members that the library does not have are NULL. */
  const MXAccApi& api() const { return api_; }
  const std::string& path() const { return path_; }
  /*! \brief The loader's handle of the library. */
  const void* library() const { return library_; }
  /*! \brief The name that the library gives itself. */
  const std::string& own_name() const { return own_name_; }
  bool isolated() const { return isolated_; }
  /*! \brief The adapter that the table calls instead of the library; may be NULL. */
  Adapter* adapter() const { return adapter_.get(); }
  bool imperative() const { return imperative_; }

 private:
  void Open();
  void FillTable();
  void CheckTable() const;
  std::string ReadName() const;
  [[noreturn]] void Reject(const std::string& reason) const;

  std::string path_;
  std::string own_name_;
  void* library_{nullptr};
  /*! \brief The adapter whose table is used where the library does not fill one. */
  std::unique_ptr<Adapter> adapter_;
  MXAccRuntime runtime_{};
  MXAccApi raw_{}; /*!< as the library has filled it */
  MXAccApi api_{};
  bool isolated_;
  bool initialized_{false};
  bool imperative_{false};
};

/*! \brief Whether the text is [a-z][a-z0-9_]* of at most 31 characters. */
bool IsAcceleratorName(const std::string& name);

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_PLUGIN_PLUGIN_H_
