"""Which nodes become one model: the groups that a library's answers lead to.

A group is convex: no path leaves it and comes back, or its model would need a result of its own
before it has begun. Nor do groups wait for each other in a circle. Among nodes that may go
together as they like the groups are maximal, too: no two of them could be joined.

All of it takes time linear in the nodes and edges.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush

CPU = -1
ANY = 0


def find_groups(inputs: Sequence[Sequence[int]], answers: Sequence[int]) -> list[int]:
    """The number of the group of each node, from 0 on, or CPU.

    `inputs` has the nodes whose results each node uses, all of them before it. `answers` has CPU,
    ANY, or the number above 0 of the library's own group. Those of one number stay together where
    they can, and a node of ANY goes with a neighbor that has a number.
    """
    colors = _with_neighbors(inputs, answers)
    blocks = [color if color >= 0 else -2 - node for node, color in enumerate(colors)]
    stages = _stages(inputs, colors, _circles(inputs, blocks))
    groups: dict[tuple[int, int], int] = {}
    return [
        CPU if color == CPU else groups.setdefault((color, stage), len(groups))
        for color, stage in zip(colors, stages, strict=True)
    ]


def in_order(inputs: Sequence[Sequence[int]], groups: Sequence[int]) -> list[list[int]]:
    """The groups, and between them what the CPU executes, in an order in which they can run.

    Each item has nodes of one group, or of the CPU alone: as many of these at once as can be.
    """
    parts = [group if group >= 0 else -2 - node for node, group in enumerate(groups)]
    members: dict[int, list[int]] = {}
    for node, part in enumerate(parts):
        members.setdefault(part, []).append(node)
    users: dict[int, set[int]] = {part: set() for part in members}
    waiting = dict.fromkeys(members, 0)
    for node, used in enumerate(inputs):
        for source in used:
            if parts[source] != parts[node] and parts[node] not in users[parts[source]]:
                users[parts[source]].add(parts[node])
                waiting[parts[node]] += 1
    # What the CPU can do comes first, so that its nodes are in few pieces.
    ready = [(part >= 0, members[part][0], part) for part in members if not waiting[part]]
    heapify(ready)
    order: list[list[int]] = []
    last_on_cpu = False
    while ready:
        on_device, _, part = heappop(ready)
        if not on_device and last_on_cpu:
            order[-1] += members[part]
        else:
            order.append(list(members[part]))
        last_on_cpu = not on_device
        for user in users[part]:
            waiting[user] -= 1
            if not waiting[user]:
                heappush(ready, (user >= 0, members[user][0], user))
    return order


def _with_neighbors(inputs: Sequence[Sequence[int]], answers: Sequence[int]) -> list[int]:
    """The answers, where nodes of ANY have the number of a node before or behind them."""
    colors = list(answers)
    if all(color <= ANY for color in colors):
        return colors
    for node, used in enumerate(inputs):
        if colors[node] == ANY:
            colors[node] = max((colors[source] for source in used), default=ANY)
            colors[node] = max(colors[node], ANY)
    for node in reversed(range(len(colors))):
        for source in inputs[node]:
            if colors[source] == ANY and colors[node] > ANY:
                colors[source] = colors[node]
    return colors


def _circles(inputs: Sequence[Sequence[int]], blocks: Sequence[int]) -> list[int]:
    """For each node a number that is the same for blocks which wait for each other in a circle."""
    edges: dict[int, list[int]] = {block: [] for block in blocks}
    for node, used in enumerate(inputs):
        edges[blocks[node]] += (blocks[source] for source in used)
    # Strongly connected components, found without recursion.
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    component: dict[int, int] = {}
    path: list[int] = []
    for root in edges:
        if root in index:
            continue
        work: list[tuple[int, Iterator[int]]] = [(root, iter(edges[root]))]
        index[root] = low[root] = len(index)
        path.append(root)
        while work:
            block, following = work[-1]
            for other in following:
                if other not in index:
                    index[other] = low[other] = len(index)
                    path.append(other)
                    work.append((other, iter(edges[other])))
                    break
                if other not in component:
                    low[block] = min(low[block], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[block])
                if low[block] == index[block]:
                    while True:
                        other = path.pop()
                        component[other] = block
                        if other == block:
                            break
    numbers = {block: number for number, block in enumerate(dict.fromkeys(component.values()))}
    return [numbers[component[block]] for block in blocks]


def _stages(
    inputs: Sequence[Sequence[int]], colors: Sequence[int], circles: Sequence[int]
) -> list[int]:
    """How often a path to each node has come to another group, within its circle.

    From there on a group is another one, so that no path leaves it and comes back: a node of the
    CPU takes the number on, and what comes to a group from outside of it begins a new stage.
    """
    stages: list[int] = []
    for node, used in enumerate(inputs):
        on_cpu = colors[node] == CPU
        stage = -1 if on_cpu else 0
        for source in used:
            if circles[source] != circles[node]:
                continue
            is_same = colors[source] == colors[node]
            stage = max(stage, stages[source] + (0 if on_cpu or is_same else 1))
        stages.append(stage)
    return stages
