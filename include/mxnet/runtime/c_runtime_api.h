/*!
 * \file mxnet/runtime/c_runtime_api.h
 * \brief The binary interface of the function boundary, in plain C.
 *
 * Everything that crosses between Python, the runtime and an operator library is declared here.
 * The C++ headers beside this one are header-only and built on it alone, so a library compiled with
 * another compiler or standard library works with the same runtime.
 *
 * Conventions that hold for every function unless it says otherwise:
 *  - Errors: it returns 0 on success and -1 on failure; after -1 MXNetGetLastError() describes the
 *    failure on the calling thread. An `out` parameter is written only on success.
 *  - Ownership: a handle written to an `out` parameter is a new reference the caller releases with
 *    MXNetObjectFree (a function may also be released with MXNetFuncFree). A handle passed in is
 *    borrowed for the duration of the call.
 *  - Threads: it may be called from any thread at any time. No lock is held while user code runs.
 *  - A NULL handle or pointer where one is required is an error, not a crash.
 */
#ifndef MXNET_RUNTIME_C_RUNTIME_API_H_
#define MXNET_RUNTIME_C_RUNTIME_API_H_

#include <stddef.h>
#include <stdint.h>

#include "./dlpack.h"

#ifndef MXNET_DLL
#if defined(_WIN32)
#ifdef MXNET_RUNTIME_EXPORTS
#define MXNET_DLL __declspec(dllexport)
#else
#define MXNET_DLL __declspec(dllimport)
#endif
#else
#define MXNET_DLL __attribute__((visibility("default")))
#endif
#endif

/*! \brief Of what each library has its own, also where it is compiled to export all it can. */
#if defined(_WIN32)
#define MXNET_HIDDEN
#else
#define MXNET_HIDDEN __attribute__((visibility("hidden")))
#endif

/*! \brief Version of this ABI. A library built against another major version is rejected. */
#define MXNET_RUNTIME_ABI_MAJOR 1
#define MXNET_RUNTIME_ABI_MINOR 1

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------
 * Values
 * --------------------------------------------------------------------------------------------- */

/*!
 * \brief The tag of a value. Codes below 64 are MXNet's; those from 64 are this project's.
 *
 * "Borrowed" values live in the caller's frame for the duration of one call and occur only as
 * arguments. A return value and a container element are never borrowed.
 *
 * v_handle of an object, a function or an array is never NULL: where there is none the value is
 * kMXNetNull. Calls do not look, for each would pay for it.
 */
typedef enum {
  kMXNetInt = 0,            /*!< v_int64 */
  kMXNetUInt = 1,           /*!< v_uint64; only for values above INT64_MAX */
  kMXNetFloat = 2,          /*!< v_float64 */
  kMXNetHandle = 3,         /*!< v_handle, an opaque address */
  kMXNetNull = 4,           /*!< no value (None) */
  kMXNetType = 5,           /*!< v_type */
  kMXNetContext = 6,        /*!< v_ctx */
  kMXNetArrayHandle = 7,    /*!< v_handle is a borrowed DLTensor* */
  kMXNetObjectHandle = 8,   /*!< v_handle is an MXNetObject* of any type not listed separately */
  kMXNetModuleHandle = 9,   /*!< v_handle is a module object */
  kMXNetFuncHandle = 10,    /*!< v_handle is an MXNetFunctionHandle */
  kMXNetStr = 11,           /*!< v_str: borrowed UTF-8; a NUL byte is legal and length decides */
  kMXNetBytes = 12,         /*!< v_str: borrowed bytes */
  kMXNetPyArg = 13,         /*!< reserved, as in MXNet */
  kMXNetNDArrayHandle = 14, /*!< v_handle is an MXNetNDArrayHandle */
  kMXNetExtBegin = 15,
  kMXNetExtReserveEnd = 64,
  kMXNetBool = 65,          /*!< v_int64 is 0 or 1; distinct from kMXNetInt */
  kMXNetComplex = 66,       /*!< v_complex */
  kMXNetIntTuple = 67,      /*!< v_ints: borrowed span of integers, given as a tuple */
  kMXNetIntList = 68,       /*!< v_ints: borrowed span of integers, given as a list */
  kMXNetTuple = 69,         /*!< v_seq: borrowed span of tagged values, given as a tuple */
  kMXNetList = 70,          /*!< v_seq: borrowed span of tagged values, given as a list */
  kMXNetDict = 71,          /*!< v_seq: borrowed span key, value, key, value, ... */
  kMXNetReadOnlyArray = 72, /*!< v_handle is a borrowed DLTensor* that must not be written */
  kMXNetMissing = 73,       /*!< argument not given: the callee's described default applies */
  kMXNetKeyword = 74, /*!< v_str: borrowed name of the next argument, for overloaded functions */
  kMXNetEnum = 75,    /*!< v_enum: a member of an enum */
  kMXNetBorrowedArray =
      76, /*!< v_handle is a borrowed MXNetBorrowedTensor*; may be kept, and so shared */
  kMXNetExtEnd = 128
} MXNetTypeCode;

/*! \brief Borrowed bytes with their length. data is not NULL even where size is 0. */
typedef struct {
  const char* data;
  size_t size;
} MXNetByteArray;

/*! \brief Borrowed span of integers. */
typedef struct {
  const int64_t* data;
  size_t size;
} MXNetIntArray;

struct MXNetAny;

/*! \brief Borrowed span of tagged values. */
typedef struct {
  const struct MXNetAny* data;
  size_t size;
} MXNetAnyArray;

/*! \brief A member of an enum: its value, and the type index that the enum's name has. */
typedef struct {
  int64_t value; /*!< instead of v_int64 */
  uint64_t type_index;
} MXNetEnumMember;

/*! \brief One value; which member is valid, and who owns what it points to, the type code says. */
typedef union {
  int64_t v_int64;
  uint64_t v_uint64;
  double v_float64;
  double v_complex[2];
  void* v_handle;
  DLDataType v_type;
  DLDevice v_ctx;
  MXNetByteArray v_str;
  MXNetIntArray v_ints;
  MXNetAnyArray v_seq;
  MXNetEnumMember v_enum;
} MXNetValue;

/*! \brief A value with its tag, for runs and containers. */
typedef struct MXNetAny {
  MXNetValue value;
  int32_t type_code;
  int32_t reserved; /*!< zero */
} MXNetAny;

/* ------------------------------------------------------------------------------------------------
 * Objects
 * --------------------------------------------------------------------------------------------- */

/*!
 * \brief The header of every reference-counted object.
 *
 * The count is changed atomically: increments may be relaxed, the last decrement must acquire.
 * deleter runs once, on whichever thread drops the last reference, and frees the memory.
 *
 * peer belongs to the front end (Python, say): it is the one wrapper that stands for the object
 * there (the PyObject*), so that an object that comes back is the same one. It is NULL in a new
 * object, is read and written under a lock of the front end only, and holds no reference: the
 * wrapper holds one on the object, and clears peer before it gives that up. It is the other way
 * round for the objects that MXNetNDArrayFromBorrowed and MXNetFuncFromCallable make: they stand
 * for something that the front end had before. That is their peer from the start, and they keep it
 * alive.
 */
typedef struct MXNetObject {
  int32_t ref_count;
  uint32_t type_index;
  void (*deleter)(struct MXNetObject* self);
  void* peer;
} MXNetObject;

/*! \brief Type indices fixed by the ABI; indices from kMXNetObjectDynamic are given at run time. */
typedef enum {
  kMXNetObjectNone = 0,
  kMXNetObjectFunction = 1,
  kMXNetObjectNDArray = 2,
  kMXNetObjectString = 3,
  kMXNetObjectBytes = 4,
  kMXNetObjectShape = 5,
  kMXNetObjectTuple = 6,
  kMXNetObjectArray = 7,
  kMXNetObjectMap = 8,
  kMXNetObjectOpaque = 9, /*!< an opaque value of the front end that travels unchanged */
  kMXNetObjectList = 10,
  kMXNetObjectDict = 11,
  kMXNetObjectDynamic = 64
} MXNetObjectTypeIndex;

/*! \brief String and Bytes: data is NUL-terminated one past size for convenience. */
typedef struct {
  MXNetObject header;
  MXNetByteArray bytes;
} MXNetBytesObject;

/*! \brief Shape: an immutable span of integers. */
typedef struct {
  MXNetObject header;
  MXNetIntArray ints;
} MXNetShapeObject;

/*! \brief Tuple and Array: an immutable span of owned values. */
typedef struct {
  MXNetObject header;
  MXNetAnyArray items;
} MXNetSeqObject;

/*! \brief Map: owned keys and values alternating in insertion order, and a hash index over them. */
typedef struct {
  MXNetObject header;
  MXNetAnyArray items;   /*!< 2 * number of entries values */
  const int64_t* index;  /*!< open addressing: entry number or -1; NULL for small maps */
  size_t index_capacity; /*!< a power of two, or 0 */
  uint64_t seed; /*!< of the hashes of this map, so that no one can choose keys that collide */
} MXNetMapObject;

/*!
 * \brief List: a span of owned values that may be changed, under a lock of those who do.
 *
 * Begins as MXNetSeqObject does. items.data is memory of malloc with room for capacity values.
 */
typedef struct {
  MXNetObject header;
  MXNetAnyArray items;
  size_t capacity;
} MXNetListObject;

/*! \brief Dict: a Map that may be changed in the same way; the index is memory of malloc too. */
typedef struct {
  MXNetMapObject map;
  size_t capacity; /*!< values that map.items has room for */
} MXNetDictObject;

/*!
 * \brief A value of the front end (in Python: the PyObject*), kept alive by finalizer.
 *
 * finalizer is called once with `value`; it takes whatever lock the language needs.
 */
typedef struct {
  MXNetObject header;
  void* value;
  void (*finalizer)(void* value);
} MXNetOpaqueObject;

typedef void* MXNetObjectHandle;

/*! \brief Adds a reference. */
MXNET_DLL int MXNetObjectRetain(MXNetObjectHandle obj);

/*! \brief Drops a reference; the object is destroyed with the last one. NULL is accepted. */
MXNET_DLL int MXNetObjectFree(MXNetObjectHandle obj);

/*! \brief Type index of an object. */
MXNET_DLL int MXNetObjectGetTypeIndex(MXNetObjectHandle obj, uint32_t* out_index);

/*! \brief Index of a type key such as "mx.Context"; a key not seen before is given a new index. */
MXNET_DLL int MXNetObjectTypeKey2Index(const char* key, uint32_t* out_index);

/*! \brief Key of a type index. The string lives as long as the process. */
MXNET_DLL int MXNetObjectTypeIndex2Key(uint32_t index, const char** out_key);

/* ------------------------------------------------------------------------------------------------
 * Errors
 * --------------------------------------------------------------------------------------------- */

/*!
 * \brief One C++ stack entry of an error; strings are NULL or UTF-8.
 *
 * Where file is empty and line 0, function is a return address, "0x7f0012345678": the debug
 * information of the library that it lies in names file, line and function.
 */
typedef struct {
  const char* file;
  const char* function;
  int32_t line;
} MXNetErrorFrame;

/*!
 * \brief What went wrong on this thread.
 *
 * kind names a class, "ValueError", "TypeError", or one registered by the front end. payload is
 * NULL, or an object (usually the front end's own exception) that must come back unchanged.
 */
typedef struct {
  size_t struct_size;
  const char* kind;
  MXNetByteArray message;
  const MXNetErrorFrame* frames; /*!< innermost first */
  size_t num_frames;
  MXNetObjectHandle payload;
} MXNetErrorInfo;

/*!
 * \brief The calling thread's last error, never NULL.
 *
 * Everything it points to is borrowed and stays valid until the next failing call or
 * MXNetSetLastError on the same thread.
 */
MXNET_DLL const MXNetErrorInfo* MXNetGetLastError(void);

/*!
 * \brief Sets the calling thread's last error. Strings are copied, payload is retained.
 *
 * NULL clears it and releases the payload. Returns -1, so that a C callback can
 * `return MXNetSetLastError(&info);`.
 */
MXNET_DLL int MXNetSetLastError(const MXNetErrorInfo* info);

/* ------------------------------------------------------------------------------------------------
 * Functions
 * --------------------------------------------------------------------------------------------- */

typedef void* MXNetFunctionHandle;

/*!
 * \brief A function body.
 *
 * args and type_codes are borrowed. On success it writes *ret and *ret_type_code (both are preset
 * to kMXNetNull) with a value that is not borrowed: an object's reference passes to the caller.
 * Returns 0, or -1 after MXNetSetLastError. No exception may leave it.
 */
typedef int (*MXNetPackedCFunc)(void* resource, const MXNetValue* args, const int* type_codes,
                                int num_args, MXNetValue* ret, int* ret_type_code);

/*! \brief Releases what a function body refers to; called once, from any thread. */
typedef void (*MXNetPackedCFuncFinalizer)(void* resource);

/*! \brief Flags of a parameter. */
typedef enum {
  kMXNetParamRequired = 0, /*!< no default */
  kMXNetParamOptional = 1, /*!< default_value applies where the argument is not given */
  kMXNetParamVariadic = 2, /*!< last parameter; takes any number of further arguments */
  kMXNetParamFrontEnd = 4, /*!< in the front-end signature only: must equal its default, and is not
                                passed to the body */
  kMXNetParamKeywordOnly = 8, /*!< front ends take it by name only; the body by position, before a
                                   variadic parameter */
  kMXNetParamMutated = 16     /*!< an array whose elements the body changes */
} MXNetParamFlag;

/*! \brief What a parameter takes; of functions that are no operators, whether it is arrays. */
typedef enum {
  kMXNetRoleAttribute = 0, /*!< a value that selects what is computed */
  kMXNetRoleArray = 1,     /*!< an input: an array, a number, or a nested sequence; front ends
                                keep the element type of a scalar that has one */
  kMXNetRoleArrays = 2,    /*!< inputs: a sequence of those */
  kMXNetRoleOut = 3,       /*!< the array that the result is written to, or None */
  kMXNetRoleContext = 4,   /*!< where the result is made */
  kMXNetRoleDType = 5,     /*!< an element type */
  kMXNetRoleShape = 6,     /*!< extents */
  kMXNetRoleAxes = 7       /*!< an axis, or several */
} MXNetParamRole;

/*! \brief Flags of a function. */
typedef enum {
  /*! An operator: given arrays of an accelerator, or a context of one, it is executed there, or
   *  on the host with copies. The body itself sees arrays and contexts of the host only. */
  kMXNetFuncOperator = 1,
  /*! An operator that reads only the layout of its arrays, wherever their elements are, or has
   *  elements copied as a whole, and says by a status that it needs others. */
  kMXNetFuncAnywhere = 2,
  /*! An operator with a parameter for a context whose default is where the given array is, not the
   *  current context. */
  kMXNetFuncFollowsInput = 4,
  /*! A method: messages do not count its first parameter, the object, among the arguments. */
  kMXNetFuncMethod = 16
} MXNetFuncFlag;

/*! \brief One parameter. Strings are UTF-8; default_value may hold any non-object value or
 * kMXNetStr. */
typedef struct {
  const char* name;
  const char*
      type; /*!< type expression for people and stubs, "int | tuple[int, ...]"; may be NULL */
  const char* doc; /*!< may be NULL */
  int32_t flags;   /*!< MXNetParamFlag, or-ed */
  int32_t role;    /*!< MXNetParamRole */
  MXNetAny default_value;
} MXNetParamInfo;

/*!
 * \brief The one description of a function, from which every other presentation is derived.
 *
 * Members are added at the end only; struct_size tells which of them a library knows.
 */
typedef struct MXNetFuncInfo {
  size_t struct_size;
  int32_t abi_major; /*!< MXNET_RUNTIME_ABI_MAJOR of the library that registers */
  int32_t abi_minor;
  const char* name; /*!< as registered, "_npi.zeros" */
  const char* doc;
  const char* returns; /*!< type expression of the result; may be NULL */
  const char* file;    /*!< where it is defined; may be NULL */
  int32_t line;
  int32_t described; /*!< nonzero: params is complete, so counts and keywords are checked */
  const MXNetParamInfo* params;
  size_t num_params;
  /*!
   * When a front end with a global lock releases it around the call: a negative value never, 0
   * always, n when the tensors among the arguments hold at least n bytes together.
   */
  int64_t release_lock_bytes;
  /*!
   * The ways to call an overloaded function, each with name, doc, returns and params; described is
   * zero and params empty then. Such a function takes arguments by name too: kMXNetKeyword with the
   * name, followed by the value, after all arguments by position.
   */
  const struct MXNetFuncInfo* const* overloads;
  size_t num_overloads;
  uint64_t flags; /*!< MXNetFuncFlag, or-ed */
  /*! What the function computes, an MXNetOperator of mxnet/op/c_operator_api.h; NULL for functions
   *  that are no operators. It is copied; what it refers to lives until its free is called. */
  const void* op;
} MXNetFuncInfo;

/*! \brief What the signature of a body says of one parameter. */
typedef struct {
  const char* type;      /*!< type expression of what it takes */
  const char* type_name; /*!< what messages call it */
  int32_t flags; /*!< kMXNetParamVariadic, and kMXNetParamOptional where it may be left out */
  int32_t role;  /*!< MXNetParamRole: whether it takes arrays */
  int (*takes)(const MXNetAny* value); /*!< nonzero if it takes the value */
} MXNetParamSignature;

/*!
 * \brief Completes the parameters of a description from the signature of the body, and checks them.
 *
 * A parameter without a type gets that of the signature, one without a name "arg0" and so on, and
 * flags that follow from the signature are set; what is set lives as long as signature. A
 * contradiction is a ValueError, a default that the body does not take a TypeError, each of which
 * begins with function, its name. signature is NULL where nothing is known of the body: then only
 * the order of the parameters is checked.
 */
MXNET_DLL int MXNetFuncCompleteParams(const char* function, MXNetParamInfo* params,
                                      size_t num_params, const MXNetParamSignature* signature,
                                      size_t num_signature);

/*!
 * \brief Where the runtime keeps a word that is not 0 while somebody has to learn of every call:
 * a trace, the crash report, or the devices that calls may go to.
 *
 * A front end that answers a call without MXNetFuncCall reads it before each such call, and makes
 * the call where it is not 0. The address never changes.
 */
MXNET_DLL const uint32_t* MXNetCallObservers(void);

/*!
 * \brief Calls a function: the one entry every call goes through.
 *
 * The handle is borrowed and must stay referenced by the caller until the call returns; removing
 * the function from the registry meanwhile is harmless. If the function is described, missing
 * arguments are replaced by their defaults and the count is checked before the body runs.
 * On success *ret_val is owned by the caller: release an object with MXNetObjectFree.
 */
MXNET_DLL int MXNetFuncCall(MXNetFunctionHandle func, const MXNetValue* arg_values,
                            const int* type_codes, int num_args, MXNetValue* ret_val,
                            int* ret_type_code);

/*!
 * \brief Makes a function of a C function pointer.
 *
 * resource is passed to every call; finalizer (may be NULL) gets it once, when the last reference
 * goes, or at once if this call fails.
 */
MXNET_DLL int MXNetFuncCreateFromCFunc(MXNetPackedCFunc func, void* resource,
                                       MXNetPackedCFuncFinalizer finalizer,
                                       MXNetFunctionHandle* out);

/*! \brief Drops a reference to a function. NULL is accepted. */
MXNET_DLL int MXNetFuncFree(MXNetFunctionHandle func);

/*!
 * \brief The function of a callable of the front end: the one there is, or a new one.
 *
 * callable is what func and finalizer are called with, and the peer of the function, so that it
 * comes back as itself. While a function made of the same func and callable lives, this gives that
 * one. finalizer gets callable once for every call: when the function goes, or at once where there
 * was one or this call fails.
 */
MXNET_DLL int MXNetFuncFromCallable(MXNetPackedCFunc func, void* callable,
                                    MXNetPackedCFuncFinalizer finalizer, MXNetFunctionHandle* out);

/*!
 * \brief Attaches a description. Everything in info is copied.
 *
 * Only once for a function and before it is shared between threads.
 */
MXNET_DLL int MXNetFuncSetInfo(MXNetFunctionHandle func, const MXNetFuncInfo* info);

/*! \brief The description, borrowed for as long as func lives; never NULL. */
MXNET_DLL int MXNetFuncGetInfo(MXNetFunctionHandle func, const MXNetFuncInfo** out);

/*! \brief Looks a name up. *out is NULL, and the call succeeds, where nothing has that name. */
MXNET_DLL int MXNetFuncGetGlobal(const char* name, MXNetFunctionHandle* out);

/*!
 * \brief Registers func under a name; the registry takes a reference of its own.
 *
 * A taken name is a ValueError unless allow_override is nonzero. Calls already under way keep the
 * function they started with.
 */
MXNET_DLL int MXNetFuncRegisterGlobal(const char* name, MXNetFunctionHandle func,
                                      int allow_override);

/*! \brief Removes a name. A name that is not registered is a KeyError. */
MXNET_DLL int MXNetFuncRemoveGlobal(const char* name);

/*!
 * \brief All registered names, sorted.
 *
 * *out_names stays valid until the next call of this function on the same thread.
 */
MXNET_DLL int MXNetFuncListGlobalNames(int* out_size, const char*** out_names);

/*!
 * \brief Makes it the last error that an argument is of the wrong type, or out of range; -1.
 *
 * For the body of func, which may be NULL: index is that of its own arguments, expected the name of
 * the type. A TypeError, or an OverflowError where out_of_range is nonzero.
 */
MXNET_DLL int MXNetFuncRejectArgument(MXNetFunctionHandle func, int index, const char* expected,
                                      const MXNetAny* given, int out_of_range);

/*! \brief In the same way that there are too few arguments, or too many: a TypeError; -1. */
MXNET_DLL int MXNetFuncRejectCount(MXNetFunctionHandle func, int expected, int at_least, int given);

/* ------------------------------------------------------------------------------------------------
 * Classes
 * --------------------------------------------------------------------------------------------- */

/*!
 * \brief Reads a field of an object, whose type it checks.
 *
 * *out is owned by the caller, except that text and bytes may be borrowed from the object
 * (kMXNetStr, kMXNetBytes); they are valid until the object is used again. Returns 0, or -1 after
 * MXNetSetLastError.
 */
typedef int (*MXNetFieldGetter)(void* resource, MXNetObjectHandle self, MXNetAny* out);

/*! \brief Writes a field; value is borrowed, as an argument is. Returns 0 or -1 in the same way. */
typedef int (*MXNetFieldSetter)(void* resource, MXNetObjectHandle self, const MXNetAny* value);

/*! \brief A field or property. Strings are UTF-8; type and doc may be NULL. */
typedef struct {
  const char* name;
  const char* type; /*!< type expression for people and stubs */
  const char* doc;
  MXNetFieldGetter getter;
  MXNetFieldSetter setter; /*!< NULL where it is read-only */
  void* resource;          /*!< passed to both; lives as long as the process */
} MXNetFieldInfo;

/*! \brief Flags of a method. */
typedef enum {
  kMXNetMethodStatic = 1 /*!< takes no object as its first argument */
} MXNetMethodFlag;

/*!
 * \brief A method: a function that takes the object first.
 *
 * "__init__" is static and returns the new object. Other names with two underscores mean what they
 * mean in Python; "__ffi_getstate__" returns what a pickle holds, and "__ffi_setstate__", which is
 * static, makes an object of that.
 */
typedef struct {
  const char* name;
  MXNetFunctionHandle func;
  int32_t flags; /*!< MXNetMethodFlag, or-ed */
  int32_t reserved;
} MXNetMethodInfo;

/*! \brief What is known of the objects of one type. */
typedef struct {
  size_t struct_size;
  int32_t abi_major; /*!< MXNET_RUNTIME_ABI_MAJOR of the library that registers */
  int32_t abi_minor;
  const char* key; /*!< "demo.Counter" */
  const char* doc;
  uint32_t type_index;  /*!< set by the runtime */
  uint32_t base_index;  /*!< of the base class; kMXNetObjectNone where there is none */
  int64_t value_offset; /*!< bytes from the header to the C++ value of an object of this type */
  int64_t base_offset;  /*!< bytes from the value of this type to that of its base in it */
  const MXNetFieldInfo* fields;
  size_t num_fields;
  const MXNetMethodInfo* methods;
  size_t num_methods;
  size_t value_size; /*!< bytes of the C++ value; 0 where it is not told. Since 1.1 */
} MXNetTypeInfo;

/*!
 * \brief Describes a type of objects; the key's index is that of MXNetObjectTypeKey2Index.
 *
 * Everything in info is copied, and the methods' functions are retained for good. A key that is
 * described already, or a base that is not, is a ValueError.
 */
MXNET_DLL int MXNetObjectRegisterType(const MXNetTypeInfo* info, uint32_t* out_index);

/*! \brief The description of a type, which lives as long as the process; NULL where there is none.
 */
MXNET_DLL int MXNetObjectGetTypeInfo(uint32_t index, const MXNetTypeInfo** out);

/*!
 * \brief Finds the class that another library has registered under a key. Since 1.1.
 *
 * index is what an earlier call has found, kMXNetObjectNone before the first, and becomes the type
 * index of the class. That changes only where the class was registered anew, and takes no lock
 * where it has not.
 *
 * TypeError where no class is registered under the key, or one whose value has another size or
 * another offset in its objects than the caller was compiled with; index becomes
 * kMXNetObjectNone.
 */
MXNET_DLL int MXNetObjectFindType(const char* key, size_t value_size, int64_t value_offset,
                                  uint32_t* index);

/* ------------------------------------------------------------------------------------------------
 * Arrays
 * --------------------------------------------------------------------------------------------- */

typedef void* MXNetNDArrayHandle;

/*! \brief Flags of an array. */
typedef enum {
  kMXNetNDArrayReadOnly = 1, /*!< the memory must not be written */
  kMXNetNDArrayHasPeer =
      2 /*!< header.peer is the owner that the memory was borrowed from, kept alive */
} MXNetNDArrayFlag;

/*!
 * \brief The visible part of an array object; what follows it is private to the runtime.
 *
 * tensor.strides is never NULL, tensor.data already includes any offset (byte_offset is 0), and
 * tensor may be read by anyone who holds a reference. Elements may be written unless flags forbid.
 */
typedef struct {
  MXNetObject header;
  DLTensor tensor;
  uint64_t flags;
} MXNetNDArrayObject;

/*! \brief How to keep the owner of a borrowed tensor. Both may be called from any thread. */
typedef struct {
  void (*retain)(void* owner);  /*!< adds a reference to owner */
  void (*release)(void* owner); /*!< drops it */
} MXNetOwnerFunctions;

/*!
 * \brief A tensor that is borrowed for a call, and may be shared for longer:
 * MXNetNDArrayFromBorrowed.
 *
 * It begins with the DLTensor, so that a reader need not tell it from kMXNetArrayHandle. tensor is
 * as in MXNetNDArrayObject; flags are of MXNetNDArrayFlag, but for kMXNetNDArrayHasPeer.
 */
typedef struct {
  DLTensor tensor;
  uint64_t flags;
  void* peer;  /*!< what of the front end owns it, as in MXNetObject; or NULL */
  void* owner; /*!< keeps the memory and peer alive while it is referenced */
  const MXNetOwnerFunctions* owner_functions; /*!< lives as long as the process */
} MXNetBorrowedTensor;

/*! \brief Options of MXNetNDArrayCreate, or-ed. */
typedef enum {
  kMXNetCreateUninitialized = 0,
  kMXNetCreateZeroed = 1 /*!< every byte is zero; large arrays get their pages lazily */
} MXNetCreateOption;

/*!
 * \brief A new row-major array. options is of MXNetCreateOption.
 *
 * A negative extent is a ValueError; a size beyond the address space or the memory a MemoryError;
 * a device this runtime cannot allocate on a ValueError.
 */
MXNET_DLL int MXNetNDArrayCreate(const int64_t* shape, int ndim, DLDataType dtype, DLDevice ctx,
                                 int options, MXNetNDArrayHandle* out);

/*!
 * \brief A view that shares the memory of base and keeps it alive.
 *
 * data is the address of the view's first element and must lie in base's memory; strides count
 * elements. The caller vouches that every element reached lies inside base.
 */
MXNET_DLL int MXNetNDArrayView(MXNetNDArrayHandle base, void* data, const int64_t* shape,
                               const int64_t* strides, int ndim, DLDataType dtype,
                               MXNetNDArrayHandle* out);

/*!
 * \brief The same, of a view that does not keep base alive until MXNetNDArrayKeepBase is called.
 *
 * It saves counting a reference on base where the caller has base for longer than the view: it
 * calls MXNetNDArrayKeepBase before it gives up base, unless the view is gone by then. Of a base
 * that is a view itself, what is needed is the array whose memory both show.
 */
MXNET_DLL int MXNetNDArrayViewBorrowed(MXNetNDArrayHandle base, void* data, const int64_t* shape,
                                       const int64_t* strides, int ndim, DLDataType dtype,
                                       MXNetNDArrayHandle* out);

/*!
 * \brief Has a view of MXNetNDArrayViewBorrowed keep its base alive; others do so already.
 *
 * It is called by who made the view, at most by one thread at a time.
 */
MXNET_DLL int MXNetNDArrayKeepBase(MXNetNDArrayHandle view);

/*!
 * \brief Takes a DLPack tensor over without a copy; its deleter runs when the array goes.
 *
 * On failure the tensor stays the caller's.
 */
MXNET_DLL int MXNetNDArrayFromDLPack(DLManagedTensorVersioned* tensor, MXNetNDArrayHandle* out);

/*! \brief The same for the unversioned form. */
MXNET_DLL int MXNetNDArrayFromDLPackLegacy(DLManagedTensor* tensor, MXNetNDArrayHandle* out);

/*!
 * \brief An array that shares the memory of a borrowed tensor for as long as it lives.
 *
 * Where it comes back to the front end it is borrowed->peer, if that is not NULL.
 */
MXNET_DLL int MXNetNDArrayFromBorrowed(const MXNetBorrowedTensor* borrowed,
                                       MXNetNDArrayHandle* out);

/*! \brief Exports an array; the caller runs the deleter when done. The array's memory is shared. */
MXNET_DLL int MXNetNDArrayToDLPack(MXNetNDArrayHandle array, DLManagedTensorVersioned** out);

/*! \brief The same for the unversioned form, which cannot carry the read-only flag: BufferError. */
MXNET_DLL int MXNetNDArrayToDLPackLegacy(MXNetNDArrayHandle array, DLManagedTensor** out);

/* ------------------------------------------------------------------------------------------------
 * Libraries
 * --------------------------------------------------------------------------------------------- */

/*!
 * \brief An entry that a library may define; the runtime has none of this name.
 *
 * Called once, after the library's static initialisers, by what loads it (in Python
 * ffi.load_library). It is where a library in plain C registers its functions. Returns 0, or -1
 * after MXNetSetLastError: then what it has registered is taken back and loading fails with that
 * error.
 */
MXNET_DLL int MXNetLibraryInit(void);

/* ------------------------------------------------------------------------------------------------
 * Version
 * --------------------------------------------------------------------------------------------- */

/*! \brief The runtime's ABI version and its release, "1.2.3"; the string lives with the process. */
MXNET_DLL int MXNetGetVersion(int* out_abi_major, int* out_abi_minor, const char** out_release);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MXNET_RUNTIME_C_RUNTIME_API_H_ */
