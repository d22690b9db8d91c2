"""Sphinx configuration: `make docs` builds the pages of this folder into build/docs."""

import os
import sys
from pathlib import Path

from sphinx.application import Sphinx

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent / "python")]
# The portable path has signatures that Sphinx can read; names and behaviour are those of both.
os.environ.pop("MXNET_ENFORCE_CYTHON", None)
os.environ["MXNET_ENABLE_CYTHON"] = "0"

from docstrings import mark_code  # noqa: E402

import ffi  # noqa: E402

project = "mxffi"
version = release = ffi.__version__
copyright = "the mxffi authors"

extensions = ["myst_parser", "sphinx.ext.autodoc", "headers"]
exclude_patterns = ["_ext"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
# A single backquote in a docstring marks code.
default_role = "literal"
highlight_language = "text"

html_theme = "furo"
html_title = f"mxffi {release}"
html_copy_source = False
html_show_sphinx = False

autodoc_typehints = "none"
autodoc_member_order = "groupwise"

# Types of the C standard and of DLPack, whose documentation is elsewhere.
nitpick_ignore = [("c:identifier", name) for name in ("int32_t", "int64_t", "uint32_t", "uint64_t")]
nitpick_ignore += [("c:identifier", "size_t")]
nitpick_ignore_regex = [("c:identifier", r"DL\w+")]


def setup(app: Sphinx) -> None:
    app.connect("autodoc-process-docstring", mark_code)
