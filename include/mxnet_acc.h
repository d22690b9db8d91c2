/*!
 * \file mxnet_acc.h
 * \brief The interface between MXNet and an accelerator library: all that a vendor includes.
 *
 * An accelerator library is one shared library, built from this header alone and linked to nothing
 * of MXNet. It exports one function, mxacc_get_api, which fills a table of functions. The smallest
 * library that works is in accelerators/template. C99, also C11 and C++17.
 *
 * Versions. Every struct begins with struct_size, which whoever makes the struct sets to the size
 * it was compiled with. A reader uses no member that lies beyond it and ignores what follows the
 * members that it knows itself; sizes are never compared for equality. Who fills in a struct that
 * another made writes nothing beyond its struct_size: an older MXNet has no room there for what a
 * newer library knows, nor does it change that struct_size; only MXAccApi::struct_size is lowered
 * by the library. MXTensor and MXAccNodeSupport, which come in runs, keep their size within a MAJOR
 * version: what is added to them takes the place of what is reserved. A member of MXAccApi that is
 * NULL, or that lies beyond struct_size, is something the library does not do. What is marked
 * "required" must be there.
 *
 * Errors. Functions return NULL for success, or a const MXAccError* of the library's. It belongs to
 * the library and stays valid until the calling thread's next call into the library, or until
 * finalize. No function exits, aborts or lets an exception out. Where a function fails, what it was
 * to fill in is not looked at, and nothing is left allocated.
 *
 * Threads. MXNet calls mxacc_get_api, getAccName, initialize, getNumAcc and finalize one at a time,
 * none beside another call into the library. All other functions may be called by several threads
 * at once, unless MXAccDeviceInfo::flags has kMXAccOneThread: then MXNet takes a lock of the
 * device's. One executor or one model is run by one thread at a time unless its own flags say more.
 *
 * Streams. What is given to one stream is done in order; between streams only events order it, and
 * nothing orders a call without a stream with what streams do. Where the library has streams MXNet
 * gives all work of a device to one of them; in a process that it started for the library alone it
 * makes no streams, and all calls are blocking. The structs that a call was given may be gone when
 * it returns, and the library copies what it needs of them; but MXNet keeps the memory of the
 * tensors and the state of the executor until the stream has passed the call.
 *
 * Failures in streams. What is found wrong before the call returns is the call's error, and then
 * nothing of it is in the stream. What fails later is told by syncStream, with the number that the
 * work had, see MXTensor::work. MXNet takes what that work was to write for lost, and all that was
 * computed from it: whoever reads it gets the error, and nobody else does. The library need not
 * look whether inputs are lost: what it makes of them is lost, too.
 *
 * Lifetime. What a function is given is valid until it returns, unless it says otherwise; strings
 * are UTF-8 and end with NUL. Strings that the library gives out belong to it and stay until
 * finalize, unless it says otherwise. The library stays loaded, and finalize is called before it is
 * unloaded; at the end of the process neither need happen.
 *
 * Forks. In a child of fork MXNet calls no function of a library that was loaded before, and tells
 * the user so; the child may load others. At its end destructors of the library may run, which must
 * not wait for threads: those are the parent's.
 */
#ifndef MXNET_ACC_H_
#define MXNET_ACC_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*! \brief Version of this interface; another MAJOR is refused, a larger MINOR only adds. */
#define MXACC_ABI_MAJOR 1
#define MXACC_ABI_MINOR 0

#if defined(_WIN32)
#define MXACC_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define MXACC_EXPORT __attribute__((visibility("default")))
#else
#define MXACC_EXPORT
#endif

/*! \brief Longest name of an accelerator, with its NUL. */
#define MXACC_NAME_SIZE 32
/*! \brief Largest number of dimensions of a tensor. */
#define MXACC_MAX_DIMS 64

/* ---- errors ---- */

enum {
  kMXAccFailed = 1,      /*!< any other reason */
  kMXAccBadArgument = 2, /*!< a value that cannot be right */
  kMXAccUnsupported = 3, /*!< right, but not done here; MXNet may fall back to the CPU */
  kMXAccOutOfMemory = 4, /*!< of the device; MXNet frees what it keeps and tries once more */
  kMXAccNoDevice = 5,    /*!< the device is not there, or no longer */
  kMXAccRefused = 6,     /*!< by initialize: this library does not go with this MXNet */
  kMXAccBadIndex = 7     /*!< an element that is used as an index is out of range */
};

/*! \brief Why a call failed. */
typedef struct MXAccError {
  size_t struct_size;
  int32_t code;        /*!< one of kMXAcc... above */
  const char* message; /*!< a sentence for the user; not NULL */
  uint64_t work;       /*!< see syncStream; 0 everywhere else */
} MXAccError;

/*! \brief NULL, or why not. */
typedef const MXAccError* MXAccStatus;

/* ---- tensors ---- */

/*!
 * \brief The geometry of a tensor: member by member DLPack's DLTensor, under names of our own so
 * that a library may include dlpack.h, too, and cast one into the other.
 */
typedef struct MXAccDevice {
  int32_t device_type; /*!< kMXAccHost, or any other number for memory of the accelerator */
  int32_t device_id;
} MXAccDevice;

/*! \brief Memory of the host; DLPack's kDLCPU. */
#define kMXAccHost 1

/*! \brief Kinds of elements; DLPack's numbers. */
enum {
  kMXAccInt = 0,
  kMXAccUInt = 1,
  kMXAccFloat = 2,
  kMXAccBfloat = 4,
  kMXAccComplex = 5,
  /*!
   * \brief A byte. 0 is false; true is 1 in results, and any other byte in memory that others made.
   */
  kMXAccBool = 6
};

typedef struct MXAccDataType {
  uint8_t code; /*!< kMXAccInt ... */
  uint8_t bits; /*!< of one element: 8, 16, 32, 64 or, complex, 128; none is smaller than a byte */
  uint16_t lanes; /*!< 1 */
} MXAccDataType;

typedef struct MXAccGeometry {
  /*!
   * \brief On an accelerator exactly what mx_alloc gave, which MXNet never computes with: a view
   * differs by byte_offset. NULL, or anything, where there are no elements.
   */
  void* data;
  MXAccDevice device;
  int32_t ndim;
  MXAccDataType dtype;
  int64_t* shape;       /*!< neither this nor strides is NULL in what MXNet passes */
  int64_t* strides;     /*!< in elements, any sign */
  uint64_t byte_offset; /*!< of the first element from data; a multiple of the element's size */
} MXAccGeometry;

/*! \brief How the elements are stored. */
enum { kMXAccDense = 0, kMXAccRowSparse = 1, kMXAccCSR = 2 };

/*! \brief What a tensor is to the operator or model it is passed to. */
enum { kMXAccInput = 0, kMXAccWeight = 1, kMXAccAuxiliary = 2, kMXAccOutput = 3 };

/*! \brief A tensor with what DLPack does not say of it. */
typedef struct MXTensor {
  size_t struct_size;
  MXAccGeometry tensor;
  const char* name;   /*!< of the input, weight or output; may be NULL; see MXAccOperator */
  const char* layout; /*!< "NCHW", "NHWC", "NCHW16c" ...; NULL for row-major without meaning */
  int32_t storage;    /*!< kMXAccDense ...; if sparse, tensor has the shape of the whole */
  int32_t role;       /*!< kMXAccInput ... */
  /*! \brief Row-sparse: values, int64 row numbers. CSR: values, int64 columns, int64 row starts. */
  const MXAccGeometry* parts;
  int32_t num_parts;
  int32_t reserved_number; /*!< 0 */
  /*!
   * \brief Of what a call with a stream writes, its outputs or targets: the number of that call,
   * by which syncStream says that it failed. No other call of the process has it. Else 0.
   */
  uint64_t work;
  void* reserved[1]; /*!< NULL */
} MXTensor;

/* ---- what MXNet offers ---- */

/*! \brief Levels of MXAccHost::log. */
enum { kMXAccDebug = 0, kMXAccInfo = 1, kMXAccWarning = 2 };

/*! \brief Tells the user something, which is of one of these levels. */
typedef void (*MXAccLog)(void* context, int32_t level, const char* message);

/*!
 * \brief What a library may ask of MXNet. Valid as long as the library is loaded; any thread may
 * call the functions.
 */
typedef struct MXAccHost {
  size_t struct_size;
  int32_t abi_major; /*!< MXACC_ABI_MAJOR that MXNet was compiled with */
  int32_t abi_minor;
  const char* release;      /*!< of MXNet, "0.1.0" */
  int32_t operator_set;     /*!< version of the operators' meaning; see accGetExecutor */
  const char* library_path; /*!< absolute, of the library itself, to find its files beside it */
  void* context;            /*!< goes with every call of the functions below */
  MXAccLog log;             /*!< tells the user, through MXNet's log */
  /*!
   * \brief Makes the output of that index, on the same device, of the given type and shape, and
   * fills in *out; only during infer, for outputs whose geometry was not given.
   */
  MXAccStatus (*alloc_output)(void* context, void* call, int32_t index, MXAccDataType dtype,
                              int32_t ndim, const int64_t* shape, MXTensor* out);
} MXAccHost;

/* ---- devices, streams ---- */

/*! \brief Bits of MXAccDeviceInfo::flags. */
enum {
  /*! \brief While no work on the memory is under way, what mx_alloc gives is an address the CPU may
   * read and write; NumPy and others then see arrays in place, and users write to them there. */
  kMXAccHostVisible = 1,
  kMXAccOneThread = 2, /*!< one call into the library at a time for this device */
  kMXAccStrides = 4,   /*!< copies take tensors of any strides; else MXNet packs them first */
  kMXAccUnusable = 8   /*!< listed only to say, in reason, why it cannot be used */
};

/*! \brief A device; MXNet sets struct_size and zeroes the rest before the call. */
typedef struct MXAccDeviceInfo {
  size_t struct_size;
  uint32_t flags;
  uint32_t alignment; /*!< bytes that what mx_alloc gives is aligned to; a power of two, 0 for 64 */
  uint64_t memory_total; /*!< bytes; 0 for unknown */
  uint64_t memory_free;
  const char* name; /*!< of the device; this and the others may be NULL */
  const char* vendor;
  const char* driver; /*!< name and version */
  const char* reason; /*!< for kMXAccUnusable */
} MXAccDeviceInfo;

/*! \brief A queue of work on a device; NULL stands for blocking calls. */
typedef struct MXAccStreamOpaque* MXAccStream;
/*! \brief A place in a stream that the host and other streams can wait for. */
typedef struct MXAccEventOpaque* MXAccEvent;

/* ---- operators ---- */

/*!
 * \brief An operator with all that selects how it is carried out.
 *
 * Arguments that are arrays are inputs, in the order of the operator's parameters. An input's name
 * is that of its parameter, "x1"; where the parameter takes a sequence, with its place there,
 * "seq[0]". All other arguments are attributes, in that order, too, and each comes every time;
 * those that were not given have their default. No attribute is made of the context, which dev_id
 * says, and of out, which outputs says.
 *
 * An attribute's value is JSON, with NaN, Infinity and -Infinity beside it: null, true, 1, 0.5,
 * "text", and [0, 1] for tuples and lists. A number with a point or an exponent is a float and
 * another one an int; both are Python's, which do not widen an array's type; a typed number is an
 * input without axes. A data type is text, "float32". So `x + 2` has the attribute x2 = "2", and
 * `x + [1, 2]` has x2 = "[1, 2]". An operator with an argument for which there is no such value is
 * not offered to the library. operators.json, which is installed with MXNet's Python package, lists
 * the operators with what each parameter is here.
 *
 * How exact. Results are those of MXNet on the CPU within what rounding allows: float16 and
 * bfloat16 are added up in float32 or wider, float32 in float32 or wider from operands that keep
 * all their bits (no TF32), int64 exactly, modulo 2^64. Subnormal numbers stay what they are, but
 * for those of bfloat16, which may be taken for 0; NaN and infinities go where IEEE 754 has them
 * go. What cannot be had so is refused: mxacc-check compares.
 */
typedef struct MXAccOperator {
  size_t struct_size;
  const char* name;     /*!< as registered, without its prefix: "add", "tensordot" */
  int32_t operator_set; /*!< version of the meaning of name and attributes */
  int32_t dev_id;
  const MXTensor* inputs;  /*!< data is NULL and byte_offset 0: only run knows them */
  const MXTensor* outputs; /*!< the same; their type and shape are those of the result, also where
                            *   the user gives out, and strides are row-major or those of out */
  int32_t num_in;
  int32_t num_out;
  const char* const* attr_keys; /*!< names of parameters */
  const char* const* attr_vals; /*!< JSON */
  int32_t num_attrs;
} MXAccOperator;

/*! \brief Bits of MXAccExecutor::flags. */
enum {
  kMXAccConcurrent = 1, /*!< run may be called by several threads at once */
  kMXAccInPlace = 2     /*!< an output may share the memory of an input of its geometry */
};

/*!
 * \brief How one operator is carried out for tensors of one geometry; filled in by the library.
 * MXNet sets struct_size and zeroes the rest.
 */
typedef struct MXAccExecutor {
  size_t struct_size;
  uint32_t flags;
  void* state;
  /*!
   * \brief Required. Carries the operator out; shapes, types and strides are those it was asked
   * for, data and byte_offset differ from call to call. Outputs share no memory with inputs, but
   * see kMXAccInPlace. With a stream the call may return before the work is done.
   * kMXAccUnsupported where the data are not what the library can do, such as an index out of
   * range: MXNet then runs the operator on the CPU, which finds the words for what is wrong, too.
   * That is so only for what run itself returns. What the work finds out in the stream is too late
   * for the CPU, as the inputs may be others by then. It is an error with the code of the exception
   * that the CPU would raise: kMXAccBadIndex for IndexError, kMXAccBadArgument for ValueError;
   * kMXAccUnsupported is NotImplementedError then.
   */
  MXAccStatus (*run)(void* state, const MXTensor* inputs, int32_t num_in, MXTensor* outputs,
                     int32_t num_out, MXAccStream stream);
  /*! \brief Frees state; no run is under way, in a stream neither. May be NULL. */
  void (*free)(void* state);
} MXAccExecutor;

/* ---- graphs ---- */

/*! \brief Answers of supportedOps for a node. */
enum {
  kMXAccNodeUnsupported = -1, /*!< stays on the CPU */
  kMXAccNodeAnyGroup = 0      /*!< goes into whatever subgraph suits; numbers above are groups */
};

/*! \brief What the library says of one node; MXNet sets struct_size and zeroes the rest. */
typedef struct MXAccNodeSupport {
  size_t struct_size;
  int32_t id;         /*!< kMXAccNodeUnsupported, kMXAccNodeAnyGroup, or the number of a group */
  float cost;         /*!< estimated microseconds; 0 for unknown */
  const char* reason; /*!< why it is unsupported; valid until the thread's next call; may be NULL */
  void* reserved[2];  /*!< NULL */
} MXAccNodeSupport;

/*! \brief A graph for loadModel and supportedOps. */
typedef struct MXAccGraph {
  size_t struct_size;
  const char* json;     /*!< the graph with dtype, shape, role and layout of every entry */
  const MXTensor* data; /*!< inputs and weights by name; weights with their data, once */
  int32_t num_data;
  int32_t num_nodes;
} MXAccGraph;

/*! \brief Receives a piece of text or data; called any number of times. */
typedef void (*MXAccEmit)(void* context, const char* key, const char* value, size_t value_size);

/* ---- the table ---- */

/*! \brief The library's functions; MXNet sets struct_size and zeroes the rest before the call. */
typedef struct MXAccApi {
  size_t struct_size; /*!< the library lowers it to its own sizeof(MXAccApi), if that is less */
  int32_t abi_major;  /*!< the library sets both: MXACC_ABI_MAJOR as it was compiled. In every */
  int32_t abi_minor;  /*!< version they are here, so that MXNet can name both when it refuses one */
  const char* release; /*!< version of the library, for the user; may be NULL */

  /*!
   * \brief Required. Writes the accelerator's name, [a-z][a-z0-9_]*, of at most size - 1
   * characters: "foo" makes mx.foo(0). Called first, even before initialize.
   */
  MXAccStatus (*getAccName)(char* name, size_t size);
  /*!
   * \brief Required. How many devices there are, from 0 on; after initialize. No dev_id out of that
   * range is ever passed. With none the library does not load: to say why, fail with the reason.
   */
  MXAccStatus (*getNumAcc)(int32_t* count);
  /*!
   * \brief Called once, after getAccName, with what mxacc_get_api was given. The place to refuse a
   * version of MXNet, with kMXAccRefused and a reason, and to find the devices.
   */
  MXAccStatus (*initialize)(const MXAccHost* host);
  /*! \brief Called before unloading, if initialize succeeded: nothing of the library is in use. */
  void (*finalize)(void);
  /*! \brief Describes a device. */
  MXAccStatus (*getDeviceInfo)(int32_t dev_id, MXAccDeviceInfo* info);

  /*!
   * \brief size > 0 bytes on a device, aligned to alignment, a power of two; *out may be any handle
   * that is not NULL and that no other living memory of the device has. Where a handle is no
   * address, the memory behind it is aligned. Their content may be anything. Required with
   * supportsImperative.
   */
  MXAccStatus (*mx_alloc)(int32_t dev_id, size_t size, size_t alignment, void** out);
  /*! \brief Frees what mx_alloc gave. Cannot fail. Required with mx_alloc. */
  void (*mx_free)(int32_t dev_id, void* data);
  /*! \brief Frees all that is allocated, before finalize; *live is how many there were. */
  MXAccStatus (*mx_releaseAll)(int32_t dev_id, size_t* live);

  /*!
   * \brief Copies count tensors of the host, sources, into tensors on the device; shapes and dtypes
   * agree pair by pair, and some may have no elements. A count of 0 is nothing to copy. Strides
   * are row-major unless the device has kMXAccStrides; byte_offset counts in any case. Without a
   * stream the copies are done when it returns. Required with mx_alloc.
   */
  MXAccStatus (*copyToAcc)(int32_t dev_id, MXTensor* targets, const MXTensor* sources,
                           int32_t count, MXAccStream stream);
  /*! \brief The same from the device to the host. Required with mx_alloc. */
  MXAccStatus (*copyFromAcc)(int32_t dev_id, MXTensor* targets, const MXTensor* sources,
                             int32_t count, MXAccStream stream);
  /*!
   * \brief The same within a device, or between two devices of the library, of which dev_id is that
   * of the targets; sources and targets do not overlap. The stream is one of dev_id, too: between
   * devices MXNet has it wait for an event of the sources' stream before, and afterwards has that
   * stream wait for an event of this one. Where it is unsupported, MXNet copies through the host.
   */
  MXAccStatus (*copyWithinAcc)(int32_t dev_id, MXTensor* targets, const MXTensor* sources,
                               int32_t count, MXAccStream stream);

  /*! \brief Streams and events: all of them, or none. Destroying waits for what is under way. */
  MXAccStatus (*createStream)(int32_t dev_id, MXAccStream* out);
  void (*destroyStream)(int32_t dev_id, MXAccStream stream);
  /*!
   * \brief Waits until all work given to the stream is done, whatever it returns. Then tells one
   * failure that was not told before, and MXNet calls it until it tells none.
   *
   * MXAccError::work says which call failed, by the number that MXTensor::work or mx_zero was
   * given. A library that says so tells every call that failed, but for those that it did not carry
   * out as an input was lost, which it may tell. Where it cannot say, work is 0: then all is taken
   * for lost that was given to the device since a syncStream that told nothing, and it is not
   * called again. What was given after a call that failed may have been carried out or not.
   */
  MXAccStatus (*syncStream)(int32_t dev_id, MXAccStream stream);
  MXAccStatus (*createEvent)(int32_t dev_id, MXAccEvent* out);
  void (*destroyEvent)(int32_t dev_id, MXAccEvent event);
  /*!
   * \brief Marks what was given to the stream so far, instead of what the event marked before.
   * There is always a stream, never NULL; dev_id is the device of both.
   */
  MXAccStatus (*recordEvent)(int32_t dev_id, MXAccEvent event, MXAccStream stream);
  /*!
   * \brief Has the stream wait for what the event marks at this call; with no stream, the calling
   * thread. dev_id is the stream's device, or with no stream the event's. The event may be one of
   * another device of the library: that is how copies between devices are ordered. An event that
   * marks nothing is over, and so is one whose work failed.
   */
  MXAccStatus (*waitEvent)(int32_t dev_id, MXAccEvent event, MXAccStream stream);

  /*! \brief *yes is 1 where accGetExecutor and mx_alloc may be called; NULL stands for 0. */
  MXAccStatus (*supportsImperative)(int32_t* yes);
  /*!
   * \brief How an operator is carried out; kMXAccUnsupported where it is not, with the reason.
   * MXNet keeps either answer, for the operator, its attributes, and the types, shapes and strides
   * of its tensors, until configure is called for the device.
   */
  MXAccStatus (*accGetExecutor)(const MXAccOperator* op, MXAccExecutor* out);

  /*! \brief Says of each of graph->num_nodes nodes whether it runs here. */
  MXAccStatus (*supportedOps)(int32_t dev_id, const MXAccGraph* graph, MXAccNodeSupport* nodes);
  /*! \brief Compiles a graph under an id that is not in use. */
  MXAccStatus (*loadModel)(const char* model_id, const MXAccGraph* graph, int32_t dev_id);
  /*! \brief Forgets a model; no infer is under way. */
  MXAccStatus (*unloadModel)(const char* model_id);
  /*!
   * \brief Runs a model: inputs and outputs by name. An output without data has no geometry yet:
   * MXAccHost::alloc_output makes it, with call.
   */
  MXAccStatus (*infer)(const char* model_id, const MXTensor* in_data, int32_t num_in,
                       MXTensor* out_data, int32_t num_out, MXAccStream stream, void* call);
  /*! \brief Emits a compiled model, in pieces, so that importModel can spare compiling it. */
  MXAccStatus (*exportModel)(const char* model_id, MXAccEmit emit, void* context);
  /*! \brief kMXAccUnsupported where the blob does not fit this device, driver or library. */
  MXAccStatus (*importModel)(const char* model_id, const void* blob, size_t size, int32_t dev_id);

  /*!
   * \brief Whatever else the accelerator can do: takes keywords with values and emits others; both
   * are text. An unknown keyword is kMXAccBadArgument, and then nothing has changed. The number of
   * devices does not change.
   */
  MXAccStatus (*configure)(int32_t dev_id, const char* const* in_keys, const char* const* in_vals,
                           int32_t num_in, MXAccEmit emit, void* context);

  /*!
   * \brief Sets size > 0 bytes of what mx_alloc gave, from byte_offset on, to 0. Without a stream
   * it is done when it returns; in a stream, work is what MXTensor::work is for others. Where the
   * member is NULL, or it is unsupported, MXNet copies zeros.
   */
  MXAccStatus (*mx_zero)(int32_t dev_id, void* data, uint64_t byte_offset, size_t size,
                         MXAccStream stream, uint64_t work);
} MXAccApi;

/*!
 * \brief What a library exports. Fills in api, best by copying as much of a constant table as fits;
 * fails where it can do nothing with this host.
 */
typedef MXAccStatus (*MXAccGetApi)(const MXAccHost* host, MXAccApi* api);
#define MXACC_ENTRY "mxacc_get_api"
MXACC_EXPORT MXAccStatus mxacc_get_api(const MXAccHost* host, MXAccApi* api);

#ifdef __cplusplus
}
#endif

#endif /* MXNET_ACC_H_ */
