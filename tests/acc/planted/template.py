"""Bugs to plant in the template: what is replaced in it, and what mxacc-check is to say of it."""

INCLUDES = (
    "#include <string.h>\n",
    "#include <string.h>\n#include <stdio.h>\n#include <unistd.h>\n",
)
CONFIGURE = (
    "static const MXAccApi kTable = {",
    """
static char speed = '0';
static const MXAccError kNoKeyword = {sizeof(MXAccError), kMXAccBadArgument, "no such keyword"};
static MXAccStatus Configure(void* self, int32_t dev, const char* const* keys,
                             const char* const* values, int32_t num, MXAccEmit emit,
                             void* context) {
  for (int32_t i = 0; i < num; ++i) {
    if (strcmp(keys[i], "speed") != 0) return REJECT;
    SET
  }
  for (int32_t i = 0; i < num; ++i) speed = values[i][0];
  emit(context, "speed", &speed, 1);
  return NULL;
}
static const MXAccApi kTable = {
    .configure = Configure,""",
)
WITH_STREAMS = [
    ("static MXAccStatus Copy(", "static MXAccStatus CopyNow("),
    ("/* ---- operators ---- */", '#include "lazy_streams.h"'),
    ("static const MXAccApi kTable = {", "static const MXAccApi kTable = {STREAMS"),
    (
        "(void)state, (void)num_in, (void)num_out, (void)workspace, (void)stream;",
        "if (stream) FlushAll();",
    ),
]
RUN_NEGATIVE = "for (size_t i = 0, n = NumElements(&outputs[0]); i < n; ++i) out[i] = -x[i];"
RUN_ADD = "for (size_t i = 0, n = NumElements(&outputs[0]); i < n; ++i) out[i] = a[i] + b[i];"
GET_NAME = "static MXAccStatus GetAccName(void* self, char* name, size_t size) {\n"
GET_API = "MXAccStatus mxacc_get_api(const MXAccRuntime* runtime, MXAccApi* api) {\n"
ALLOC = "return posix_memalign(out, alignment, size) == 0 ? NULL : &kNoMemory;"
COPY = "if (bytes != 0) memcpy(FirstElement(&targets[i]), FirstElement(&sources[i]), bytes);"
INFO = "memcpy(info, &mine, info->struct_size < sizeof(mine) ? info->struct_size : sizeof(mine));"
INITIALIZE = (
    "static const MXAccApi kTable = {",
    """static MXAccStatus Initialize(void* self, const MXAccRuntime* runtime) {
  BODY
  return NULL;
}
static const MXAccApi kTable = {
    .initialize = Initialize,""",
)


def initialize(body: str) -> tuple[str, str]:
    return INITIALIZE[0], INITIALIZE[1].replace("BODY", body)


def configure(reject: str = "&kNoKeyword", set_first: str = "") -> tuple[str, str]:
    return CONFIGURE[0], CONFIGURE[1].replace("REJECT", reject).replace("SET", set_first)


def bfloat16(negated: str) -> list[tuple[str, str]]:
    """Has negative take bfloat16, too; what it makes of the bits of one, `bits`."""
    each = "for (size_t i = 0, n = NumElements(&outputs[0]); i < n; ++i)"
    body = f"const uint16_t bits = ((const uint16_t*)x)[i]; ((uint16_t*)out)[i] = {negated};"
    is_float = "t->dtype.code != kMXAccFloat || t->dtype.bits != 32"
    is_add = 'strcmp(op->name, "add") == 0'
    return [
        (is_float, f"(({is_float}) && t->dtype.code != kMXAccBfloat)"),
        (is_add, f"op->outputs[0].tensor.dtype.bits == 32 && {is_add}"),
        (
            RUN_NEGATIVE,
            f"if (outputs->tensor.dtype.bits == 16) {each} {{{body}}} else {RUN_NEGATIVE}",
        ),
    ]


BFLOAT16 = bfloat16("bits ^ 0x8000")

# The first 35 loads leave memory, as where caches fill: more than --quick loads at first.
FILLS_UP = [
    INCLUDES,
    ("#include <string.h>\n", "#include <string.h>\n#include <stdlib.h>\n"),
    (
        GET_API,
        GET_API
        + """
  const char* loads = getenv("LOADS");
  char next[20];
  snprintf(next, sizeof(next), "%d", loads ? atoi(loads) + 1 : 1);
  setenv("LOADS", next, 1);
  if (atoi(next) <= 35) memset(malloc(1 << 15), 1, 1 << 15);
""",
    ),
]

# What is done to the template; the check that finds it, and words of what it says.
BUGS = {
    "another major version": (
        [(".abi_major = MXACC_ABI_MAJOR", ".abi_major = 2")],
        *("contract.version", "abi_major 1"),
    ),
    "no copyToAcc": ([(".copyToAcc = Copy,", "")], "contract.required", "copyToAcc, required with"),
    "half of the streams": (
        [(".copyToAcc = Copy,", ".copyToAcc = Copy, .syncStream = (void*)GetNumAcc,")],
        *("contract.streams", "no createStream"),
    ),
    "data for a function": (
        [(".copyWithinAcc = Copy", ".copyWithinAcc = (void*)kName")],
        *("contract.functions", "copyWithinAcc NULL or a function"),
    ),
    "links to MXNet": (
        [
            (
                GET_API,
                f"extern int MXNetFuncFree(void*) __attribute__((weak));\n{GET_API}"
                "  if (MXNetFuncFree) return &kNoMemory;\n",
            )
        ],
        *("contract.needs", "MXNetFuncFree"),
    ),
    "a release that is not UTF-8": (
        [('.release = "0.1"', '.release = "\\xff\\xfe"')],
        *("contract.strings", "UTF-8"),
    ),
    "fills more of the table than there is": (
        [("memcpy(api, &kTable, size);", "memcpy(api, &kTable, sizeof(kTable));")],
        *("versions.older_table", "nothing written beyond"),
    ),
    "takes the host's size of the table": (
        [
            ("  api->struct_size = size;\n", "  api->struct_size = whole;\n"),
            (
                "  const size_t size = api",
                "  const size_t whole = api->struct_size;\n  const size_t size = api",
            ),
        ],
        *("versions.newer_table", "which no version has yet"),
    ),
    "uses log without looking whether it is there": (
        [initialize('runtime->log(runtime->context, kMXAccInfo, "here");')],
        *("versions.older_runtime", "SIGSEGV"),
    ),
    "rejects a newer host": (
        [initialize("if (runtime->abi_minor != MXACC_ABI_MINOR) return &kUnsupported;")],
        *("versions.newer_runtime", "unsupported"),
    ),
    "a name with capitals": ([('kName[] = "myacc"', 'kName[] = "MyAcc"')], "names.name", "MyAcc"),
    "a name longer than its buffer": (
        [("if (size < sizeof(kName)) return &kLongName;", "")],
        *("names.short", "nothing written behind the buffer"),
    ),
    "a name that needs more room than it takes": (
        [("size < sizeof(kName)", "size < sizeof(kName) + 3")],
        *("names.exact", "an error"),
    ),
    "a name that is cut": (
        [
            (
                GET_NAME,
                f"{GET_NAME}  if (size && size < sizeof(kName)) {{ *name = 0; return NULL; }}\n",
            )
        ],
        *("names.short", "success"),
    ),
    "another number of devices each time": (
        [("*count = 1;", "static int n; *count = ++n;")],
        *("devices.count", "the same number each time"),
    ),
    "writes beyond a device's description": (
        [(INFO, "memcpy(info, &mine, sizeof(mine));")],
        *("devices.beyond", "nothing written beyond"),
    ),
    "an alignment that is no power of two": (
        [(".flags = kMXAccHostVisible", ".flags = kMXAccHostVisible, .alignment = 48")],
        *("devices.info", "power of two"),
    ),
    "unusable for no reason": (
        [
            ("*count = 1;", "*count = 2;"),
            (".flags = kMXAccHostVisible", ".flags = dev_id ? kMXAccUnusable : 0"),
        ],
        *("devices.info", "a reason"),
    ),
    "ignores the alignment": (
        [(ALLOC, "*out = malloc(size); return *out ? NULL : &kNoMemory;")],
        *("memory.alignment", "a multiple of"),
    ),
    "the same memory for all": (
        [
            (
                ALLOC,
                "static char all[1 << 27] __attribute__((aligned(4096))); *out = all; return NULL;",
            ),
            ("  free(data);", ""),
        ],
        *("memory.sizes", "a handle of its own"),
    ),
    "too little memory": (
        [
            (
                "static MXAccStatus Alloc(",
                """static char room[1 << 24];
static char* Next(size_t size) {
  static size_t used;
  char* next = room + used;
  used = (used + size / 2 + 1) % (1 << 23);
  return next;
}
static MXAccStatus Alloc(""",
            ),
            (ALLOC, "*out = Next(size); return NULL;"),
            ("  free(data);", ""),
        ],
        *("memory.sizes", "other bytes"),
    ),
    "keeps what is freed": ([("  free(data);", "")], "memory.again", "bytes less"),
    "keeps other bytes than the CPU sees": (
        [
            (
                COPY,
                "const int within = targets[i].tensor.device.device_type =="
                " sources[i].tensor.device.device_type;"
                " char* to = FirstElement(&targets[i]);"
                " const char* from = FirstElement(&sources[i]);"
                " for (size_t at = 0; at < bytes; ++at) to[at] = from[at] ^ (within ? 0 : 85);",
            )
        ],
        *("memory.visible", "the bytes that the copy wrote"),
    ),
    "no error where there is no memory": (
        [(ALLOC, f"if (size >> 40) return NULL; {ALLOC}")],
        *("memory.absurd", "success"),
    ),
    "another error where there is no memory": (
        [("kMXAccOutOfMemory", "kMXAccFailed")],
        *("memory.absurd", "failed"),
    ),
    "miscounts what is alive": (
        [
            (".mx_free = Free,", ".mx_free = Free, .mx_releaseAll = ReleaseAll,"),
            (
                "static const MXAccApi kTable",
                "static MXAccStatus ReleaseAll(void* self, int32_t d, size_t* live)"
                "{ *live = 7; return NULL; }\nstatic const MXAccApi kTable",
            ),
        ],
        *("memory.release_all", "7"),
    ),
    "ignores byte_offset": (
        [("tensor->tensor.data + tensor->tensor.byte_offset", "tensor->tensor.data")],
        *("copies.offsets", "elements differ"),
    ),
    "copies a byte too much": (
        [(COPY, COPY.replace("bytes);", "bytes + 1);"))],
        *("copies.offsets", "elements differ"),
    ),
    "copies the first of several alone": (
        [
            (
                "i < count; ++i) {\n    const size_t bytes",
                "i < (count > 0); ++i) {\n    const size_t bytes",
            )
        ],
        *("copies.several", "elements differ"),
    ),
    "reads the host where there is nothing": (
        [(COPY, "memcpy(FirstElement(&targets[i]), FirstElement(&sources[i]), bytes + !bytes);")],
        *("copies.round_trip", "SIGSEGV"),
    ),
    "says that it takes strides": (
        [(".flags = kMXAccHostVisible", ".flags = kMXAccHostVisible | kMXAccStrides")],
        *("copies.strides_to", "elements differ"),
    ),
    "hangs": (
        [INCLUDES, (COPY, f"if (bytes == 8388609) sleep(99); {COPY}")],
        *("copies.large", "no answer within 2 s"),
    ),
    "exits": (
        [(COPY, f"if (bytes == 8388609) exit(3); {COPY}")],
        *("copies.large", "ended with the status 3"),
    ),
    "adds the last element wrongly": (
        [(RUN_ADD, RUN_ADD.replace("+ b[i]", "+ (i == 14 ? 0 : b[i])"))],
        *("operators.binary", "1 of 15 elements differ"),
    ),
    "bools of which only one byte is true": (
        [
            (
                "static MXAccStatus GetExecutor(",
                "static MXAccStatus RunNot(void* state, const MXTensor* inputs, int32_t num_in,"
                " MXTensor* outputs, int32_t num_out, const MXTensor* workspace,"
                " MXAccStream stream) {"
                " const char* x = FirstElement(inputs); char* out = FirstElement(outputs);"
                " for (size_t i = 0, n = NumElements(outputs); i < n; ++i) out[i] = x[i] != 1;"
                " return NULL;\n}\nstatic MXAccStatus GetExecutor(",
            ),
            (
                "if (op->num_out != 1 ||",
                'if (strcmp(op->name, "logical_not") == 0 &&'
                " op->inputs[0].tensor.dtype.code == kMXAccBool) return out->run = RunNot, NULL;"
                "\n  if (op->num_out != 1 ||",
            ),
        ],
        *("operators.bools", "1 instead of 0"),
    ),
    "crashes in run": (
        [(RUN_NEGATIVE, "*(volatile int*)1 = 0;")],
        *("operators.unary", "SIGSEGV"),
    ),
    "writes behind the output": (
        [(RUN_NEGATIVE, RUN_NEGATIVE.replace("i < n", "i < n + 1"))],
        *("operators.unary", "beside the output"),
    ),
    "writes into its input": (
        [(RUN_ADD, RUN_ADD.replace("a[i] + b[i]", "a[i] + b[i], ((float*)a)[0] = 9"))],
        *("operators.binary", "inputs that are left as they are"),
    ),
    "cannot work in place": (
        [(RUN_NEGATIVE, f"memset(out, 0, 4 * NumElements(&outputs[0])); {RUN_NEGATIVE}")],
        *("operators.unary", "in place of input 0"),
    ),
    "remembers where the data were": (
        [
            (
                "float* out = FirstElement(&outputs[0]);\n  (void)state, (void)num_in",
                "static float* first; if (!first) first = FirstElement(&outputs[0]);"
                "float* out = first;\n  (void)state, (void)num_in",
            )
        ],
        # It writes where memory was freed, which sometimes ends the process.
        *("operators.unary", "negative float32"),
    ),
    "an executor without run": (
        [("if (out->run == NULL) return &kUnsupported;", "")],
        *("operators.unary", "a function run"),
    ),
    "fails where it means that it does not": (
        [("MXAccError), kMXAccUnsupported", "MXAccError), kMXAccFailed")],
        *("operators.unknown", "failed"),
    ),
    "an error without a message": (
        [('"malloc has no more"', "NULL")],
        "errors.struct",
        "whose message is NULL",
    ),
    "an error of no kind": (
        [("MXAccError), kMXAccOutOfMemory", "MXAccError), 99")],
        "errors.struct",
        "the code 99",
    ),
    "an error without a size": (
        [("kNoMemory = {sizeof(MXAccError)", "kNoMemory = {0")],
        "errors.struct",
        "struct_size is 0",
    ),
    "one error for all threads": (
        [
            INCLUDES,
            (
                ALLOC,
                "static char text[40]; static MXAccError e = {sizeof e, kMXAccOutOfMemory, text};"
                'static int n; sprintf(text, "no memory %d", ++n);'
                "return posix_memalign(out, alignment, size) == 0 ? NULL : &e;",
            ),
        ],
        *("errors.lives", "no memory"),
    ),
    "one buffer for all threads": (
        [
            INCLUDES,
            (
                COPY,
                "static char all[1 << 24]; memcpy(all, FirstElement(&sources[i]), bytes);"
                "usleep(100); memcpy(FirstElement(&targets[i]), all, bytes);",
            ),
        ],
        *("threads.memory", "something else than in one thread"),
    ),
    "takes any keyword": ([configure(reject="NULL")], "configure.unknown", "success"),
    "rejects keywords with another error": (
        [configure(reject="&kUnsupported")],
        "configure.unknown",
        "unsupported",
    ),
    "half configured": (
        [configure(set_first="speed = values[i][0];")],
        *("configure.unchanged", "speed"),
    ),
    "memory is lost by each load": (
        [(GET_API, GET_API + "  memset(malloc(1 << 16), 1, 1 << 16);\n")],
        *("reload.grows", "bytes more by each load"),
    ),
    "descriptors are lost by each load": (
        [
            ("#include <string.h>\n", "#include <string.h>\n#include <unistd.h>\n"),
            (GET_API, GET_API + "  dup(1);\n"),
        ],
        *("reload.grows", "descriptors"),
    ),
    "threads are lost by each load": (
        [
            (
                "#include <string.h>\n",
                "#include <string.h>\n#include <unistd.h>\n#include <pthread.h>\n",
            ),
            initialize("pthread_t t; pthread_create(&t, NULL, (void*)pause, NULL);"),
        ],
        *("reload.grows", "threads"),
    ),
    "crashes at the end of the process": (
        [
            (
                "static void Free(",
                "static int live; __attribute__((destructor)) static void End(void)"
                "{ if (live) abort(); }\nstatic void Free(",
            ),
            ("  free(data);", "  --live; free(data);"),
            ("  (void)runtime; /*", "  live = 0;\n  (void)runtime; /*"),
            (
                "return posix_memalign(out",
                "extern void Count(void); Count(); return posix_memalign(out",
            ),
            (
                "static void* FirstElement",
                "void Count(void) { ++live; }\nstatic void* FirstElement",
            ),
        ],
        *("reload.end", "SIGABRT"),
    ),
    "reads the structs of a call when they are gone": (
        [*WITH_STREAMS, ("#include <string.h>\n", "#include <string.h>\n#define KEEP_POINTERS\n")],
        *("streams.structs", ""),
    ),
    "waits for no event": (
        [*WITH_STREAMS, ("#include <string.h>\n", "#include <string.h>\n#define NO_WAIT\n")],
        *("streams.host_waits", "elements differ"),
    ),
    "zeroes at once what was given to a stream": (
        [*WITH_STREAMS, ("#include <string.h>\n", "#include <string.h>\n#define ZERO_AT_ONCE\n")],
        *("streams.zero", "elements differ"),
    ),
    "zeroes a byte too many": (
        [*WITH_STREAMS, ("#include <string.h>\n", "#include <string.h>\n#define ZERO_MORE\n")],
        *("memory.zero", "1 other bytes"),
    ),
    "drops what was given to a stream": (
        [*WITH_STREAMS, ("#include <string.h>\n", "#include <string.h>\n#define DROP\n")],
        *("streams.destroy", "elements differ"),
    ),
}

# Those that --quick does not find.
THOROUGH_BUGS = {
    "bfloat16 without its sign": (
        bfloat16("bits & 0x7fff"),
        *("operators.unary", "elements differ"),
    ),
    "bfloat16 that has lost bits": (
        bfloat16("(bits ^ 0x8000) & 0xffe0"),
        *("operators.unary", "elements differ"),
    ),
    "infinity in bfloat16": (
        bfloat16("(bits ^ 0x8000) + (bits == 0x7f80)"),
        *("operators.unary", "nan instead of -inf"),
    ),
}

# What cannot be checked: changes, exit status, words.
NOT_STARTED = {
    "does not start": ([initialize("return &kUnsupported;")], 2, "initialize: unsupported"),
    "no device": ([("*count = 1;", "*count = 0;")], 2, "no device here"),
    "an unusable device": (
        [(".flags = kMXAccHostVisible", '.flags = kMXAccUnusable, .reason = "asleep"')],
        *(2, "unusable: asleep"),
    ),
    "rejects this host": ([(GET_API, GET_API + "  return &kNoMemory;\n")], 2, "malloc has no more"),
    "something missing": (
        [(GET_API, f"extern int nowhere(void);\n{GET_API}  nowhere();\n")],
        2,
        "nowhere",
    ),
    "functions by their names": (
        [
            ("mxacc_get_api", "another_name"),
            ("static MXAccStatus GetAccName", "MXACC_EXPORT MXAccStatus getAccName"),
            ("= GetAccName", "= getAccName"),
        ],
        *(2, "mxnet_acc_functions.h"),
    ),
    "no entry": ([("mxacc_get_api", "another_name")], 1, "does not export mxacc_get_api"),
    "no getNumAcc": ([(".getNumAcc = GetNumAcc,", "")], 1, "lacks getNumAcc"),
    "a crash at once": ([(GET_API, GET_API + "  abort();\n")], 1, "could not be loaded"),
}
