"""What the Cython and the ctypes path call of modules that are imported after them.

Each of those modules puts its function here when it is imported, which is before the first call.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# registry.get_global_func
find_function: Callable[[str], Any]
# registry.reduction: what a pickle holds of a function.
reduction: Callable[[Any], str | tuple[Any, ...]]
# enums.member: the member of an enum by its type index and value.
enum_member: Callable[[int, int], Any]
