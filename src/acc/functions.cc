/*!
 * \file functions.cc
 * \brief Accelerators for the front ends: functions of the registry.
 */
#include <mxnet/runtime/registry.h>

#include <utility>

#include "acc/copy.h"
#include "acc/table.h"

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

MXNET_REGISTER_API("mx.acc.load")
    .describe("Loads an accelerator library and returns its first context.")
    .arg("path", "The library, as an absolute path.")
    .arg("name", "What it is called; '' for the name that it gives itself.")
    .arg("isolated", false, "Whether into a process of its own.")
    .set_body_typed([](const std::string& path, const std::string& name, bool isolated) {
      const Slot* slot = Table::Global()->Load(path, name, isolated);
      return Context{static_cast<DLDeviceType>(slot->device_type), 0};
    });

MXNET_REGISTER_API("mx.acc.unload")
    .describe("Unloads an accelerator that no array is on.")
    .arg("name", "Its name.")
    .set_body_typed([](const std::string& name) { Table::Global()->Unload(name); });

MXNET_REGISTER_API("mx.acc.loaded")
    .describe(
        "The loaded accelerators, of each (name, path, ABI version, devices, imperative, release, "
        "process or 0).")
    .returns("tuple[tuple[Any, ...], ...]")
    .set_body([](MXNetArgs, MXNetRetValue* ret) {
      std::vector<Any> rows;
      for (Slot* slot : Table::Global()->Loaded()) {
        const InUse used(slot);
        const MXAccApi& api = used->api();
        rows.push_back(Any::Of(
            Tuple({Text(slot->name), Text(used->plugin().path()),
                   Text(std::to_string(api.abi_major) + "." + std::to_string(api.abi_minor)),
                   Number(static_cast<uint64_t>(used->num_devices())),
                   Any::Of(used->plugin().imperative()), Text(TextOf(api.release)),
                   Number(static_cast<uint64_t>(
                       used->plugin().isolated() ? used->plugin().stand_in()->Pid() : 0))})));
      }
      *ret = Tuple(std::move(rows));
    });

MXNET_REGISTER_API("mx.acc.table_address")
    .describe("Address of an accelerator's MXAccApi, for who tests one; valid while it is loaded.")
    .arg("name", "Its name.")
    .set_body_typed([](const std::string& name) {
      const InUse used(Table::Global()->Find(name));
      return static_cast<int64_t>(reinterpret_cast<intptr_t>(&used->api()));
    });

MXNET_REGISTER_API("mx.acc.device_info")
    .describe("What a device says of itself: (name, vendor, driver, reason, flags).")
    .arg("ctx", "The device.")
    .returns("tuple[Any, ...]")
    .set_body_typed([](Context ctx) {
      const InUse used(SlotOf(ctx));
      const MXAccDeviceInfo& info = used->device(ctx.device_id)->info();
      return Tuple({Text(info.name), Text(info.vendor), Text(info.driver), Text(info.reason),
                    Number(info.flags)});
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

MXNET_REGISTER_API("mx.acc.configure")
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

MXNET_REGISTER_API("mx.context.copy")
    .describe("The array itself if it is in the context, else a row-major copy there.")
    .arg("array", "Any array.")
    .arg("ctx", "Where it is wanted.")
    .name_errors()
    .release_gil(1 << 16)
    .set_body_typed([](const NDArray& array, Context ctx) { return InContext(array, ctx); });

}  // namespace
}  // namespace acc
}  // namespace mxnet
