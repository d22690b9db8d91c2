"""Whether nobody but this user and root can put code into a library."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator


def distrust(path: str) -> str | None:
    """Why others could have written the library, or could replace it; None where they cannot.

    Looks at the file, at every folder above it and at every symbolic link on the way. OSError where
    it is not there.
    """
    for path_so_far in _on_the_way(path):
        status = os.lstat(path_so_far)
        if status.st_uid not in (0, os.geteuid()):
            return f"{path_so_far} belongs to {_user_name(status.st_uid)}"
        if stat.S_ISLNK(status.st_mode):
            continue
        # In a sticky folder, such as /tmp, only the owner replaces a file.
        if stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX:
            continue
        if status.st_mode & stat.S_IWOTH:
            return f"everybody may write to {path_so_far}"
        if status.st_mode & stat.S_IWGRP and not _is_own_group(status.st_gid, status.st_uid):
            return f"the group {_group_name(status.st_gid)} may write to {path_so_far}"
    return None


def _on_the_way(path: str) -> Iterator[str]:
    """Every file, folder and link that decides what the path leads to."""
    rest = [part for part in os.path.abspath(path).split(os.sep) if part][::-1]
    path_so_far, links = os.sep, 0
    yield path_so_far
    while rest:
        part = rest.pop()
        if part == os.pardir:
            path_so_far = os.path.dirname(path_so_far)
            continue
        step = os.path.join(path_so_far, part)
        yield step
        if not os.path.islink(step):
            path_so_far = step
            continue
        links += 1
        if links > 40:
            raise OSError(f"too many symbolic links on the way to {path}")
        target = os.readlink(step)
        if os.path.isabs(target):
            path_so_far = os.sep
        rest += [part for part in target.split(os.sep) if part not in ("", os.curdir)][::-1]


def _is_own_group(gid: int, uid: int) -> bool:
    """Whether the group is root's, or has the user's name and no other member."""
    if gid == 0:
        return True
    import grp
    import pwd

    try:
        group, user = grp.getgrgid(gid), pwd.getpwuid(uid)
    except KeyError:
        return False
    return group.gr_name == user.pw_name and set(group.gr_mem) <= {user.pw_name}


def _user_name(uid: int) -> str:
    import pwd

    try:
        return f"the user {pwd.getpwuid(uid).pw_name}"
    except KeyError:
        return f"the user with the number {uid}"


def _group_name(gid: int) -> str:
    import grp

    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return f"with the number {gid}"
