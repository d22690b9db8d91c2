/*!
 * \file functions.cc
 * \brief Accelerators for the front ends: functions of the registry.
 */
#include <mxnet/runtime/registry.h>

#include <optional>
#include <utility>

#include "acc/device/arrays.h"
#include "acc/device/table.h"
#include "acc/device/transfers.h"
#include "acc/dispatch/dispatch.h"
#include "acc/dispatch/executor_cache.h"
#include "acc/isolated/process.h"

namespace mxnet {
namespace acc {
namespace {

Any Text(const std::string& text) { return Any::Of(String(text)); }

Any Number(uint64_t number) { return Any::Of(static_cast<int64_t>(number)); }

Slot* SlotOf(Context ctx) {
  Slot* slot = Table::Global()->Find(ctx.device_type);
  if (slot == nullptr) {
    MXNET_THROW("ValueError") << "expected a context of an accelerator, got " << ContextName(ctx);
  }
  return slot;
}

/*! \brief Calls use(slot, accelerator) of each accelerator, but for those unloaded meanwhile. */
template <typename Use>
void ForEachLoaded(const Use& use) {
  for (Slot* slot : Table::Global()->Loaded()) {
    std::optional<InUse> used;
    try {
      used.emplace(slot);
    } catch (const Error&) {
      continue;
    }
    use(*slot, used->get());
  }
}

/*!
 * \brief Waits for all devices of all accelerators. Returns the failures that nobody was told of;
 * those of an accelerator that is being unloaded are told by the unloading.
 */
std::vector<FailureRef> TakeAllUntold() {
  std::vector<FailureRef> all;
  ForEachLoaded([&](const Slot&, Accelerator* accelerator) {
    for (FailureRef& failure : accelerator->TakeUntold()) all.push_back(std::move(failure));
  });
  return all;
}

Tuple Messages(const std::vector<FailureRef>& failures) {
  std::vector<Any> messages;
  for (const FailureRef& failure : failures) {
    messages.push_back(Text(failure->kind() + ": " + failure->message()));
  }
  return Tuple(std::move(messages));
}

Tuple StatsRow(const Slot& slot, const OperatorStats& stats) {
  const OperatorStats::Figures figures = stats.Read();
  const CallCost& cost = figures.cost;
  std::vector<Any> reasons;
  for (const auto& [reason, count] : figures.reasons) {
    reasons.push_back(Any::Of(Tuple({Text(reason), Number(count)})));
  }
  return Tuple({Text(slot.name), Text(stats.name()), Number(figures.on_accelerator),
                Number(figures.on_cpu), Number(cost.bytes), Number(cost.copying),
                Number(cost.waiting), Number(cost.computing), Any::Of(Tuple(std::move(reasons)))});
}

MXNET_REGISTER_API("mx.acc.load")
    .describe("Loads an accelerator library and returns its first context.")
    .arg("path", "The library, as an absolute path.")
    .arg("name", "What it is called; '' for the name that it gives itself.")
    .arg("isolated", false, "Whether into a process of its own.")
    .arg("timeout", 0.0, "Seconds that a call may take there; 0 for any time.")
    .set_body_typed([](const std::string& path, const std::string& name, bool isolated,
                       double timeout) {
      Slot* slot = Table::Global()->Load(path, name, {isolated, timeout}, &NewExecutorCache);
      UseProvider();
      RegisterOperators(slot);
      return Context{static_cast<DLDeviceType>(slot->device_type), 0};
    });

MXNET_REGISTER_API("mx.acc.unload")
    .describe("Unloads an accelerator that no array is on; returns the errors nobody was told of.")
    .arg("name", "Its name.")
    .returns("tuple[str, ...]")
    .release_gil(0)
    .set_body_typed([](const std::string& name) {
      const std::vector<FailureRef> untold = Table::Global()->Unload(name);
      RemoveOperators(name);
      return Messages(untold);
    });

MXNET_REGISTER_API("mx.acc.take_untold")
    .describe("Waits for the work on all devices; returns the errors nobody was told of.")
    .returns("tuple[str, ...]")
    .release_gil(0)
    .set_body_typed([]() { return Messages(TakeAllUntold()); });

MXNET_REGISTER_API("mx.acc.loaded")
    .describe(
        "The loaded accelerators, of each (name, path, ABI version, devices, imperative, release, "
        "process or 0, whether that has ended).")
    .returns("tuple[tuple[Any, ...], ...]")
    .set_body([](MXNetArgs, MXNetRetValue* ret) {
      std::vector<Any> rows;
      isolated::Process::ReapEnded();
      ForEachLoaded([&](const Slot& slot, const Accelerator* accelerator) {
        const MXAccApi& api = accelerator->api();
        const Plugin& plugin = accelerator->plugin();
        const int64_t pid = plugin.isolated() ? plugin.adapter()->Pid() : int64_t{0};
        const bool ended = pid != 0 && !isolated::Process::IsRunning(pid);
        rows.push_back(Any::Of(
            Tuple({Text(slot.name), Text(plugin.path()),
                   Text(std::to_string(api.abi_major) + "." + std::to_string(api.abi_minor)),
                   Number(static_cast<uint64_t>(accelerator->num_devices())),
                   Any::Of(plugin.imperative()), Text(TextOf(api.release)), Any::Of(pid),
                   Any::Of(ended)})));
      });
      *ret = Tuple(std::move(rows));
    });

MXNET_REGISTER_API("mx.acc.table_address")
    .describe("Address of an accelerator's MXAccApi, for who tests one; valid while it is loaded.")
    .arg("name", "Its name.")
    .set_body_typed([](const std::string& name) {
      const InUse used(Table::Global()->Find(name));
      return static_cast<int64_t>(reinterpret_cast<intptr_t>(&used->api()));
    });

MXNET_REGISTER_API("mx.acc.operator_set")
    .describe("Version of the meaning of operators and attributes that libraries are told.")
    .returns("int")
    .set_body_typed([] { return kOperatorSet; });

MXNET_REGISTER_API("mx.acc.device_info")
    .describe("What a device says of itself: (name, vendor, driver, reason, flags, kind, bus).")
    .arg("ctx", "The device.")
    .returns("tuple[Any, ...]")
    .set_body_typed([](Context ctx) {
      const InUse used(SlotOf(ctx));
      const MXAccDeviceInfo& info = used->device(ctx.device_id)->info();
      return Tuple({Text(info.name), Text(info.vendor), Text(info.driver), Text(info.reason),
                    Number(info.flags), Any::Of(int64_t{info.kind}), Text(info.bus)});
    });

MXNET_REGISTER_API("mx.acc.memory")
    .describe(
        "Bytes of a device's memory: (in use, kept for later, peak, total, free), and blocks.")
    .arg("ctx", "The device.")
    .returns("tuple[int, ...]")
    .set_body_typed([](Context ctx) {
      const InUse used(SlotOf(ctx));
      const MemoryUse use = used->device(ctx.device_id)->Use();
      return Tuple({Number(use.in_use), Number(use.kept), Number(use.peak), Number(use.total),
                    Number(use.free_bytes), Number(use.blocks)});
    });

MXNET_REGISTER_API("mx.acc.empty_cache")
    .describe("Gives memory that is kept for later arrays back to the device.")
    .arg("ctx", "The device.")
    .set_body_typed([](Context ctx) {
      const InUse used(SlotOf(ctx));
      used->device(ctx.device_id)->TrimPool();
    });

MXNET_REGISTER_API("runtime.configure_device")
    .describe("Passes options to an accelerator; returns what it answers, key, value, key, ...")
    .add_argument("ctx", "Context", "The device.")
    .add_variadic("options", "str", "Key, value, key, value, ...")
    .returns("tuple[str, ...]")
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      const auto ctx = args[0].As<Context>();
      std::vector<std::pair<std::string, std::string>> options;
      for (int i = 1; i + 1 < args.size(); i += 2) {
        options.emplace_back(args[i].As<std::string>(), args[i + 1].As<std::string>());
      }
      const InUse used(SlotOf(ctx));
      std::vector<Any> answers;
      for (const auto& [key, value] : used->Configure(ctx.device_id, options)) {
        answers.push_back(Text(key));
        answers.push_back(Text(value));
      }
      *ret = Tuple(std::move(answers));
    });

MXNET_REGISTER_API("mx.acc.stats")
    .describe(
        "What became of the operators called on accelerators: (accelerator, operator, calls there, "
        "calls on the CPU, bytes copied, nanoseconds copying, waiting for the device and computing "
        "on the CPU, why on the CPU with the number of calls for each reason) of each.")
    .returns("tuple[tuple[Any, ...], ...]")
    .set_body([](MXNetArgs, MXNetRetValue* ret) {
      std::vector<Any> rows;
      ForEachLoaded([&](const Slot& slot, Accelerator* accelerator) {
        for (const OperatorStats* stats : accelerator->stats().All()) {
          rows.push_back(Any::Of(StatsRow(slot, *stats)));
        }
      });
      *ret = Tuple(std::move(rows));
    });

MXNET_REGISTER_API("mx.acc.count_fallbacks")
    .describe("Counts nodes of a graph that the CPU has executed instead of a device.")
    .add_argument("ctx", "Context", "The device.")
    .add_variadic("nodes", "Any", "Operator, reason, number of nodes, operator, ...")
    .returns("None")
    .set_body([](MXNetArgs args, MXNetRetValue*) {
      const InUse used(SlotOf(args[0].As<Context>()));
      for (int i = 1; i + 2 < args.size(); i += 3) {
        const auto count = args[i + 2].As<int64_t>();
        if (count <= 0) {
          MXNET_THROW("ValueError") << "mx.acc.count_fallbacks: argument " << i + 2
                                    << ": expected a number above 0, got " << count;
        }
        OperatorStats* stats = used->stats().Of(args[i].As<std::string>().c_str());
        stats->CountFallback(args[i + 1].As<std::string>(), static_cast<uint64_t>(count));
      }
    });

MXNET_REGISTER_API("mx.acc.reset_stats")
    .describe("Sets all counts of mx.acc.stats to zero.")
    .set_body_typed([]() {
      ForEachLoaded([](const Slot&, Accelerator* accelerator) {
        for (OperatorStats* stats : accelerator->stats().All()) stats->Reset();
      });
    });

constexpr const char* kFallbackModes[] = {"auto", "whole", "error"};

MXNET_REGISTER_API("mx.acc.fallback")
    .describe("Sets what happens where an accelerator lacks an operator; returns what did before.")
    .arg("mode", "'auto', 'whole', 'error', or '' to change nothing.")
    .set_body_typed([](const std::string& mode) -> std::string {
      if (mode.empty()) return kFallbackModes[static_cast<int>(fallback_mode.load())];
      FallbackMode wanted = FallbackMode::kAuto;
      bool known = false;
      for (int i = 0; i < 3; ++i) {
        if (mode != kFallbackModes[i]) continue;
        wanted = static_cast<FallbackMode>(i);
        known = true;
      }
      if (!known) {
        MXNET_THROW("ValueError") << "acc_fallback: argument 0 ('mode') expected 'auto', 'whole' "
                                  << "or 'error', got '" << mode << "'";
      }
      return kFallbackModes[static_cast<int>(fallback_mode.exchange(wanted))];
    });

MXNET_REGISTER_API("mx.acc.waitall")
    .describe(
        "Waits for the work on all devices; throws the first of the errors nobody was told of.")
    .release_gil(0)
    .set_body_typed([]() {
      const std::vector<FailureRef> untold = TakeAllUntold();
      if (untold.empty()) return;
      std::string message = untold[0]->message();
      if (untold.size() > 1) message += " (and " + std::to_string(untold.size() - 1) + " more)";
      throw Error(untold[0]->kind(), message);
    });

MXNET_REGISTER_API("mx.context.location")
    .describe("Where an array's elements are: the memory's handle, and bytes from there.")
    .arg("array", "Any array.")
    .returns("tuple[int, int]")
    .set_body_typed([](const NDArray& array) {
      const Location location = LocationOf(array.get());
      return Tuple(
          {Number(reinterpret_cast<uintptr_t>(location.data)), Number(location.byte_offset)});
    });

MXNET_REGISTER_API("runtime.copy_to_context")
    .describe("The array itself if it is in the context, else a row-major copy there.")
    .arg("array", "Any array.")
    .arg("ctx", "Where it is wanted.")
    .name_errors()
    .release_gil(1 << 16)
    .set_body_typed([](const NDArray& array, Context ctx) { return InContext(array, ctx); });

}  // namespace
}  // namespace acc
}  // namespace mxnet
