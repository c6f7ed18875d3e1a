"""The buffers and the call graph of --report: what happens to a buffer and in which state, drawn as it flows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from opi_xform.report.lives import BufferLife, CallGraph, Moment

ROW = 34  # pixels from one moment to the next
WIDTH = 64  # pixels for the arrows beside them
MOST_ROWS = 80
MOST_FUNCTIONS = 90

WHAT = {
    "write": "written",
    "read": "read",
    "send": "sent",
    "recv": "received into",
    "alloc": "allocated",
    "free": "freed",
    "escape": "out of sight from here",
}
STATES = {
    "Start": "its life begins",
    "End": "nothing more until its life ends",
    "OpenPack": "sent later; some byte that is needed is not written in between",
    "ClosedPack": "sent later, and all of it is written before",
    "EorCP": "on some paths as End, on others as ClosedPack",
    "Empty": "the next thing is a receive that overwrites it",
    "Unpack": "used within what the receive before it brings",
    "Fail": "does not fit: neither pack, send, pack … nor receive, unpack, receive …",
}
HOLDS = {
    "None": "the pointer is NULL: the rank owns no buffer",
    "Held": "the rank owns a buffer",
    "Maybe": "on some paths it owns one, on others not; or some rows of it do",
}


@dataclass(frozen=True, slots=True)
class LifeRow:
    """A moment as it is shown; ``link``: the anchor of its line."""

    place: str
    link: str
    text: str
    function: str
    state: str
    holds: str
    fails: bool


def life_rows(life: BufferLife, shown: Callable[[str], str], anchor: Callable[[str, int], str]) -> list[LifeRow]:
    """The moments of a buffer in the order of the program's flow."""
    return [
        LifeRow(
            f"{shown(m.file)}:{m.line}", anchor(m.file, m.line), WHAT[m.what], m.function, _state(m), m.holds, m.fails
        )
        for m in life.moments[:MOST_ROWS]
    ]


def _state(m: Moment) -> str:
    """Both tables' states where they differ; Fail says nothing beside another that fits."""
    both = [s for s in dict.fromkeys((m.sender, m.receiver)) if s]
    return " / ".join(both)


def arrows(moments: Sequence[Moment]) -> str:
    """An SVG beside the rows: what may follow what; against the order of the rows dashed."""
    count = min(len(moments), MOST_ROWS)
    x = WIDTH - 12
    parts = []
    for i, m in enumerate(moments[:count]):
        y = i * ROW + ROW // 2
        for j in m.then:
            if j >= count:
                continue
            to = j * ROW + ROW // 2
            if j == i + 1:
                parts.append(f'<path d="M{x},{y + 5}V{to - 9}"/>')
            elif j == i:
                parts.append(
                    f'<path class="b" d="M{x - 5},{y + 3}C{x - 30},{y + 16} {x - 30},{y - 16} {x - 8},{y - 4}"/>'
                )
            else:
                reach = x - min(x - 2, 12 + 7 * abs(j - i))
                kind = ' class="b"' if j < i else ""
                parts.append(f'<path{kind} d="M{x - 5},{y}C{reach},{y} {reach},{to} {x - 8},{to}"/>')
    dots = "".join(
        f'<circle{" class=" + chr(34) + "f" + chr(34) if m.fails else ""} cx="{x}" cy="{i * ROW + ROW // 2}" r="4"/>'
        for i, m in enumerate(moments[:count])
    )
    return f'<svg class="flow" width="{WIDTH}" height="{count * ROW}" aria-hidden="true">{"".join(parts)}{dots}</svg>'


# --- who does what ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Role:
    """A function with what it does to which buffers: ``does``: (word, names); ``buffers``: their ids."""

    function: str
    does: tuple[tuple[str, tuple[str, ...]], ...]
    buffers: str


def roles(lives: Sequence[tuple[str, BufferLife]]) -> list[Role]:
    """Of every function that touches a buffer; ``lives``: each with its id."""
    found: dict[str, dict[str, list[str]]] = {}
    ids: dict[str, list[str]] = {}
    for key, life in lives:
        for function, words in life.roles.items():
            ids.setdefault(function, []).append(key)
            for word in words:
                found.setdefault(function, {}).setdefault(word, []).append(life.name)
    return [
        Role(f, tuple((w, tuple(dict.fromkeys(n))) for w, n in sorted(words.items())), " ".join(ids[f]))
        for f, words in sorted(found.items())
    ]


def call_svg(calls: CallGraph, known: Sequence[Role]) -> str:
    """The functions that touch buffers and those through which they are reached; '' when they are too many."""
    by_name = {role.function: role for role in known}
    wanted = _reaching(calls.calls, by_name)
    if not wanted or len(wanted) > MOST_FUNCTIONS:
        return ""
    depth = _depths(calls.calls, wanted)
    layers: dict[int, list[str]] = {}
    for name in sorted(wanted):
        layers.setdefault(depth[name], []).append(name)
    place: dict[str, tuple[int, int, int]] = {}  # left, top, width
    top = 8
    for level in sorted(layers):
        left, line = 8, top
        for name in layers[level]:
            words = ", ".join(word for word, _ in by_name[name].does) if name in by_name else ""
            width = max(len(name) * 8, len(words) * 7) + 20
            if left > 8 and left + width > 900:
                left, line = 8, line + 58
            place[name] = (left, line, width)
            left += width + 16
        top = line + 84
    right = max(x + w for x, _, w in place.values()) + 8
    lines, boxes = [], []
    for name in sorted(wanted):
        x, y, w = place[name]
        for callee in calls.calls.get(name, ()):
            if callee in place and callee != name:
                cx, cy, cw = place[callee]
                down = cy > y
                start, end = (y + 44, cy) if down else (y, cy + 44)
                lines.append(f'<path d="M{x + w // 2},{start}L{cx + cw // 2},{end}"/>')
        role = by_name.get(name)
        kind = f' class="fn" data-f="{role.buffers}"' if role else ' class="fn by"'
        words = ", ".join(word for word, _ in role.does) if role else ""
        tip = "; ".join(f"{word} {', '.join(names)}" for word, names in role.does) if role else "on the way"
        boxes.append(
            f"<g{kind}><title>{escape(name)}: {escape(tip)}</title>"
            f'<rect x="{x}" y="{y}" width="{w}" height="44" rx="6"/>'
            f'<text x="{x + w // 2}" y="{y + 19}">{escape(name)}</text>'
            f'<text class="r" x="{x + w // 2}" y="{y + 36}">{escape(words)}</text></g>'
        )
    return (
        f'<svg class="calls" width="{right}" height="{top - 24}" role="img" '
        f'aria-label="The calls between the functions below">{"".join(lines)}{"".join(boxes)}</svg>'
    )


def _reaching(calls: Mapping[str, Sequence[str]], by_name: Mapping[str, Role]) -> set[str]:
    """The functions with roles, and all from which they are called."""
    callers: dict[str, list[str]] = {}
    for name, callees in calls.items():
        for callee in callees:
            callers.setdefault(callee, []).append(name)
    found: set[str] = set()
    worklist = sorted(by_name)
    while worklist:
        name = worklist.pop()
        if name not in found:
            found.add(name)
            worklist += callers.get(name, [])
    return found


def _depths(calls: Mapping[str, Sequence[str]], wanted: set[str]) -> dict[str, int]:
    """How many calls each is away from the nearest function that nothing calls."""
    called = {callee for name in wanted for callee in calls.get(name, ()) if callee != name}
    level = sorted(wanted - called) or sorted(wanted)[:1]
    found: dict[str, int] = {}
    at = 0
    while level:
        found |= dict.fromkeys(level, at)
        level = sorted({c for n in level for c in calls.get(n, ()) if c in wanted and c not in found})
        at += 1
    return found | {name: at for name in wanted if name not in found}
