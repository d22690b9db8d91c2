/*!
 * \file library.h
 * \brief What exists from initialize to finalize: the settings and the devices.
 */
#ifndef REFACC_LIBRARY_H_
#define REFACC_LIBRARY_H_

#include <mxnet_acc.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

#include "../sdk/instance.h"
#include "../sdk/profiler.h"
#include "counter.h"
#include "memory.h"
#include "sdk.h"
#include "settings.h"
#include "stream.h"

namespace refacc {

/*! \brief Handles that are in use. Any thread may call. */
class InUse {
 public:
  /*! \brief False where it is in use already. */
  bool Enter(const void* handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return handles_.insert(handle).second;
  }
  void Leave(const void* handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    handles_.erase(handle);
  }

 private:
  std::mutex mutex_;
  std::unordered_set<const void*> handles_;
};

struct Device {
  Device(int32_t id, const Settings& settings)
      : memory(id, settings.opaque), name("refacc device " + std::to_string(id)) {}

  Memory memory;
  InUse workspaces;
  Profiler profiler;
  const std::string name;
  Counter runs;
  Counter copies;
  Counter compiled; /*!< models of loadModel */
  Counter imported; /*!< models of importModel */
  Counter updated;  /*!< calls of updateWeights that succeeded */
  /*! \brief Where one thread at a time was promised: that which is inside. */
  std::atomic<std::thread::id> inside{};
};

/*! \brief Any thread may call. */
class Library {
 public:
  Library(const MXAccRuntime* runtime, const Settings& settings);

  const MXAccRuntime& runtime() const { return *runtime_; }
  void Warn(const std::string& message) const;

  /*! \brief The current settings; the object stays valid and unchanged until finalize. */
  const Settings& settings() const { return *settings_.load(std::memory_order_acquire); }
  /*! \brief Replaces the settings by a copy that change(Settings*) has modified; keeps them if it
   * throws. */
  template <typename Change>
  const Settings& ChangeSettings(Change&& change) {
    const std::lock_guard<std::mutex> lock(versions_mutex_);
    Settings changed = settings();
    std::forward<Change>(change)(&changed);
    versions_.push_back(std::move(changed));
    settings_.store(&versions_.back(), std::memory_order_release);
    return versions_.back();
  }

  /*! \brief A text that stays until finalize. */
  const char* Keep(const std::string& text) {
    const std::lock_guard<std::mutex> lock(versions_mutex_);
    return texts_.insert(text).first->c_str();
  }

  size_t num_devices() const { return devices_.size(); }
  /*! \brief Failure where there is none of that number. */
  Device& device(int32_t dev_id) {
    if (dev_id < 0 || static_cast<size_t>(dev_id) >= devices_.size()) {
      CheckDevice(dev_id, devices_.size());
    }
    return *devices_[static_cast<size_t>(dev_id)];
  }

 private:
  const MXAccRuntime* runtime_;
  std::mutex versions_mutex_;
  /*! \brief Old versions are kept, as another thread may still be reading one. */
  std::deque<Settings> versions_;
  std::atomic<const Settings*> settings_;
  std::set<std::string> texts_;
  std::vector<std::unique_ptr<Device>> devices_;
};

/*! \brief The library of the table of that self; Failure before initialize and after finalize. */
inline Library& LibraryOf(void* self) { return Instance<Library>::Get(self); }
void MakeLibrary(void* self, const MXAccRuntime* runtime);

/*! \brief A call for a device while it lasts. Failure where one thread at a time was promised and
 * another is inside. */
class DeviceCall {
 public:
  DeviceCall(Library& library, const char* name, int32_t dev_id)
      : device_(library.device(dev_id)), settings_(library.settings()) {
    settings_.faults.Reach(name);
    if (settings_.one_thread) Enter(name);
  }
  ~DeviceCall() {
    if (counted_) device_.inside.store(std::thread::id(), std::memory_order_relaxed);
  }
  DeviceCall(const DeviceCall&) = delete;
  DeviceCall& operator=(const DeviceCall&) = delete;

  Device& device() { return device_; }
  /*! \brief The settings as they were when the call began. */
  const Settings& settings() const { return settings_; }

 private:
  void Enter(const char* name);

  Device& device_;
  const Settings& settings_;
  bool counted_{false};
};

/*! \brief The status of body(Device&, const Settings&), called as the member of MXAccApi of that
 * name. */
template <typename Body>
MXAccStatus OnDevice(const char* name, void* self, int32_t dev_id, Body&& body) {
  return StatusOf([&] {
    DeviceCall call(LibraryOf(self), name, dev_id);
    std::forward<Body>(body)(call.device(), call.settings());
  });
}

/*! \brief Gives work to a stream, which fails there where the settings have a fault for it. */
template <typename Work>
void GiveWork(MXAccStream stream, uint64_t number, const Settings& settings, Work&& work) {
  const int32_t due = settings.faults.Due("work");
  if (due == 0) return FromHandle(stream)->Add(number, std::forward<Work>(work));
  FromHandle(stream)->Add(number, [due, work = std::forward<Work>(work)] {
    Faults::Fail(due, "work");
    work();
  });
}

/*! \brief The functions that go into the table, by file. */
void SetMemoryFunctions(MXAccApi* api);
void SetStreamFunctions(MXAccApi* api);
void SetOperatorFunctions(MXAccApi* api);
void SetModelFunctions(MXAccApi* api);

}  // namespace refacc

#endif  // REFACC_LIBRARY_H_
