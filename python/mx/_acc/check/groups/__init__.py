"""The groups of checks, in the order in which they run."""

from . import (
    configure,
    contract,
    copies,
    devices,
    errors,
    load,
    memory,
    names,
    operators,
    reload,
    streams,
    threads,
    versions,
)

# What must succeed before anything else is tried.
LOADING = load.group

GROUPS = (
    load.group,
    contract.group,
    versions.group,
    names.group,
    devices.group,
    memory.group,
    copies.group,
    streams.group,
    operators.group,
    errors.group,
    threads.group,
    configure.group,
    reload.group,
)
