"""mxacc-check finds what is wrong with a library, and nothing where nothing is."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from ffi import elf
from mxacc_check import cases, cli
from mxacc_check.groups import GROUPS
from mxacc_check.runner import Runner
from mxacc_check.suite import Group, Options

from .conftest import FILES, ROOT, need
from .planted.plants import PLANTS
from .planted.template import (
    BFLOAT16,
    BUGS,
    COPY,
    FILLS_UP,
    INCLUDES,
    NOT_STARTED,
    THOROUGH_BUGS,
    WITH_STREAMS,
)

TEMPLATE = ROOT / "accelerators" / "template" / "myacc.c"
PLANTED = Path(__file__).with_name("planted")
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
        ("load", "copies", "streams"),
    ),
    # Without pages that are guarded, which the system makes one by one for all threads.
    "refacc, one thread": (
        *("refacc", {"STREAMS": "1", "THREADS": "one", "STRIDES": "0"}),
        ("load", "threads"),
    ),
    "onednn": ("onednn", {}, ALL),
    "opencl": ("opencl", {}, tuple(name for name in ALL if name != "operators")),
    "openvino": ("openvino", {}, ("load", "contract", "graphs")),
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
    # Those on devices once for each.
    assert list(dict.fromkeys(group["name"] for group in report["groups"])) == list(names)
    assert len(capsys.readouterr().out.splitlines()) < 120


def test_a_library_of_models_conforms(accelerators):
    report = check(accelerators / "libmymodel.so", "--quick", "--only=graphs", "--only=contract")
    assert (report["status"], findings(report), broken(report)) == (0, {}, [])


# ---- a library with one of many faults ----


@pytest.fixture(scope="session")
def planted(tmp_path_factory) -> Path:
    """The library of tests/acc/planted, which has the fault that MXACC_PLANTED names."""
    folder = tmp_path_factory.mktemp("planted")
    subprocess.run(["make", "--silent", "-j2", "-C", PLANTED, f"OUT={folder}"], check=True)
    return folder / "libplanted.so"


def test_conforms_without_a_fault(planted):
    report = check(planted, "--quick")
    assert (report["status"], findings(report), broken(report)) == (0, {}, [])
    tried = {(group["name"], group["device"]) for group in report["groups"]}
    assert {("operators", None), ("operators", 1), ("queues", 1)} <= tried
    matrix = report["operators"]
    ran = {name for name, row in matrix.items() if any(one["ran"] for one in row.values())}
    assert ran >= {"add", "copy", "dot", "less", "matmul", "sum", "take", "tensordot"}
    assert matrix["cumsum"]["float32"]["ran"] == 0
    results = [result for group in report["groups"] for result in group["results"]]
    skipped = [result["id"] for result in results if result["status"] == "skipped"]
    graphs = {result["id"] for result in results if result["id"].startswith("graphs.")}
    of_models = {"leaks.models", "models.options", "models.key"}
    assert set(skipped) == {"memory.visible"} | of_models | graphs


@pytest.mark.parametrize(("fault", "name", "words"), [(key, *PLANTS[key]) for key in PLANTS])
def test_finds_a_fault(planted, monkeypatch, fault, name, words):
    monkeypatch.setenv("MXACC_PLANTED", fault)
    options = ["--device", "1" if fault == "device 1" else "0"]
    # What threads do to each other takes its time to show.
    options += [] if name.startswith("threads") else ["--quick"]
    finds(planted, name, words, *options)


def test_each_fault_is_there():
    """A name that no source has would be that of a library without a fault."""
    text = "".join(source.read_text() for source in PLANTED.glob("*.cc"))
    assert set(re.findall(r'Has\("([^"]+)"\)', text)) == set(PLANTS)


# ---- libraries with one bug each ----


@pytest.mark.parametrize(("changes", "name", "words"), BUGS.values(), ids=BUGS)
def test_finds(build, changes, name, words):
    finds(build(*changes), name, words, "--quick")


@pytest.mark.parametrize(("changes", "name", "words"), THOROUGH_BUGS.values(), ids=THOROUGH_BUGS)
def test_finds_if_it_takes_its_time(build, changes, name, words):
    assert not findings(check(build(*changes), "--quick", "--only", name))
    finds(build(*changes), name, words)


def finds(library: Path, name: str, words: str, *options: str) -> None:
    """Runs the check of that name, which says those words, and no other does."""
    only = name.removesuffix(".end")
    only = "names" if only == "load.initialize" else only
    # Not for those that do not hang: on a busy machine much takes that long.
    timeout = ("--timeout", "2") if "no answer" in words else ()
    report = check(library, *options, "--only", only, *timeout)
    found = findings(report)
    assert (report["status"], report["verdict"]) == (1, "not conforming")
    assert name in found and not broken(report)
    assert words in json.dumps(found[name], ensure_ascii=False)


def test_bfloat16_that_is_right(build):
    report = check(build(*BFLOAT16), "--only", "operators.unary")
    assert (report["status"], findings(report), broken(report)) == (0, {}, [])
    negative = report["operators"]["negative"]
    assert negative["int32"]["tried"] > 0 and negative["int32"]["ran"] == 0
    assert negative["bfloat16"]["ran"] > 0 and negative["bfloat16"]["wrong"] == 0


def test_does_without_bfloat16(build, tmp_path, monkeypatch):
    (tmp_path / "ml_dtypes.py").write_text("raise ImportError('not installed')\n")
    monkeypatch.syspath_prepend(tmp_path)
    (wrong, *_) = THOROUGH_BUGS.values()
    report = check(build(*wrong[0]), "--only", "operators.unary")
    assert (report["status"], findings(report), broken(report)) == (0, {}, [])
    (unary,) = [one for one in report["groups"] if one["name"] == "operators"]
    (note,) = [note for one in unary["results"] for note in one["notes"]]
    assert "bfloat16 is not tried" in note and "ml_dtypes" in note


def test_memory_that_only_the_first_loads_leave(build):
    report = check(build(*FILLS_UP), "--quick", "--only", "reload")
    assert (report["status"], findings(report), broken(report)) == (0, {}, [])


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


# What ends the process of a check, and the signal that is told; the second ends that which it was
# forked from, and waits for its own end.
CRASHES = (("abort();", "SIGABRT"), ("kill(getppid(), SIGKILL); sleep(10);", "SIGKILL"))


@pytest.mark.parametrize(("crash", "name"), CRASHES, ids=[name for _, name in CRASHES])
def test_goes_on_after_a_crash(build, crash, name):
    """Later checks of a group run in another process, and later groups, too."""
    first, headers = INCLUDES
    headers += "#include <signal.h>\n#include <stdlib.h>\n#include <unistd.h>\n"
    library = build((first, headers), (COPY, f"if (bytes == 8388609) {{ {crash} }} {COPY}"))
    report = check(library, "--only", "copies", "--only", "names.name")
    assert list(findings(report)) == ["copies.large"]
    ran = {result["id"] for group in report["groups"] for result in group["results"]}
    assert ran == {one.id for one in CHECKS if one.id.startswith(("load", "copies", "names.name"))}
    (finding,) = findings(report)["copies.large"]
    assert name in finding["got"] and "copyToAcc" in finding["expected"]


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
    "work@60=bad_index": "failures.told",
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
BRAIN = ONES.astype(ml_dtypes.bfloat16)
TERMS = np.array([1000, -1000, 1, -1], "float32")
# A case, what came, what was expected, and whether it is as good.
RESULTS = [
    (cases.Case("negative", "", (ONES,)), ONES * 1.000009, ONES, True),
    (cases.Case("negative", "", (ONES,)), ONES * 1.00003, ONES, False),
    (cases.Case("negative", "", (ONES,)), ONES * np.nan, ONES * np.nan, True),
    (cases.Case("negative", "", (ONES,)), ONES * np.inf, -ONES * np.inf, False),
    (cases.Case("negative", "", (ONES,)), ONES, ONES * np.nan, False),
    (cases.Case("negative", "", (ONES,)), ONES.astype(int) + 1, ONES.astype(int), False),
    (cases.Case("negative", "", (BRAIN,)), BRAIN * BRAIN.dtype.type(1.03), BRAIN, True),
    (cases.Case("negative", "", (BRAIN,)), BRAIN * BRAIN.dtype.type(1.1), BRAIN, False),
    (cases.Case("negative", "", (BRAIN,)), BRAIN * np.nan, BRAIN, False),
    (cases.Case("sum", "", (BRAIN,), is_sum=True), BRAIN[0] * 4.1, BRAIN[0] * 4, True),
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
    imports = f"import sys; sys.path[:] = {sys.path!r}; from mxacc_check import cli"
    options = [library.name, "--only", "contract", "-v", "--html", page]
    done = subprocess.run(
        [sys.executable, "-c", f"{imports}; sys.exit(cli.main())", *options],
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
    command = [sys.executable, "-m", "mxacc_check", library, "--only", "copies.large"]
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


def test_who_reads_the_list_may_stop():
    command = [sys.executable, "-m", "mxacc_check", "--list"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "required: LIBRARY"),
        (["x.so", "--only", "copies", "--only", "nothing"], "there is no group or check nothing"),
        (["x.so", "--timeout", "0"], "0 is not above 0"),
        (["x.so", "--loads", "many"], "invalid int value: 'many'"),
        (["x.so", "--seed", "-1"], "-1 is no number of at least 0"),
        (["x.so", "--seed", "1.5"], "1.5 is no number of at least 0"),
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
