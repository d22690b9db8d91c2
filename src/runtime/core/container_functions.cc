/*!
 * \file container_functions.cc
 * \brief Functions by which front ends make containers, read and change them.
 */
#include <mxnet/runtime/registry.h>

namespace mxnet {
namespace runtime {
namespace {

MXNET_REGISTER_API("ffi.convert")
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
    .add_argument("map", "Map | Dict", "The Map or Dict.")
    .add_argument("key", "Any", "The key.")
    .returns("int")
    .set_body_typed([](ObjectRef map, Any key) {
      if (map.type_index() != kMXNetObjectMap && map.type_index() != kMXNetObjectDict) {
        MXNET_THROW("TypeError") << "ffi.MapFind: argument 0 ('map') expected dict, got "
                                 << TypeNameOf(details::AnyOfObject(map).value(),
                                               details::AnyOfObject(map).type_code());
      }
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

MXNET_REGISTER_API("ffi.SeqSlice")
    .describe("Some elements of an Array or a List as another one of the same kind.")
    .arg("seq", "The Array or List.")
    .arg("start", "Number of the first element.")
    .arg("step", "From one element to the next.")
    .arg("count", "How many elements.")
    .set_body_typed([](ObjectRef seq, int64_t start, int64_t step, int64_t count) -> Any {
      const bool is_list = seq.type_index() == kMXNetObjectList;
      if (!is_list && seq.type_index() != kMXNetObjectArray) {
        MXNET_THROW("TypeError") << "ffi.SeqSlice: argument 0 ('seq') expected an Array or a List";
      }
      const auto& run = reinterpret_cast<const MXNetSeqObject*>(seq.get())->items;
      if (step == 0) MXNET_THROW("ValueError") << "ffi.SeqSlice: argument 2 ('step') is 0";
      std::vector<Any> items;
      for (int64_t i = 0; i < count; ++i) {
        int64_t at = 0;
        if (__builtin_mul_overflow(i, step, &at) || __builtin_add_overflow(at, start, &at) ||
            at < 0 || static_cast<uint64_t>(at) >= run.size) {
          MXNET_THROW("IndexError") << "ffi.SeqSlice: element " << start << " + " << i << " * "
                                    << step << " of " << run.size;
        }
        items.push_back(Any::Share(run.data[at]));
      }
      if (is_list) return details::ToAny(List<Any>(std::move(items)));
      return details::ToAny(Array<Any>(std::move(items)));
    });

MXNET_REGISTER_API("ffi.List")
    .describe("Makes a List that owns its elements.")
    .arg("items", "The elements.")
    .set_body_typed([](Array<Any> items) {
      return List<Any>(std::vector<Any>(items.begin(), items.end()));
    });

MXNET_REGISTER_API("ffi.List.__setitem__")
    .describe("Replaces an element of a List.")
    .flags(kMXNetFuncMethod)
    .arg("self")
    .arg("index", "From 0.")
    .arg("value")
    .set_body_typed([](List<Any> list, uint64_t index, Any value) {
      list.Set(index, std::move(value));
    });

MXNET_REGISTER_API("ffi.List.insert")
    .describe("Puts a value before an element of a List, or behind the last.")
    .flags(kMXNetFuncMethod)
    .arg("self")
    .arg("index", "From 0.")
    .arg("value")
    .set_body_typed([](List<Any> list, uint64_t index, Any value) {
      list.Insert(index, std::move(value));
    });

MXNET_REGISTER_API("ffi.List.append")
    .describe("Puts a value behind the last element of a List.")
    .flags(kMXNetFuncMethod)
    .arg("self")
    .arg("value")
    .set_body_typed([](List<Any> list, Any value) { list.push_back(std::move(value)); });

MXNET_REGISTER_API("ffi.List.extend")
    .describe("Puts values behind the last element of a List.")
    .flags(kMXNetFuncMethod)
    .arg("self")
    .arg("values", "What is put there.")
    .set_body_typed([](List<Any> list, Array<Any> values) {
      list.Replace(list.size(), 0, std::vector<Any>(values.begin(), values.end()));
    });

MXNET_REGISTER_API("ffi.List.replace")
    .describe("Replaces some elements of a List.")
    .flags(kMXNetFuncMethod)
    .arg("self")
    .arg("start", "Number of the first element.")
    .arg("count", "How many elements go.")
    .arg("items", "What replaces them.")
    .set_body_typed([](List<Any> list, uint64_t start, uint64_t count, Array<Any> items) {
      list.Replace(start, count, std::vector<Any>(items.begin(), items.end()));
    });

MXNET_REGISTER_API("ffi.Dict")
    .describe("Makes a Dict that owns its keys and values.")
    .arg("items", "The entries.")
    .set_body_typed([](Map<Any, Any> items) { return Dict<Any, Any>(details::EntriesOf(items)); });

MXNET_REGISTER_API("ffi.Dict.__setitem__")
    .describe("Adds an entry to a Dict, or replaces the value of one.")
    .flags(kMXNetFuncMethod)
    .arg("self")
    .arg("key")
    .arg("value")
    .set_body_typed([](Dict<Any, Any> dict, Any key, Any value) {
      dict.Set(std::move(key), std::move(value));
    });

MXNET_REGISTER_API("ffi.Dict.__delitem__")
    .describe("Removes an entry of a Dict, by its number.")
    .flags(kMXNetFuncMethod)
    .arg("self")
    .arg("entry", "From 0, in order of insertion.")
    .set_body_typed([](Dict<Any, Any> dict, uint64_t entry) {
      if (entry >= dict.size()) {
        MXNET_THROW("IndexError") << "ffi.Dict.__delitem__: entry " << entry << " of a Dict of "
                                  << dict.size();
      }
      details::EraseEntry(reinterpret_cast<MXNetDictObject*>(dict.get()), entry);
    });

MXNET_REGISTER_API("ffi.Dict.popitem")
    .describe("Removes the entry of a Dict that was added last, and returns its key and value.")
    .flags(kMXNetFuncMethod)
    .arg("self")
    .set_body_typed([](Dict<Any, Any> dict) {
      if (dict.size() == 0) MXNET_THROW("KeyError") << "ffi.Dict.popitem: the Dict is empty";
      auto* object = reinterpret_cast<MXNetDictObject*>(dict.get());
      return Tuple(details::EraseEntry(object, dict.size() - 1));
    });

MXNET_REGISTER_API("ffi.Dict.clear")
    .describe("Removes all entries of a Dict.")
    .flags(kMXNetFuncMethod)
    .arg("self")
    .set_body_typed([](Dict<Any, Any> dict) { dict.clear(); });

}  // namespace
}  // namespace runtime
}  // namespace mxnet
