"""Quick ways are attached when a library has them and their operators, or it does not load."""

import shutil
from pathlib import Path

import pytest

import ffi
import ffi.cpp
import mx

# A call that is observed goes the way of all.
pytestmark = pytest.mark.unobserved

SOURCES = Path(__file__).resolve().parents[2] / "src"

# One library for all cases: it is told when it is loaded which it is to be, "case/order", begins
# the names of its operators so, and has the quick ways of the case registered first or last.
SOURCE = """
#include "api/quick/attach.h"

#include <cstdlib>
#include <cstring>
#include <string>

namespace mxnet {
namespace op {
namespace {

struct Table {
  int64_t number;
};
struct OtherTable {};

constexpr Table kSeven{7};
constexpr Table kEight{8};

const std::string& Asked() {
  static const std::string asked = std::getenv("MXNET_TEST_QUICK_WAYS");
  return asked;
}

std::string Name(const char* name) { return Asked() + name; }

/*! \\brief Of a number, which comes back; other calls are not quick. */
bool QuickNumber(const MXNetArgs& args, MXNetRetValue* ret) {
  if (args.type_codes[0] != kMXNetInt) return false;
  *ret = args[0];
  return true;
}

bool QuickOfTable(const Table& table, const MXNetArgs& args, MXNetRetValue* ret) {
  if (args.type_codes[0] != kMXNetInt) return false;
  *ret = table.number;
  return true;
}

bool QuickSeven(const Table&, const MXNetArgs& args, MXNetRetValue* ret) {
  return QuickOfTable(kSeven, args, ret);
}

bool QuickOfOther(const OtherTable&, const MXNetArgs&, MXNetRetValue*) { return false; }

constexpr QuickBody kNumber = internal::QuickBodyOf<&QuickNumber>();
constexpr QuickBody kOfTable = internal::QuickBodyOf<&QuickOfTable>();
constexpr QuickBody kSevenOfAll = internal::QuickBodyOf<&QuickSeven>();
constexpr QuickBody kOfOther = internal::QuickBodyOf<&QuickOfOther>();

bool AddWays(const char* order) {
  static const struct {
    const char* name;  // of the case
    const char* of;
    QuickBody body;
  } kWays[] = {
      {"by_name/", ".plain", kNumber},
      {"by_name/", ".seven", kOfTable},
      {"by_type/", nullptr, kOfTable},
      {"without_data/", nullptr, kNumber},
      {"name_before_type/", nullptr, kOfTable},
      {"name_before_type/", ".eight", kSevenOfAll},
      {"no_name/", ".nosuch", kNumber},
      {"no_operator/", ".function", kNumber},
      {"elsewhere/", "_npi.add", kNumber},
      {"twice/", ".plain", kNumber},
      {"twice/", ".plain", kNumber},
      {"other_data/", ".seven", kOfOther},
      {"no_data/", ".plain", kOfTable},
      {"data_of_none/", nullptr, kOfOther},
  };
  for (const auto& way : kWays) {
    if (Asked() != std::string(way.name) + order) continue;
    const bool is_own = way.of != nullptr && way.of[0] == '.';
    new QuickWay(is_own ? strdup(Name(way.of).c_str()) : way.of, way.body);
  }
  return true;
}

void Infer(const InferCall& call, const NoAttributes&) {
  SetSpec(kInt64, ShapeOf(call.in[0]), call.out);
}

void Run(const RunCall& call, const NoAttributes&) {
  *static_cast<int64_t*>(call.out[0].data) = -1;
}

[[maybe_unused]] const bool had_first = AddWays("first");

MXNET_REGISTER_OPERATOR(Name(".plain"), NoAttributes).input("x", "").infer(&Infer).run(&Run);
MXNET_REGISTER_OPERATOR(Name(".seven"), NoAttributes)
    .input("x", "").data(&kSeven).infer(&Infer).run(&Run);
MXNET_REGISTER_OPERATOR(Name(".eight"), NoAttributes)
    .input("x", "").data(&kEight).infer(&Infer).run(&Run);
MXNET_REGISTER_API(Name(".function")).set_body_typed([](int64_t x) { return x; });

[[maybe_unused]] const bool had_last = AddWays("last");

}  // namespace
}  // namespace op
}  // namespace mxnet
"""

ATTACHED = {
    # What quick calls of plain, seven and eight give; -1 where the operator itself is run.
    "none": (-1, -1, -1),
    "by_name": (5, 7, -1),
    "by_type": (-1, 7, 8),
    "without_data": (5, -1, -1),
    "name_before_type": (-1, 7, 7),
}
REJECTED = {
    "no_name": "NAME.nosuch', which is no operator",
    "no_operator": "NAME.function', which has one already or is no operator of the same library",
    "elsewhere": "_npi.add', which has one already or is no operator of the same library",
    "twice": "NAME.plain', which has one already",
    "other_data": "NAME.seven', whose data is of another type",
    "no_data": "NAME.plain', whose data is of another type",
    "data_of_none": "all operators whose data has a type that is the data of none",
}


@pytest.fixture(scope="module")
def built():
    sources = [SOURCE, SOURCES / "api" / "quick" / "attach.cc"]
    return ffi.cpp.build("quick_ways", sources, extra_include_paths=[SOURCES])


def load(built: Path, name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> ffi.Module:
    """The library as that case, which is another than those of other cases."""
    monkeypatch.setenv("MXNET_TEST_QUICK_WAYS", name)
    return ffi.load_library(shutil.copy(built, folder / "library.so"))


@pytest.mark.parametrize("order", ["first", "last"])
@pytest.mark.parametrize("case", ATTACHED)
def test_attached(built, tmp_path, monkeypatch, case, order):
    name = f"{case}/{order}"
    load(built, name, tmp_path, monkeypatch)
    for operator, result in zip(("plain", "seven", "eight"), ATTACHED[case], strict=True):
        function = ffi.get_global_func(f"{name}.{operator}")
        assert function(5) == result
        # What is not quick is done nevertheless, and checked as any call is.
        assert function(mx.np.array(5)).item() == -1
        with pytest.raises(TypeError, match=f"{name}.{operator}: .*'x'"):
            function()


@pytest.mark.parametrize("order", ["first", "last"])
@pytest.mark.parametrize("case", REJECTED)
def test_rejected(built, tmp_path, monkeypatch, case, order):
    name = f"{case}/{order}"
    with pytest.raises(ImportError, match=REJECTED[case].replace("NAME", name)):
        load(built, name, tmp_path, monkeypatch)
    assert ffi.get_global_func(f"{name}.plain", allow_missing=True) is None
