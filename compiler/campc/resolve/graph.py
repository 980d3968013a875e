"""Graphs of names: cycles, and what comes before what. Nothing here recurses, however long a chain is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

MOST_SHOWN = 24


def circle(path: list[str]) -> str:
    """A cycle in words: ``a → b → a``; a very long one is cut in the middle."""
    names = [*path, path[0]]
    if len(names) > MOST_SHOWN:
        half = MOST_SHOWN // 2
        names = [*names[:half], f"… {len(names) - 2 * half} more …", *names[-half:]]
    return " → ".join(names)


def all_backwards(edges: Mapping[str, Iterable[str]]) -> bool:
    """Whether every edge goes to a name that comes before it, or to none of them: then there is no cycle."""
    before: set[str] = set()
    for name, targets in edges.items():
        for target in targets:
            if target not in before and target in edges:
                return False
        before.add(name)
    return True


def cycles(edges: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """The cycles of a graph, each once, as its members in order from the one that comes first in ``edges``; every member is in one of them."""
    order = {name: index for index, name in enumerate(edges)}
    state: dict[str, int] = {}
    found: list[list[str]] = []
    for root in edges:
        if root in state:
            continue
        path: list[str] = []
        stack: list[tuple[str, list[str]]] = [(root, [n for n in edges[root] if n in order])]
        state[root] = 1
        path.append(root)
        while stack:
            name, rest = stack[-1]
            if rest:
                following = rest.pop(0)
                if following not in state:
                    state[following] = 1
                    path.append(following)
                    stack.append((following, [n for n in edges[following] if n in order]))
                elif state[following] == 1:
                    members = path[path.index(following) :]
                    turn = members.index(min(members, key=order.__getitem__))
                    found.append([*members[turn:], *members[:turn]])
            else:
                stack.pop()
                path.pop()
                state[name] = 2
    return found


def parents_first(names: Iterable[str], parent: Mapping[str, str | None]) -> list[str]:
    """Names in such an order that each one's parent comes before it; there must be no cycle."""
    found: dict[str, None] = {}
    for name in names:
        path = []
        at: str | None = name
        while at is not None and at in parent and at not in found:
            path.append(at)
            at = parent[at]
        found.update(dict.fromkeys(reversed(path)))
    return list(found)
