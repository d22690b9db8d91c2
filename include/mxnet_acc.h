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
 * by the library. MXTensor, MXAccAttribute, MXAccNodeSupport and what else comes in arrays keep
 * their size within a MAJOR version: what is added to them replaces what is reserved. A
 * member of MXAccApi that is NULL, or that lies beyond struct_size, is something the library does
 * not do. What is marked "required" must be there.
 *
 * Errors. Functions return NULL for success, or a const MXAccError* of the library's. It belongs to
 * the library and stays valid until the calling thread's next call into the library, or until
 * finalize. No function exits, aborts or lets an exception out. Where a function fails, what it was
 * to fill in is not looked at, and nothing is left allocated.
 *
 * Self. Each function of the table is given MXAccApi::self first, which is whatever the library put
 * there: one that serves several chips, or adapts other libraries, tells by it which table was
 * called; one that does not need it leaves it NULL. Executors and models have a state of their own.
 * One MXNet asks a library for one table, but a process may have two of them: each initializes,
 * uses and finalizes its own table. A library with one state for all rejects the second in
 * initialize.
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
 * tensors, the workspace among them, and the state of the executor until the stream has passed the
 * call.
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
 *
 * Not used yet. The header has room for more than MXNet does, so that a library need not change
 * when MXNet does it. Today MXNet calls neither mx_releaseAll, as it frees one by one, nor
 * getExtension; it leaves progress and get_extension NULL; it allocates no
 * kMXAccPinnedMemory, whatever memories says, and does not look at largest; it passes of weights
 * neither file and file_offset nor scales, zero_points, num_scales and scale_axis; it sets neither
 * kMXAccDonated nor kMXAccUpdated; kMXAccModelUsesStreams changes nothing, as what a stream is
 * given counts as under way; and where a node is unsupported for its type (kMXAccWhyType) or its
 * layout (kMXAccWhyLayout), it tells the user and neither casts nor lays out anew.
 */
#ifndef MXNET_ACC_H_
#define MXNET_ACC_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*! \brief Version of this interface; another MAJOR is rejected, a larger MINOR only adds. */
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
  kMXAccRejected = 6,    /*!< by initialize: this library does not go with this MXNet */
  kMXAccBadIndex = 7,    /*!< an element that is used as an index is out of range */
  kMXAccCancelled = 8    /*!< should_stop said so */
};

/*! \brief Why a call failed. */
typedef struct MXAccError {
  size_t struct_size;
  int32_t code;        /*!< one of kMXAcc... above */
  const char* message; /*!< a sentence for the user; not NULL */
  uint64_t work;       /*!< see syncStream; 0 everywhere else */
  int64_t node;        /*!< of supportedOps and loadModel: id of the node that is at fault; or 0 */
} MXAccError;

/*! \brief NULL, or why not. */
typedef const MXAccError* MXAccStatus;

/* ---- tensors ---- */

/*!
 * \brief A strided tensor: member by member DLPack's DLTensor, under names of our own so
 * that a library may include dlpack.h, too, and cast one into the other.
 */
typedef struct MXAccDevice {
  int32_t device_type; /*!< kMXAccHost, or any other number for memory of the accelerator */
  int32_t device_id;
} MXAccDevice;

/*! \brief Memory of the host; DLPack's kDLCPU. */
#define kMXAccHost 1

/*! \brief Kinds of elements; DLPack's numbers, also for those that are not listed (float8, float4):
 * MXNet passes none of these today, and a library rejects what it does not know. */
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

typedef struct MXAccDLTensor {
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
} MXAccDLTensor;

/*! \brief How the elements are stored. */
enum { kMXAccDense = 0, kMXAccRowSparse = 1, kMXAccCSR = 2 };

/*! \brief What a tensor is to the operator or model it is passed to. */
enum { kMXAccInput = 0, kMXAccWeight = 1, kMXAccAuxiliary = 2, kMXAccOutput = 3 };

/*! \brief Kinds of memory. */
enum {
  kMXAccDeviceMemory = 0, /*!< what the device computes with */
  kMXAccPinnedMemory = 1, /*!< of the host, at an address of its own there, copied from fastest */
  kMXAccHostMemory = 2    /*!< of the host; a shape tensor, which the library reads in the call */
};

/*! \brief An extent of a graph's tensor that is known only when the graph is run. */
typedef struct MXAccDimension {
  const char* symbol; /*!< "batch": the same extent wherever it stands; NULL where it is known */
  int64_t minimum;    /*!< this and the others are -1 for unknown */
  int64_t typical;    /*!< what to be fast for */
  int64_t maximum;
} MXAccDimension;

/*! \brief Bits of MXAccTensorInfo::flags. */
enum {
  kMXAccDonated = 1,   /*!< an input that nobody reads afterwards: its memory may be an output's */
  kMXAccUpdated = 2,   /*!< an auxiliary that the model also writes */
  kMXAccShapeInput = 4 /*!< its elements are needed to know the shape of an output */
};

/*! \brief What graphs say of a tensor beyond what operators are told. */
typedef struct MXAccTensorInfo {
  size_t struct_size;
  uint32_t flags;
  int32_t memory;                   /*!< kMXAccDeviceMemory ... */
  const MXAccDimension* dimensions; /*!< ndim of them; extents with a symbol are -1 in shape. NULL
                                     *   where all are known */
  /*!
   * \brief Of a weight: its content, for sharing between models and for blobs without weights;
   * hexadecimal, of equal bytes equal. May be NULL, as the others.
   */
  const char* content_hash;
  const char* file;     /*!< absolute path of a file that has the bytes of a weight, to be mapped */
  uint64_t file_offset; /*!< of its first byte there */
  /*! \brief Quantized: element = scale * (stored - zero_point), one for each of axis, or for all.
   */
  const float* scales;
  const int64_t* zero_points;
  int32_t num_scales; /*!< 0: not quantized */
  int32_t scale_axis; /*!< -1 where there is one for all */
} MXAccTensorInfo;

/*! \brief A tensor with what DLPack does not say of it. */
typedef struct MXTensor {
  size_t struct_size;
  MXAccDLTensor tensor;
  const char* name;   /*!< of the input, weight or output; may be NULL; see MXAccOperator */
  const char* layout; /*!< "NCHW", "NHWC", "NCHW16c" ...; NULL for row-major without meaning */
  int32_t storage;    /*!< kMXAccDense ...; if sparse, tensor has the shape of the whole */
  int32_t role;       /*!< kMXAccInput ... */
  /*! \brief Row-sparse: values, int64 row numbers. CSR: values, int64 columns, int64 row starts. */
  const MXAccDLTensor* parts;
  int32_t num_parts;
  int32_t reserved_number; /*!< 0 */
  /*!
   * \brief Of what a call with a stream writes, its outputs or targets: the number of that call,
   * by which syncStream says that it failed. No other call of the process has it. Else 0.
   */
  uint64_t work;
  const MXAccTensorInfo* info; /*!< NULL for operators, and where there is nothing to say */
} MXTensor;

/* ---- what MXNet offers ---- */

/*! \brief Levels of MXAccRuntime::log. */
enum { kMXAccDebug = 0, kMXAccInfo = 1, kMXAccWarning = 2 };

/*! \brief Tells the user something, which is of one of these levels. */
typedef void (*MXAccLog)(void* context, int32_t level, const char* message);

/*!
 * \brief What a library may ask of MXNet. Valid as long as the library is loaded; any thread may
 * call the functions.
 */
typedef struct MXAccRuntime {
  size_t struct_size;
  int32_t abi_major; /*!< MXACC_ABI_MAJOR that MXNet was compiled with */
  int32_t abi_minor;
  const char* release;  /*!< of MXNet, "0.1.0" */
  int32_t operator_set; /*!< version of the operators' meaning; see MXAccApi::operator_set_min */
  const char* library_path; /*!< absolute, of the library itself, to find its files beside it */
  void* context;            /*!< goes with every call of the functions below */
  MXAccLog log;             /*!< tells the user, through MXNet's log */
  /*!
   * \brief Makes the output of that index, on the same device, of the given type and shape, and
   * fills in *out; only during infer, for outputs whose shape was not given.
   */
  MXAccStatus (*alloc_output)(void* context, void* call, int32_t index, MXAccDataType dtype,
                              int32_t ndim, const int64_t* shape, MXTensor* out);
  /*!
   * \brief Whether the user has given a call up: 1, and then it ends soon, with kMXAccCancelled.
   * call is what loadModel or infer was given. Cheap enough to be asked every millisecond. This and
   * what follows may be NULL.
   */
  int32_t (*should_stop)(void* context, void* call);
  /*! \brief How far such a call is, from 0 to 1. */
  void (*progress)(void* context, void* call, double done);
  /*!
   * \brief Keeps the data of a weight of loadModel beyond that call, until release_weight is called
   * as often. A library that copies weights, or has packed them anew, need not keep them.
   */
  MXAccStatus (*retain_weight)(void* context, const MXTensor* weight);
  void (*release_weight)(void* context, const void* data);
  /*! \brief What MXNet offers under a name, "mxnet.something.1"; NULL where it does not know it. */
  const void* (*get_extension)(void* context, const char* name);
} MXAccRuntime;

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

/*! \brief What a device is: MXAccDeviceInfo::kind. */
enum {
  kMXAccOtherDevice = 0,
  kMXAccCPUDevice = 1,
  kMXAccGPUDevice = 2,
  kMXAccNPUDevice = 3 /*!< for neural networks, and little else */
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
  int32_t kind;       /*!< kMXAccOtherDevice ... */
  uint32_t memories;  /*!< bit 1 << kMXAccPinnedMemory and so on, beside memory of the device */
  uint64_t largest;   /*!< bytes of the largest mx_alloc that can succeed; 0 for unknown */
  const char* bus;    /*!< "0000:3b:00.0", by which other tools know the device; may be NULL */
} MXAccDeviceInfo;

/*! \brief A queue of work on a device; NULL stands for blocking calls. */
typedef struct MXAccStreamOpaque* MXAccStream;
/*! \brief A position in a stream that the host and other streams can wait for. */
typedef struct MXAccEventOpaque* MXAccEvent;

/* ---- operators ---- */

/*! \brief Kinds of values: MXAccAttribute::kind. */
enum {
  kMXAccNoValue = 0,  /*!< None; also where a parameter was not given and has no default */
  kMXAccBoolean = 1,  /*!< integer is 0 or 1 */
  kMXAccInteger = 2,  /*!< integer; number is the same, rounded */
  kMXAccUnsigned = 3, /*!< beyond int64: the bits of integer are those of an uint64 */
  kMXAccNumber = 4,   /*!< number, which may be infinite or no number */
  kMXAccText = 5,     /*!< text */
  kMXAccType = 6,     /*!< dtype; text is its name, "float32" */
  kMXAccList = 7      /*!< size items, of a tuple or a list */
};

/*!
 * \brief A value by name: an attribute of an operator, or an option. What its kind does not use is
 * 0 or NULL.
 */
typedef struct MXAccAttribute {
  size_t struct_size;
  const char* name; /*!< of the parameter; NULL in a list */
  /*! \brief The value once more, as JSON with NaN, Infinity and -Infinity: null, true, 1, 0.5,
   * "text", [0, 1]. A number with a point or an exponent is a float, another one an int. */
  const char* json;
  int32_t kind; /*!< kMXAccNoValue ... */
  MXAccDataType dtype;
  int64_t size; /*!< of a list: how many items; of a text: its bytes without NUL */
  int64_t integer;
  double number;
  const char* text;
  const struct MXAccAttribute* items; /*!< of a list */
  const int64_t* integers;            /*!< of a list whose items are all kMXAccInteger; else NULL */
  void* reserved;                     /*!< NULL */
} MXAccAttribute;

/*!
 * \brief An operator with all that selects how it is executed.
 *
 * Arguments that are arrays are inputs, in the order of the operator's parameters. An input's name
 * is that of its parameter, "x1"; where the parameter takes a sequence, with its position there,
 * "seq[0]". All other arguments are attributes, in that order, too, and each comes every time;
 * those that were not given have their default. No attribute is made of the context, which dev_id
 * says, and of out, which outputs says.
 *
 * An attribute has its value in the members of its kind, and as JSON beside them: nobody has to
 * read text. A data type is kMXAccType, whether the caller gave a type or its name. Ints and floats
 * are Python's, which do not widen an array's type; a typed number is an input without axes. So
 * `x + 2` has the attribute x2 of kMXAccInteger, and `x + [1, 2]` has x2 of kMXAccList. An operator
 * with an argument for which there is no such value is not offered to the library. operators.json,
 * which is installed with MXNet's Python package, lists the operators with what each parameter is
 * here.
 *
 * How exact. Results are those of MXNet on the CPU within what rounding allows: float16 and
 * bfloat16 are added up in float32 or wider, float32 in float32 or wider from operands that keep
 * all their bits (no TF32), int64 exactly, modulo 2^64. Subnormal numbers stay what they are, but
 * for those of bfloat16, which may be taken for 0; NaN and infinities go where IEEE 754 has them
 * go. What cannot be had so is rejected: mxacc-check compares.
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
  const MXAccAttribute* attrs; /*!< in the order of the parameters */
  int32_t num_attrs;
} MXAccOperator;

/*! \brief Bits of MXAccExecutor::flags. */
enum {
  kMXAccConcurrent = 1, /*!< run may be called by several threads at once */
  kMXAccInPlace = 2     /*!< an output may share the memory of an input of its spec and layout */
};

/*!
 * \brief How one operator is executed for tensors of one spec and layout; filled in by the
 * library. MXNet sets struct_size and zeroes the rest.
 */
typedef struct MXAccExecutor {
  size_t struct_size;
  uint32_t flags;
  void* state;
  uint64_t workspace_bytes; /*!< memory of the device that each run is given; 0 for none */
  /*!
   * \brief Required. Executes the operator; shapes, types and strides are those it was asked
   * for, data and byte_offset differ from call to call. Outputs share no memory with inputs, but
   * see kMXAccInPlace. With a stream the call may return before the work is done.
   *
   * workspace has workspace_bytes elements of kMXAccUInt with 8 bits, begins at a multiple of the
   * device's alignment, and is NULL where workspace_bytes is 0. Its content may be anything. Until
   * the work is done it is used by nothing else, nor is it memory of an input or output; afterwards
   * others may get it.
   *
   * kMXAccUnsupported where the data are not what the library can do, such as an index out of
   * range: MXNet then runs the operator on the CPU, which finds the words for what is wrong, too.
   * That is so only for what run itself returns. What the work finds out in the stream is too late
   * for the CPU, as the inputs may be others by then. It is an error with the code of the exception
   * that the CPU would raise: kMXAccBadIndex for IndexError, kMXAccBadArgument for ValueError;
   * kMXAccUnsupported is NotImplementedError then.
   */
  MXAccStatus (*run)(void* state, const MXTensor* inputs, int32_t num_in, MXTensor* outputs,
                     int32_t num_out, const MXTensor* workspace, MXAccStream stream);
  /*! \brief Frees state; no run is under way, in a stream neither. May be NULL. */
  void (*free)(void* state);
} MXAccExecutor;

/* ---- graphs ---- */

/*
 * Nodes of graphs are ONNX's operators. MXNet asks about all nodes that the JSON has a form for,
 * has those compiled that the library supports, in groups, and executes the others on the CPU.
 * Extents are those of the inputs that a graph is run with: it is compiled again for others. A
 * library without supportedOps and loadModel is complete, too.
 */

/*! \brief Version of the graph's JSON: MXAccGraph::version. */
#define MXACC_GRAPH_VERSION 1

/*! \brief Answers of supportedOps for a node. */
enum {
  kMXAccNodeUnsupported = -1, /*!< stays on the CPU */
  kMXAccNodeAnyGroup = 0      /*!< goes into whatever subgraph suits; numbers above are groups */
};

/*! \brief Why a node is unsupported, which the user is told: MXAccNodeSupport::why. */
enum {
  kMXAccWhyOther = 0,
  kMXAccWhyOperator = 1,  /*!< this operator never */
  kMXAccWhyVersion = 2,   /*!< not this version of it */
  kMXAccWhyAttribute = 3, /*!< not with these attributes */
  kMXAccWhyType = 4,      /*!< it would be if cast to MXAccNodeSupport::dtype */
  kMXAccWhyLayout = 5,    /*!< it would be if laid out as MXAccNodeSupport::layout */
  kMXAccWhyShape = 6,     /*!< not for these extents */
  kMXAccWhyDynamic = 7,   /*!< it would be if all extents were known */
  kMXAccWhyMemory = 8,    /*!< the device has not enough */
  kMXAccWhySlow = 9       /*!< it could be, but the CPU is faster */
};

/*!
 * \brief What the library says of one node; MXNet sets struct_size and zeroes the rest.
 *
 * Nodes of one group become one model if no path leaves the group and comes back; where one does,
 * MXNet splits the group, and it may leave small groups on the CPU: the costs tell which.
 */
typedef struct MXAccNodeSupport {
  size_t struct_size;
  int32_t id;          /*!< kMXAccNodeUnsupported, kMXAccNodeAnyGroup, or the number of a group */
  int32_t why;         /*!< kMXAccWhyOther ..., where it is unsupported */
  MXAccDataType dtype; /*!< see kMXAccWhyType; all 0 for none */
  float cost;          /*!< estimated microseconds of the node in its group; 0 for unknown, as if
                        *   it took no time */
  float group_cost;    /*!< microseconds that each run of its group costs besides; 0 for unknown */
  float byte_cost;     /*!< nanoseconds for each byte that is copied to it or from it; 0: unknown,
                        *   which MXNet measures */
  const char* layout;  /*!< see kMXAccWhyLayout; valid as reason is; may be NULL */
  const char* reason;  /*!< why it is unsupported, for people; valid until the thread's next call;
                        *   may be NULL */
  void* reserved[2];   /*!< NULL */
} MXAccNodeSupport;

/*!
 * \brief A graph for loadModel and supportedOps.
 *
 * The JSON is what mxnet_acc_graph.schema.json, which is beside this header, says: nodes with ids,
 * each with its operator, the version of its meaning, attributes, inputs and outputs; entries with
 * dtype, shape, role and layout; subgraphs for control flow. ONNX is the same graph for libraries
 * that read that.
 */
typedef struct MXAccGraph {
  size_t struct_size;
  const char* json;
  const MXTensor* data; /*!< the graph's inputs, then its weights, in the order that the JSON lists
                         *   them; weights have their data, in kMXAccHostMemory unless their info
                         *   says otherwise, which is valid until the call returns, but see
                         *   MXAccRuntime::retain_weight */
  int32_t num_data;
  int32_t num_nodes;       /*!< of the graph itself, without those of subgraphs */
  int32_t version;         /*!< MXACC_GRAPH_VERSION; one that is too new is kMXAccUnsupported */
  int32_t num_inputs;      /*!< of data; the others are weights */
  const MXTensor* outputs; /*!< the graph's, without data, in the order of the JSON */
  int32_t num_outputs;
  int32_t reserved_number; /*!< 0 */
  const void* onnx; /*!< a ModelProto without the data of weights; NULL where there is none */
  size_t onnx_size;
} MXAccGraph;

/*! \brief An option of a model that the library knows, and its default. */
typedef struct MXAccOption {
  size_t struct_size;
  /*!
   * \brief Name, and the value that holds where none is given, whose kind is that of all values.
   * Some names mean the same in every library: "precision" ("float32", "float16", ...: what may be
   * computed in), "deterministic" (true: the same bits each time), "effort" (0 to 2: how long
   * compiling may take), "streams" (how many runs at once to be fast for).
   */
  MXAccAttribute value;
  const char* doc;     /*!< a sentence for people; may be NULL */
  const char* choices; /*!< JSON list of all values that may be given; NULL where any may */
} MXAccOption;

/*! \brief A piece of a compiled model: exportModel gives pieces out, importModel gets the same. */
typedef struct MXAccPiece {
  const char* key;  /*!< "weights.0": not empty, and no two pieces of a model have the same */
  const void* data; /*!< in importModel it begins at a multiple of 64 */
  size_t size;      /*!< in bytes; may be 0 */
} MXAccPiece;

/*!
 * \brief Takes one piece, whose data may go when it returns. The thread that called exportModel
 * calls it, before that returns. Where it fails, exportModel gives no other piece and returns the
 * same error.
 */
typedef MXAccStatus (*MXAccTakePiece)(void* context, const MXAccPiece* piece);

/*! \brief Answers of checkModel. */
enum {
  kMXAccFits = 0,      /*!< importing is as good as compiling anew */
  kMXAccRecompile = 1, /*!< importing works, but what is compiled now would be better */
  kMXAccDoesNotFit = 2 /*!< importing fails: another library, driver or device is needed */
};

/*! \brief Bits of MXAccModel::flags. */
enum {
  kMXAccModelConcurrent = 1,   /*!< infer may be called by several threads at once */
  kMXAccModelKeepsWeights = 2, /*!< has a copy of its own: MXNet may drop those that it was given */
  kMXAccModelUsesStreams = 4   /*!< infer with a stream may return before the work is done */
};

/*!
 * \brief A compiled model, as an executor is one of an operator; filled in by the library. MXNet
 * sets struct_size and zeroes the rest.
 */
typedef struct MXAccModel {
  size_t struct_size;
  uint32_t flags;
  int32_t
      num_in; /*!< inputs and outputs are known by their position in these; names are for people */
  int32_t num_out;
  int32_t reserved_number;
  void* state;
  const MXTensor* inputs;   /*!< without data: type, shape, the layout that is best, memory in info.
                             *   These belong to the model */
  const MXTensor* outputs;  /*!< the same; also auxiliaries that are updated, and the best layout */
  uint64_t workspace_bytes; /*!< memory of the device that each infer is given; 0 for none */
  uint64_t weight_bytes;    /*!< memory of the device that the model itself takes */
  /*!
   * \brief Required. Runs it; inputs and outputs are as many as above and in that order. An output
   * without data has no shape yet, its extents being -1: MXAccRuntime::alloc_output makes it, with
   * call, and then there is no stream, nor work under way in any. workspace is
   * that of MXAccExecutor::run. What failures in streams are told by is MXTensor::work of the
   * outputs, as for executors.
   */
  MXAccStatus (*infer)(void* state, const MXTensor* inputs, int32_t num_in, MXTensor* outputs,
                       int32_t num_out, const MXTensor* workspace, MXAccStream stream, void* call);
  /*! \brief Frees state; no infer is under way, in a stream neither. May be NULL. */
  void (*unloadModel)(void* state);
  /*!
   * \brief The shapes of outputs for inputs of these shapes, before a run: fills in ndim, and
   * shape, which has room for MXACC_MAX_DIMS extents; -1 where the elements decide. Inputs have no
   * data, but for those of kMXAccShapeInput. NULL where all shapes are known.
   */
  MXAccStatus (*inferShapes)(void* state, const MXTensor* inputs, int32_t num_in, MXTensor* outputs,
                             int32_t num_out);
  /*!
   * \brief Takes other elements for count > 0 of the graph's weights, each found by its name there
   * and of the same type and shape; the others stay as they are. No other call of the model is
   * under way, in a stream neither. Each infer behind it computes with the new ones, and
   * exportModel gives them.
   *
   * The data is as in MXAccGraph::data: of the host, and valid until the call returns. It may be
   * read later by a library that has called retain_weight for it meanwhile, and by a model without
   * kMXAccModelKeepsWeights: then MXNet keeps it until the same weight is given again by an
   * updateWeights that succeeds, or until unloadModel, and what was given before until this one has
   * succeeded.
   *
   * After any error the weights may be old, new or partly both: MXNet calls nothing of the model
   * but unloadModel, and loads it again. It is kMXAccUnsupported where the model was compiled for
   * what the elements of a weight were, as extents or axes. NULL where a model has to be loaded
   * again for other weights.
   */
  MXAccStatus (*updateWeights)(void* state, const MXTensor* weights, int32_t count);
  /*!
   * \brief Gives the compiled model out in pieces, so that importModel can spare compiling it. What
   * it was compiled with, options and what configure has set, is in the pieces. With weights 1
   * these are all that importModel needs; with 0 it is given the graph's weights, too, and the
   * pieces may lack what can be made of them. Any number of times; beside another call of the model
   * only with kMXAccModelConcurrent, and no work of the model is under way in a stream. Where it
   * fails, MXNet forgets the pieces that it took. NULL or kMXAccUnsupported where a model cannot be
   * exported.
   */
  MXAccStatus (*exportModel)(void* state, int32_t weights, MXAccTakePiece take, void* context);
} MXAccModel;

/*! \brief A piece of work that was done, for profiles. */
typedef struct MXAccProfileRecord {
  size_t struct_size;
  const char* name;   /*!< of an operator, a kernel or a copy; valid during the call */
  int64_t node;       /*!< of the graph; 0 where it is of none */
  uint64_t work;      /*!< MXTensor::work of the call it is of; 0 where that is unknown */
  MXAccStream stream; /*!< NULL for none */
  int64_t begin_ns;   /*!< of CLOCK_MONOTONIC of the host */
  int64_t end_ns;
} MXAccProfileRecord;

/*! \brief Takes records; any thread may call it, also while no call is under way. */
typedef void (*MXAccProfileSink)(void* context, const MXAccProfileRecord* record);

/*! \brief Receives a piece of text or data; called any number of times. */
typedef void (*MXAccEmit)(void* context, const char* key, const char* value, size_t value_size);

/* ---- the table ---- */

/*! \brief The library's functions; MXNet sets struct_size and zeroes the rest before the call. */
typedef struct MXAccApi {
  size_t struct_size; /*!< the library lowers it to its own sizeof(MXAccApi), if that is less */
  int32_t abi_major;  /*!< the library sets both: MXACC_ABI_MAJOR as it was compiled. In every */
  int32_t abi_minor;  /*!< version they are here, so that MXNet can name both when it rejects one */
  const char* release; /*!< version of the library, for the user; may be NULL */
  void* self;          /*!< the first argument of every function below; may be NULL */
  /*! \brief The versions of the operators' meaning that the library knows,
   * MXAccRuntime::operator_set being what this MXNet has; outside of them it is not loaded. Both 0:
   * the library does not say. The number rises where an operator's result or attributes change
   * their meaning; operators and attributes that are new do not raise it, as a library rejects what
   * it does not know.
   */
  int32_t operator_set_min;
  int32_t operator_set_max;

  /*!
   * \brief Required. Writes the accelerator's name, [a-z][a-z0-9_]*, of at most size - 1
   * characters: "foo" makes mx.foo(0). Called first, even before initialize.
   */
  MXAccStatus (*getAccName)(void* self, char* name, size_t size);
  /*!
   * \brief Required. How many devices there are, from 0 on; after initialize. No dev_id out of that
   * range is ever passed. With none the library does not load: to say why, fail with the reason.
   */
  MXAccStatus (*getNumAcc)(void* self, int32_t* count);
  /*!
   * \brief Called once, after getAccName, with what mxacc_get_api was given. Where to reject a
   * version of MXNet, with kMXAccRejected and a reason, and to find the devices.
   */
  MXAccStatus (*initialize)(void* self, const MXAccRuntime* runtime);
  /*! \brief Called before unloading, if initialize succeeded: nothing of the library is in use. */
  void (*finalize)(void* self);
  /*! \brief Describes a device. */
  MXAccStatus (*getDeviceInfo)(void* self, int32_t dev_id, MXAccDeviceInfo* info);

  /*!
   * \brief size > 0 bytes on a device, of a kind of memory (kMXAccDeviceMemory, or another that
   * MXAccDeviceInfo::memories has, of which *out is an address of the host), aligned to alignment,
   * a power of two; *out may be any handle that is not NULL and that no other living memory of the
   * device has. Where a handle is no address, the memory behind it is aligned. Their content may be
   * anything. Required with supportsImperative.
   */
  MXAccStatus (*mx_alloc)(void* self, int32_t dev_id, int32_t memory, size_t size, size_t alignment,
                          void** out);
  /*! \brief Frees what mx_alloc gave. Cannot fail. Required with mx_alloc. */
  void (*mx_free)(void* self, int32_t dev_id, void* data);
  /*! \brief Frees all that is allocated, before finalize; *live is how many there were. */
  MXAccStatus (*mx_releaseAll)(void* self, int32_t dev_id, size_t* live);

  /*!
   * \brief Copies count tensors of the host, sources, into tensors on the device; shapes and dtypes
   * agree pair by pair, and some may have no elements. A count of 0 is nothing to copy. Strides
   * are row-major unless the device has kMXAccStrides; byte_offset counts in any case. Without a
   * stream the copies are done when it returns. Required with mx_alloc.
   */
  MXAccStatus (*copyToAcc)(void* self, int32_t dev_id, MXTensor* targets, const MXTensor* sources,
                           int32_t count, MXAccStream stream);
  /*! \brief The same from the device to the host. Required with mx_alloc. */
  MXAccStatus (*copyFromAcc)(void* self, int32_t dev_id, MXTensor* targets, const MXTensor* sources,
                             int32_t count, MXAccStream stream);
  /*!
   * \brief The same within a device, or between two devices of the library, of which dev_id is that
   * of the targets; sources and targets do not overlap. The stream is one of dev_id, too: between
   * devices MXNet has it wait for an event of the sources' stream before, and afterwards has that
   * stream wait for an event of this one. Where it is unsupported, MXNet copies through the host.
   */
  MXAccStatus (*copyWithinAcc)(void* self, int32_t dev_id, MXTensor* targets,
                               const MXTensor* sources, int32_t count, MXAccStream stream);

  /*! \brief Streams and events: all of them, or none. Destroying waits for what is under way. */
  MXAccStatus (*createStream)(void* self, int32_t dev_id, MXAccStream* out);
  void (*destroyStream)(void* self, int32_t dev_id, MXAccStream stream);
  /*!
   * \brief Waits until all work given to the stream is done, whatever it returns. Then tells one
   * failure that was not told before, and MXNet calls it until it tells none.
   *
   * MXAccError::work says which call failed, by the number that MXTensor::work or mx_zero was
   * given. A library that says so tells every call that failed, but for those that it did not
   * execute because an input was lost, which it may tell. Where it cannot say, work is 0: then all
   * is taken for lost that was given to the device since a syncStream that told nothing, and it is
   * not called again. What was given after a call that failed may have been executed or not.
   */
  MXAccStatus (*syncStream)(void* self, int32_t dev_id, MXAccStream stream);
  MXAccStatus (*createEvent)(void* self, int32_t dev_id, MXAccEvent* out);
  void (*destroyEvent)(void* self, int32_t dev_id, MXAccEvent event);
  /*!
   * \brief Marks what was given to the stream so far, instead of what the event marked before.
   * There is always a stream, never NULL; dev_id is the device of both.
   */
  MXAccStatus (*recordEvent)(void* self, int32_t dev_id, MXAccEvent event, MXAccStream stream);
  /*!
   * \brief Has the stream wait for what the event marks at this call; with no stream, the calling
   * thread. dev_id is the stream's device, or with no stream the event's. The event may be one of
   * another device of the library: that is how copies between devices are ordered. An event that
   * marks nothing is over, and so is one whose work failed.
   */
  MXAccStatus (*waitEvent)(void* self, int32_t dev_id, MXAccEvent event, MXAccStream stream);

  /*! \brief *yes is 1 where accGetExecutor and mx_alloc may be called; NULL stands for 0. */
  MXAccStatus (*supportsImperative)(void* self, int32_t* yes);
  /*!
   * \brief How an operator is executed; kMXAccUnsupported where it is not, with the reason.
   * MXNet keeps either answer, for the operator, its attributes, and the types, shapes and strides
   * of its tensors, until configure is called for the device.
   */
  MXAccStatus (*accGetExecutor)(void* self, const MXAccOperator* op, MXAccExecutor* out);

  /*! \brief Says of each of graph->num_nodes nodes whether it runs here. */
  MXAccStatus (*supportedOps)(void* self, int32_t dev_id, const MXAccGraph* graph,
                              MXAccNodeSupport* nodes);
  /*!
   * \brief Compiles a graph. Options that are not among those of listOptions are kMXAccBadArgument;
   * call is for MXAccRuntime::should_stop and progress. MXNet calls it by a thread of its own where
   * it does not want to wait. Required with supportedOps.
   */
  MXAccStatus (*loadModel)(void* self, int32_t dev_id, const MXAccGraph* graph,
                           const MXAccAttribute* options, int32_t num_options, void* call,
                           MXAccModel* out);
  /*! \brief *options are those that loadModel takes, *count of them; they stay until finalize. */
  MXAccStatus (*listOptions)(void* self, const MXAccOption** options, int32_t* count);
  /*!
   * \brief Writes what decides whether compiled models of another time or machine fit: version of
   * library and driver, kind of device, what of the environment changes them; of at most size - 1
   * characters. MXNet keeps it beside them. Required with importModel.
   */
  MXAccStatus (*modelKey)(void* self, int32_t dev_id, char* key, size_t size);
  /*!
   * \brief Whether what was exported when modelKey wrote key fits this device now: *verdict is
   * kMXAccFits ... The key may be any text. Required with importModel.
   */
  MXAccStatus (*checkModel)(void* self, int32_t dev_id, const char* key, int32_t* verdict);
  /*!
   * \brief Makes a model, the same as loadModel did, of the pieces that its exportModel gave out,
   * in the same order; key is what modelKey wrote then. weights are as in MXAccGraph::data, those
   * of the graph in its order, where it was exported with weights 0, and else none. The data of the
   * pieces is mapped from a file, so that what is not read costs nothing. It cannot be written, and
   * unlike the structs and their keys it stays until unloadModel, or until importModel has failed.
   *
   * MXNet has checked its file by checksums of its own; yet files come from anywhere. A key that
   * does not fit, pieces that are missing, too short or not what was exported, and weights of
   * other types or shapes are an error, for which the library may have a checksum among its pieces,
   * and never a crash.
   * After any error MXNet compiles the graph.
   */
  MXAccStatus (*importModel)(void* self, int32_t dev_id, const char* key, const MXAccPiece* pieces,
                             int32_t num_pieces, const MXTensor* weights, int32_t num_weights,
                             MXAccModel* out);

  /*!
   * \brief Whatever else the accelerator can do: takes keywords with values and emits others; both
   * are text. An unknown keyword is kMXAccBadArgument, and then nothing has changed. The number of
   * devices does not change.
   */
  MXAccStatus (*configure)(void* self, int32_t dev_id, const char* const* in_keys,
                           const char* const* in_vals, int32_t num_in, MXAccEmit emit,
                           void* context);

  /*!
   * \brief Sets size > 0 bytes of what mx_alloc gave, from byte_offset on, to 0. Without a stream
   * it is done when it returns; in a stream, work is what MXTensor::work is for others. Where the
   * member is NULL, or it is unsupported, MXNet copies zeros.
   */
  MXAccStatus (*mx_zero)(void* self, int32_t dev_id, void* data, uint64_t byte_offset, size_t size,
                         MXAccStream stream, uint64_t work);

  /*! \brief Begins to give records of what is done on a device to sink; ends with sink NULL, after
   * which none comes. MXNet asks for those of one run of a model and shows the work of each node.
   * It leaves out records whose work is another call's; where a device has no streams, and work is
   * 0, nothing tells them apart, and other models must not run meanwhile. */
  MXAccStatus (*profile)(void* self, int32_t dev_id, MXAccProfileSink sink, void* context);
  /*!
   * \brief What the library offers under a name, "vendor.something.1", which says what it points
   * to; NULL where it does not know it. So neither a vendor's own functions nor what MXNet will ask
   * for later needs another version of this header.
   */
  const void* (*getExtension)(void* self, const char* name);
} MXAccApi;

/*!
 * \brief What a library exports. Fills in api, best by copying as much of a constant table as fits;
 * fails where it can do nothing with this MXNet.
 */
typedef MXAccStatus (*MXAccGetApi)(const MXAccRuntime* runtime, MXAccApi* api);
#define MXACC_ENTRY "mxacc_get_api"
MXACC_EXPORT MXAccStatus mxacc_get_api(const MXAccRuntime* runtime, MXAccApi* api);

#ifdef __cplusplus
}
#endif

#endif /* MXNET_ACC_H_ */
