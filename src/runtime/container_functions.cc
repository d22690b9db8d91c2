/*!
 * \file container_functions.cc
 * \brief Functions that make containers of a front end's values and look into them.
 */
#include <mxnet/runtime/registry.h>

namespace mxnet {
namespace runtime {
namespace {

MXNET_REGISTER_API("ffi.own")
    .describe("Returns its argument as an owned value: text, runs and tensors become objects.")
    .add_argument("value", "Any", "What a callback of the front end returned.")
    .returns("Any")
    .set_body([](MXNetArgs args, MXNetRetValue* ret) { *ret = args[0]; });

MXNET_REGISTER_API("ffi.Array")
    .describe("Makes an Array that owns its elements.")
    .add_argument("items", "list[Any] | tuple[Any, ...]", "The elements.")
    .returns("Array")
    .set_body_typed([](Array<Any> items) { return items; });

MXNET_REGISTER_API("ffi.ArraySize")
    .describe("Number of elements of an Array.")
    .add_argument("array", "Array", "The array.")
    .returns("int")
    .set_body_typed([](Array<Any> array) { return array.size(); });

MXNET_REGISTER_API("ffi.ArrayItem")
    .describe("One element of an Array.")
    .add_argument("array", "Array", "The array.")
    .add_argument("index", "int", "From 0.")
    .returns("Any")
    .set_body_typed([](Array<Any> array, uint64_t index) { return array.at(index); });

MXNET_REGISTER_API("ffi.Map")
    .describe("Makes a Map that owns its keys and values.")
    .add_argument("items", "dict[Any, Any]", "The entries.")
    .returns("Map")
    .set_body_typed([](Map<Any, Any> items) { return items; });

MXNET_REGISTER_API("ffi.MapSize")
    .describe("Number of entries of a Map.")
    .add_argument("map", "Map", "The map.")
    .returns("int")
    .set_body_typed([](Map<Any, Any> map) { return map.size(); });

MXNET_REGISTER_API("ffi.MapFind")
    .describe("Number of the entry with a key, -1 where there is none.")
    .add_argument("map", "Map", "The map.")
    .add_argument("key", "Any", "The key.")
    .returns("int")
    .set_body_typed([](Map<Any, Any> map, Any key) {
      return details::FindEntry(*reinterpret_cast<const MXNetMapObject*>(map.get()), key.raw());
    });

MXNET_REGISTER_API("ffi.MapItem")
    .describe("Key and value of an entry of a Map, in order of insertion.")
    .add_argument("map", "Map", "The map.")
    .add_argument("index", "int", "From 0.")
    .returns("tuple[Any, Any]")
    .set_body_typed([](Map<Any, Any> map, uint64_t index) {
      if (index >= map.size())
        MXNET_THROW("IndexError") << "entry " << index << " of a Map of " << map.size();
      return Tuple(std::vector<Any>{map.key(index), map.value(index)});
    });

}  // namespace
}  // namespace runtime
}  // namespace mxnet
