"""mxacc-check finds what is wrong with a library, and nothing where nothing is."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from mx._acc.check import cases, cli, elf
from mx._acc.check.groups import GROUPS
from mx._acc.check.runner import Runner
from mx._acc.check.suite import Group, Options

from .conftest import FILES, ROOT, need

TEMPLATE = ROOT / "accelerators" / "template" / "myacc.c"
STREAMS = Path(__file__).with_name("lazy_streams.h")
HEADER = ROOT / "include" / "mxnet_acc.h"
CHECKS = [check for group in GROUPS for check in group.checks]


def check(library: Path, *options: str) -> dict:
    """The report of a library, and the exit status in it."""
    file = library.with_suffix(".json")
    status = cli.main([str(library), "--json", str(file), *options])
    report = json.loads(file.read_text()) if file.exists() else {}
    return {"status": status, **report}


def findings(report: dict) -> dict[str, list[dict]]:
    """What was found, by check."""
    results = [result for group in report["groups"] for result in group["results"]]
    return {result["id"]: result["findings"] for result in results if result["findings"]}


def broken(report: dict) -> list[str]:
    results = [result for group in report["groups"] for result in group["results"]]
    return [result["reason"] for result in results if result["status"] == "broken"]


@pytest.fixture(scope="session")
def build(tmp_path_factory):
    """Compiles the template with texts replaced; returns the library."""

    def build(*changes: tuple[str, str], flags: Sequence[str] = ()) -> Path:
        source = TEMPLATE.read_text()
        for old, new in changes:
            assert source.count(old) > 0, f"the template has no {old!r}"
            source = source.replace(old, new)
        folder = tmp_path_factory.mktemp("variant")
        (folder / "variant.c").write_text(source)
        library = folder / "libvariant.so"
        common = ["-std=gnu99", "-w", "-O0", "-shared", "-fPIC", "-fvisibility=hidden", "-pthread"]
        includes = [f"-I{HEADER.parent}", f"-I{STREAMS.parent}"]
        subprocess.run(
            ["cc", *common, *flags, *includes, folder / "variant.c", "-o", library], check=True
        )
        return library

    return build


# ---- libraries that conform ----

ALL = tuple(group.name for group in GROUPS)
# Their kind, settings, and groups of checks. OpenCL compiles a kernel for most operators, which
# have tests of their own.
CONFORMING = {
    "template": ("template", {}, ALL),
    "refacc": ("refacc", {"STREAMS": "1", "HANDLES": "address"}, ALL),
    "refacc, strict": (
        *("refacc", {"STREAMS": "1", "THREADS": "one", "STRIDES": "0", "GUARD": "pages"}),
        ("load", "copies", "streams", "threads"),
    ),
    "onednn": ("onednn", {}, ALL),
    "opencl": ("opencl", {}, tuple(name for name in ALL if name != "operators")),
}


@pytest.mark.parametrize(("kind", "settings", "names"), CONFORMING.values(), ids=CONFORMING)
def test_conforms(accelerators, monkeypatch, tmp_path, capsys, kind, settings, names):
    need(kind)
    for key, value in settings.items():
        monkeypatch.setenv(f"REFACC_{key}", value)
    library = tmp_path / FILES[kind]
    library.symlink_to(accelerators / FILES[kind])
    report = check(library, "--quick", *(f"--only={name}" for name in names))
    assert (report["status"], findings(report), broken(report)) == (0, {}, [])
    assert report["verdict"] == "conforming"
    assert [group["name"] for group in report["groups"]] == list(names)
    assert len(capsys.readouterr().out.splitlines()) < 2 * len(GROUPS)


# ---- libraries with one bug each ----

INCLUDES = (
    "#include <string.h>\n",
    "#include <string.h>\n#include <stdio.h>\n#include <unistd.h>\n",
)
CONFIGURE = (
    "static const MXAccApi kTable = {",
    """
static char speed = '0';
static const MXAccError kNoKeyword = {sizeof(MXAccError), kMXAccBadArgument, "no such keyword"};
static MXAccStatus Configure(int32_t dev, const char* const* keys, const char* const* values,
                             int32_t num, MXAccEmit emit, void* context) {
  for (int32_t i = 0; i < num; ++i) {
    if (strcmp(keys[i], "speed") != 0) return REFUSE;
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
    ("(void)state, (void)num_in, (void)num_out, (void)stream;", "if (stream) FlushAll();"),
]
RUN_NEGATIVE = "for (size_t i = 0, n = NumElements(&outputs[0]); i < n; ++i) out[i] = -x[i];"
RUN_ADD = "for (size_t i = 0, n = NumElements(&outputs[0]); i < n; ++i) out[i] = a[i] + b[i];"
GET_NAME = "static MXAccStatus GetAccName(char* name, size_t size) {\n"
GET_API = "MXAccStatus mxacc_get_api(const MXAccHost* host, MXAccApi* api) {\n"
ALLOC = "return posix_memalign(out, alignment, size) == 0 ? NULL : &kNoMemory;"
COPY = "if (bytes != 0) memcpy(FirstElement(&targets[i]), FirstElement(&sources[i]), bytes);"
INFO = "memcpy(info, &mine, info->struct_size < sizeof(mine) ? info->struct_size : sizeof(mine));"
INITIALIZE = (
    "static const MXAccApi kTable = {",
    """static MXAccStatus Initialize(const MXAccHost* host) {
  BODY
  return NULL;
}
static const MXAccApi kTable = {
    .initialize = Initialize,""",
)


def initialize(body: str) -> tuple[str, str]:
    return INITIALIZE[0], INITIALIZE[1].replace("BODY", body)


def configure(refuse: str = "&kNoKeyword", set_first: str = "") -> tuple[str, str]:
    return CONFIGURE[0], CONFIGURE[1].replace("REFUSE", refuse).replace("SET", set_first)


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
        [initialize('host->log(host->context, kMXAccInfo, "here");')],
        *("versions.older_host", "SIGSEGV"),
    ),
    "refuses a newer host": (
        [initialize("if (host->abi_minor != MXACC_ABI_MINOR) return &kUnsupported;")],
        *("versions.newer_host", "unsupported"),
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
                "static MXAccStatus ReleaseAll(int32_t d, size_t* live)"
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
        *("operators.unary", "elements differ"),
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
        *("threads.memory", "came back otherwise"),
    ),
    "takes any keyword": ([configure(refuse="NULL")], "configure.unknown", "success"),
    "refuses keywords with another error": (
        [configure(refuse="&kUnsupported")],
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
            ("  (void)host; /*", "  live = 0;\n  (void)host; /*"),
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
    "drops what was given to a stream": (
        [*WITH_STREAMS, ("#include <string.h>\n", "#include <string.h>\n#define DROP\n")],
        *("streams.destroy", "elements differ"),
    ),
}


@pytest.mark.parametrize(("changes", "name", "words"), BUGS.values(), ids=BUGS)
def test_finds(build, changes, name, words):
    library = build(*changes)
    only = name.removesuffix(".end")
    report = check(library, "--quick", "--only", only, "--timeout", "2")
    found = findings(report)
    assert (report["status"], report["verdict"]) == (1, "not conforming")
    assert name in found and not broken(report)
    assert words in json.dumps(found[name], ensure_ascii=False)


def test_streams_that_are_as_lazy_as_they_may_be(build):
    report = check(build(*WITH_STREAMS), "--only", "streams", "--only", "contract")
    assert (report["status"], findings(report), broken(report)) == (0, {}, [])
    results = [result["status"] for group in report["groups"] for result in group["results"]]
    assert results.count("skipped") <= 1


def test_tells_what_a_sanitizer_says(build, monkeypatch):
    library = build((COPY, COPY.replace("bytes);", "bytes + 1);")), flags=["-fsanitize=address"])
    names = [
        subprocess.check_output(["cc", f"-print-file-name={name}"], text=True).strip()
        for name in ("libasan.so", "libstdc++.so.6")
    ]
    monkeypatch.setenv("LD_PRELOAD", " ".join(names))
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")
    report = check(library, "--only", "copies.round_trip")
    (finding,) = findings(report)["copies.round_trip"]
    assert "AddressSanitizer: heap-buffer-overflow" in finding["got"]
    assert "copyToAcc" in finding["expected"]


def test_goes_on_after_a_crash(build):
    """Later checks of a group run in another process, and later groups, too."""
    library = build((COPY, f"if (bytes == 8388609) abort(); {COPY}"))
    report = check(library, "--only", "copies", "--only", "names.name")
    assert list(findings(report)) == ["copies.large"]
    ran = {result["id"] for group in report["groups"] for result in group["results"]}
    assert ran == {one.id for one in CHECKS if one.id.startswith(("load", "copies", "names.name"))}
    (finding,) = findings(report)["copies.large"]
    assert "SIGABRT" in finding["got"] and "copyToAcc" in finding["expected"]


# What cannot be checked: changes, exit status, words.
NOT_STARTED = {
    "refuses to start": ([initialize("return &kUnsupported;")], 2, "initialize: unsupported"),
    "no device": ([("*count = 1;", "*count = 0;")], 2, "no device here"),
    "an unusable device": (
        [(".flags = kMXAccHostVisible", '.flags = kMXAccUnusable, .reason = "asleep"')],
        *(2, "unusable: asleep"),
    ),
    "refuses this host": ([(GET_API, GET_API + "  return &kNoMemory;\n")], 2, "malloc has no more"),
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
        *(2, "mxnet_acc_seed.h"),
    ),
    "no entry": ([("mxacc_get_api", "another_name")], 1, "does not export mxacc_get_api"),
    "no getNumAcc": ([(".getNumAcc = GetNumAcc,", "")], 1, "lacks getNumAcc"),
    "a crash at once": ([(GET_API, GET_API + "  abort();\n")], 1, "could not be loaded"),
}


@pytest.mark.parametrize(("changes", "status", "words"), NOT_STARTED.values(), ids=NOT_STARTED)
def test_what_cannot_be_checked(build, capsys, changes, status, words):
    report = check(build(*changes))
    assert report["status"] == status
    assert words in report["failure"]
    assert words in capsys.readouterr().out
    assert [group["name"] for group in report["groups"]] == ["load"]


def test_another_device(accelerators, capsys):
    library = accelerators / "librefacc.so"
    assert cli.main([str(library), "--only", "names", "--device", "7"]) == 2
    assert "there is no device 7, only 2" in capsys.readouterr().out
    assert cli.main([str(library), "--only", "memory", "--quick", "--device", "1"]) == 0


# Faults of refacc, and where they are found.
FAULTS = {
    "mx_alloc@3=memory": "memory.sizes",
    "copyFromAcc@2+=failed": "copies.round_trip",
    "run@1=crash": "operators.unary",
    "accGetExecutor@9=bad_argument": "operators.unary",
    "syncStream@1=no_device": "streams.many",
    "configure@2+=unsupported": "configure.unknown",
    "getNumAcc@2=failed": "devices.count",
    "finalize=crash": "load.initialize",
}


@pytest.mark.parametrize(("fault", "name"), FAULTS.items())
def test_finds_the_faults_of_refacc(accelerators, monkeypatch, tmp_path, fault, name):
    monkeypatch.setenv("REFACC_FAULTS", fault)
    monkeypatch.setenv("REFACC_STREAMS", "1")
    library = tmp_path / "librefacc.so"
    library.symlink_to(accelerators / "librefacc.so")
    report = check(library, "--quick", "--only", name)
    assert name in findings(report)


# ---- what the tool itself consists of ----


def words_of_header() -> str:
    text = re.sub(r"/\*!?<?|\*/|^ *\*|\\brief", " ", HEADER.read_text(), flags=re.M)
    return " ".join(text.split())


@pytest.mark.parametrize("one", CHECKS, ids=lambda one: one.id)
def test_each_check_rests_on_a_sentence_of_the_header(one):
    assert one.says in words_of_header()
    assert one.title and not one.title.endswith(".")


@pytest.mark.parametrize("section", cases.SECTIONS)
def test_the_cpu_does_what_is_asked_of_a_library(section):
    """Each operator of the table with most of its cases; a case of no use is a mistake in it."""
    done: dict[str, list[bool]] = {}
    for case in cases.SECTIONS[section](True):
        call = cases.call_of(case)
        assert call.inputs or section == "creation"
        try:
            made = cases.expected_of(case)
        except Exception:
            made = []
        done.setdefault(case.name, []).append(bool(made))
    assert {name for name, made in done.items() if not any(made)} == set()


ONES = np.ones(4, "float32")
TERMS = np.array([1000, -1000, 1, -1], "float32")
# A case, what came, what was expected, and whether it is as good.
RESULTS = [
    (cases.Case("negative", "", (ONES,)), ONES * 1.000009, ONES, True),
    (cases.Case("negative", "", (ONES,)), ONES * 1.00003, ONES, False),
    (cases.Case("negative", "", (ONES,)), ONES * np.nan, ONES * np.nan, True),
    (cases.Case("negative", "", (ONES,)), ONES * np.inf, -ONES * np.inf, False),
    (cases.Case("negative", "", (ONES,)), ONES, ONES * np.nan, False),
    (cases.Case("negative", "", (ONES,)), ONES.astype(int) + 1, ONES.astype(int), False),
    (cases.Case("sum", "", (TERMS,), is_sum=True), ONES[0] * 0.01, ONES[0] * 0, True),
    (cases.Case("sum", "", (TERMS,), is_sum=True), ONES[0] * 0.1, ONES[0] * 0, False),
    (cases.Case("sum", "", (ONES,), is_sum=True), ONES[0] * 0.01, ONES[0] * 0, False),
]


@pytest.mark.parametrize(("case", "came", "expected", "good"), RESULTS)
def test_results_may_be_off_by_so_much(case, came, expected, good):
    wrong = cases.difference(case, np.asarray(came), np.asarray(expected), 1)
    assert (wrong is None) == good
    assert cases.difference(case, np.asarray(expected), np.asarray(expected), 1) is None


def test_a_library_of_another_kind_has_no_symbols(tmp_path):
    for name, data in {
        "empty": b"",
        "text": b"text" * 100,
        "elf": b"\x7fELF\x02\x01" + b"x" * 99,
    }.items():
        (tmp_path / name).write_bytes(data)
        assert elf.read(tmp_path / name) is None


def test_symbols_are_those_that_nm_names(accelerators):
    library = accelerators / "librefacc.so"
    names = subprocess.run(
        ["nm", "--dynamic", "--format=posix", library], check=True, capture_output=True, text=True
    ).stdout
    rows = [line.split() for line in names.splitlines()]
    undefined = {row[0].partition("@")[0] for row in rows if row[1] in "Uwv"}
    symbols = elf.read(library)
    assert symbols.defined == ["mxacc_get_api"]
    assert set(symbols.undefined) == undefined
    assert "libc.so.6" in symbols.needed


# ---- the command line ----


def test_the_command(build, tmp_path):
    """From a folder with files that are called like modules."""
    library = build((".copyToAcc = Copy,", ""))
    for name in ("json.py", "mx.py", "numpy.py"):
        (library.parent / name).write_text("raise SystemExit('the wrong module')\n")
    page = tmp_path / "report.html"
    start = (
        f"import sys; sys.path[:] = {sys.path!r}; from mx.check_acc import main; sys.exit(main())"
    )
    options = [library.name, "--only", "contract", "-v", "--html", page]
    done = subprocess.run(
        [sys.executable, "-c", start, *options],
        cwd=library.parent,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (1, "")
    for words in ("contract.required", "expected   copyToAcc, required with mx_alloc", "header"):
        assert words in done.stdout
    text = page.read_text()
    assert "copyToAcc, required with mx_alloc" in text and "not conforming" in text
    assert "http" not in text


def test_nothing_runs_on_when_the_command_is_killed(build, tmp_path):
    """Not even a library that hangs."""
    marker = tmp_path / "pid"
    sleep = (
        f'FILE* f = fopen("{marker}", "w"); fprintf(f, "%d\\n", getpid()); fclose(f); sleep(99);'
    )
    library = build(INCLUDES, (COPY, f"if (bytes == 8388609) {{ {sleep} }} {COPY}"))
    command = [sys.executable, "-m", "mx.check_acc", library, "--only", "copies.large"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as parent:
        until(lambda: marker.exists() and marker.read_text().endswith("\n"))
        child = Path(f"/proc/{int(marker.read_text())}/stat")
        assert child.exists()
        parent.kill()
    # Whoever inherits it may leave it a zombie.
    until(lambda: not child.exists() or child.read_text().rpartition(")")[2].split()[0] == "Z")


def until(condition, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.02)


def test_tells_meanwhile_what_is_tried(build):
    library = build(INCLUDES, (COPY, f"if (bytes == 8388609) usleep(600000); {COPY}"))
    shown: list[str] = []
    runner = Runner(Options(str(library)), 60, shown.append)
    (copies,) = [group for group in GROUPS if group.name == "copies"]
    large = [one for one in copies.checks if one.id == "copies.large"]
    report = runner.report([Group("copies", "", large)], lambda report, done: None)
    runner.close()
    assert report.verdict == "conforming"
    assert "8388609 bytes" in shown


def test_lists_all_checks(capsys):
    assert cli.main(["--list"]) == 0
    printed = capsys.readouterr().out
    assert [one.id for one in CHECKS if one.id not in printed] == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "required: LIBRARY"),
        (["x.so", "--only", "copies", "--only", "nothing"], "there is no group or check nothing"),
        (["x.so", "--timeout", "0"], "0 is not above 0"),
        (["x.so", "--loads", "many"], "invalid int value: 'many'"),
    ],
)
def test_wrong_arguments(capsys, arguments, words):
    with pytest.raises(SystemExit) as caught:
        cli.main(arguments)
    assert caught.value.code == 2
    assert words in capsys.readouterr().err


def test_files_that_are_no_libraries(tmp_path, capsys):
    text = tmp_path / "libtext.so"
    text.write_text("text")
    for path, words in ((tmp_path / "no.so", "there is no file"), (tmp_path / "no", "no file")):
        assert cli.main([str(path)]) == 2
        assert words in capsys.readouterr().err
    assert cli.main([str(tmp_path)]) == 2
    assert "libtext.so" in capsys.readouterr().out
