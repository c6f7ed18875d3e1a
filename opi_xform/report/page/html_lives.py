"""The buffers and the call graph of --report: what happens to a buffer and in which state, drawn as it flows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape

from opi_xform.dataflow.table import Table, shipped_table
from opi_xform.record import dataclass
from opi_xform.report.page.lives import BufferLife
from opi_xform.report.page.moments import Moment
from opi_xform.report.page.story import RECEIVE, SEND

ROW = 34  # pixels from one moment to the next
WIDTH = 64  # pixels for the arrows beside them
MOST_ROWS = 80
MOST_FUNCTIONS = 90
MOST_WIDTH = 900  # pixels, before a row of functions is broken

WHAT = {
    "write": "written",
    "read": "read",
    "send": "sent",
    "recv": "received into",
    "alloc": "allocated",
    "free": "freed",
    "escape": "out of sight from here",
}
ORDER = ("allocates", "packs", "writes", "sends", "receives", "unpacks", "reads", "frees")
SENT, RECEIVED, CARRIER = (shipped_table(name) for name in (SEND, RECEIVE, "carrier"))
MEANINGS = (
    ("Before a line, what the code from there on does to a buffer that is sent:", SENT.holds),
    ("And to one that is received into:", RECEIVED.holds),
    ("After a line of a buffer that converts, what the pointer holds in the transformed program:", CARRIER.holds),
)
"""What is said before the states of each table, and what each says; of several states, each is so on some way."""


@dataclass(frozen=True, slots=True)
class LifeRow:
    """A moment as it is shown; ``link``: the anchor of its line.  means: what state and holds say, in words."""

    place: str
    link: str
    text: str
    function: str
    state: str
    holds: str
    fails: bool
    means: tuple[str, str]


def life_rows(life: BufferLife, shown: Callable[[str], str], anchor: Callable[[str, int], str]) -> list[LifeRow]:
    """The moments of a buffer in the order of the program's flow."""
    return [
        LifeRow(
            f"{shown(m.file)}:{m.line}",
            anchor(m.file, m.line),
            WHAT[m.what],
            m.function,
            _state(m),
            written(CARRIER, m.holds),
            m.fails,
            (_meaning(m), " or ".join(CARRIER.holds[s] for s in CARRIER.names(m.holds))),
        )
        for m in life.moments[:MOST_ROWS]
    ]


def written(table: Table, states: int) -> str:
    """A set of states, for people."""
    return " or ".join(table.names(states))


def _state(m: Moment) -> str:
    """Both tables' states where they differ."""
    both = [s for s in dict.fromkeys((written(SENT, m.sender), written(RECEIVED, m.receiver))) if s]
    return " / ".join(both)


def _meaning(m: Moment) -> str:
    told = [(SENT, m.sender), (RECEIVED, m.receiver)]
    return "; ".join(" or ".join(t.holds[s] for s in t.names(states)) for t, states in told if states)


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
    """A function with what it does to which buffers itself, and through its calls.

    does, through: (word, (id and label of each buffer)); buffers: the ids of those to which it does something itself.
    """

    function: str
    does: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    through: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    buffers: str


_Words = dict[str, dict[str, dict[tuple[str, str], None]]]


def roles(lives: Sequence[tuple[str, str, BufferLife]]) -> list[Role]:
    """Of every function that does something to a buffer, or calls one that does; ``lives``: each with id and label."""
    own: _Words = {}
    through: _Words = {}
    for key, label, life in lives:
        for found, told in ((own, life.roles), (through, life.through)):
            for function, words in told.items():
                for word in words:
                    found.setdefault(function, {}).setdefault(word, {})[key, label] = None
    return [
        Role(f, _sorted(own.get(f, {})), _sorted(through.get(f, {})), " ".join(_ids(own.get(f, {}))))
        for f in sorted({*own, *through})
    ]


def _sorted(words: Mapping[str, Mapping[tuple[str, str], None]]) -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
    return tuple((word, tuple(words[word])) for word in ORDER if word in words)


def _ids(words: Mapping[str, Mapping[tuple[str, str], None]]) -> list[str]:
    return list(dict.fromkeys(key for named in words.values() for key, _ in named))


def call_svg(lives: Sequence[BufferLife], known: Sequence[Role]) -> str:
    """The functions that do something to buffers, and those through whose calls that is reached; '' when too many."""
    by_name = {role.function: role for role in known if role.does}
    pairs = sorted({pair for life in lives for pair in life.calls})
    wanted = {*by_name, *(name for pair in pairs for name in pair)}
    if not pairs or len(wanted) > MOST_FUNCTIONS:
        return ""
    calls: dict[str, list[str]] = {}
    for caller, called in pairs:
        calls.setdefault(caller, []).append(called)
    depth = _depths(calls, wanted)
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
            if left > 8 and left + width > MOST_WIDTH:
                left, line = 8, line + 58
            place[name] = (left, line, width)
            left += width + 16
        top = line + 84
    right = max(x + w for x, _, w in place.values()) + 8
    lines, boxes = [], []
    for name in sorted(wanted):
        x, y, w = place[name]
        for callee in calls.get(name, ()):
            if callee != name:
                lines.append(_call(place[name], place[callee]))
        role = by_name.get(name)
        kind = f' class="fn" data-f="{role.buffers}"' if role else ' class="fn by"'
        words = ", ".join(word for word, _ in role.does) if role else ""
        tip = (
            "; ".join(f"{word} {', '.join(label for _, label in named)}" for word, named in role.does)
            if role
            else "on the way"
        )
        boxes.append(
            f"<g{kind}><title>{escape(name)}: {escape(tip)}</title>"
            f'<rect x="{x}" y="{y}" width="{w}" height="44" rx="6"/>'
            f'<text x="{x + w // 2}" y="{y + (19 if words else 27)}">{escape(name)}</text>'
            f'<text class="r" x="{x + w // 2}" y="{y + 36}">{escape(words)}</text></g>'
        )
    return (
        f'<svg class="calls" width="{right}" height="{top - 32}" role="img" '
        f'aria-label="The calls between the functions below">{"".join(lines)}{"".join(boxes)}</svg>'
    )


def _call(caller: tuple[int, int, int], callee: tuple[int, int, int]) -> str:
    """An arrow from box to box (left, top, width): down; beside or back up (recursion) in a bow."""
    (x, y, w), (cx, cy, cw) = caller, callee
    if cy > y:
        return f'<path d="M{x + w // 2},{y + 44}L{cx + cw // 2},{cy - 1}"/>'
    start, end = x + w // 2 + 12, cx + cw // 2 + 12
    return f'<path class="b" d="M{start},{y + 44}C{start},{y + 64} {end},{y + 64} {end},{cy + 45}"/>'


def _depths(calls: Mapping[str, Sequence[str]], wanted: set[str]) -> dict[str, int]:
    """How many calls lead to each at the most, those that go back (recursion) left out: callers stand above."""
    nexts = {n: [c for c in calls.get(n, ()) if c != n] for n in sorted(wanted)}
    called = {c for found in nexts.values() for c in found}
    done: list[str] = []
    state: dict[str, int] = {}  # 1: on the way, 2: done
    forward: dict[str, list[str]] = {n: [] for n in nexts}
    for root in [*(n for n in nexts if n not in called), *nexts]:
        if root in state:
            continue
        state[root] = 1
        stack = [(root, iter(nexts[root]))]
        while stack:
            at, rest = stack[-1]
            callee = next(rest, None)
            if callee is None:
                stack.pop()
                state[at] = 2
                done.append(at)
            elif state.get(callee) != 1:
                forward[at].append(callee)
                if callee not in state:
                    state[callee] = 1
                    stack.append((callee, iter(nexts[callee])))
    found = dict.fromkeys(nexts, 0)
    for name in reversed(done):
        for callee in forward[name]:
            found[callee] = max(found[callee], found[name] + 1)
    return found
