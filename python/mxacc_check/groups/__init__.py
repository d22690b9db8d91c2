"""The groups of checks, in the order in which they run."""

from . import (
    configure,
    contract,
    copies,
    devices,
    errors,
    failures,
    graphs,
    leaks,
    load,
    memory,
    models,
    names,
    operators,
    queues,
    reload,
    streams,
    threads,
    versions,
)
from . import pieces as pieces  # its checks are of the group of graphs
from . import profiles as profiles  # and so are its
from . import updates as updates  # and those of this

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
    queues.group,
    failures.group,
    operators.group,
    errors.group,
    threads.group,
    leaks.group,
    configure.group,
    models.group,
    graphs.group,
    reload.group,
)
