"""The automata that run, as state diagrams: ``python -m opi_xform.report.diagram DIR`` writes one SVG each.

What leads to one state from any other is an arrow of its own into that state.  Where nothing changes nothing is drawn.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterator
from html import escape
from pathlib import Path

from opi_xform.dataflow.table import Table, shipped_tables

WIDTH = 1000
_HEIGHT = 660  # where states are in a circle
_CENTER = (WIDTH / 2, _HEIGHT / 2 + 44)
_RADII = (300, 165)
_BOX = (112, 40)
_LINE = 15
_STUB = 34
UNDRAWN = frozenset({"lost-memory"})
"""Too many ways lead from each of its states to others for a picture: docs/book/automata.md has it as a table."""
_STYLE = """
text { font: 13px system-ui, sans-serif; text-anchor: middle; fill: #1c2128; }
text.e { font-size: 12px; fill: #57606a; paint-order: stroke; stroke: #fff; stroke-width: 5px; stroke-linejoin: round; }
rect { fill: #ddf4ff; stroke: #0969da; } rect.s { stroke-width: 3; } rect.n { stroke-dasharray: 6 4; }
path { fill: none; stroke: #57606a; } marker path { fill: #57606a; stroke: none; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; } text.e { fill: #9198a1; stroke: #0d1117; } svg { background: #0d1117; }
rect { fill: #121d2f; stroke: #4493f8; } path { stroke: #9198a1; } marker path { fill: #9198a1; } }
"""

Point = tuple[float, float]


def svg(table: Table) -> str:
    """One diagram.  The state at the boundary has the thicker frame, one that a pattern does not allow a broken one.

    In a circle, or in a row where every event leads to one state whatever was there.
    """
    edges, stubs, nothing = _drawn(table)
    deepest = max(len(rows) for rows in stubs.values())
    height = _HEIGHT if edges else 160 + _LINE * deepest
    middle = _CENTER[1] if edges else float(height)
    place = {}
    for i, state in enumerate(table.states):
        column = WIDTH * (i + 0.5) / len(table.states)
        place[state] = _place(i, len(table.states)) if edges else (column, height - 58.0)
    lines, labels = [], []
    for (source, target), events in sorted(edges.items()):
        made = _loop(place[source], len(events)) if source == target else _curve(place[source], place[target])
        lines.append(f'<path d="{made[0]}" marker-end="url(#h)"/>')
        labels.append(_label(made[1], events, made[2]))
    for state, rows in stubs.items():
        made = _stub(place[state], len(rows), middle, (state, state) in edges)
        lines.append(f'<path d="{made[0]}" marker-end="url(#h)"/>')
        labels.append(_label(made[1], rows, made[2]))
    boxes = []
    for state, (x, y) in place.items():
        w, h = _BOX
        kind = ' class="s"' if table.states[state] == table.start else ""
        if table.allows and not table.states[state] & table.allows:
            kind = ' class="n"'
        boxes.append(f'<rect{kind} x="{x - w / 2:.0f}" y="{y - h / 2:.0f}" width="{w}" height="{h}" rx="8"/>')
        boxes.append(f'<text x="{x:.0f}" y="{y + 5:.0f}">{escape(state)}</text>')
    if nothing:
        labels.append(_label((WIDTH / 2, height - 16), [f"{', '.join(nothing)}: the state stays"], "middle"))
    flow = "with" if table.direction == "forward" else "against"
    title = f"{table.name}, read {flow} the flow of control"
    head = (
        '<defs><marker id="h" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0,0L8,4L0,8z"/></marker></defs>'
    )
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    body = "\n".join([*lines, *boxes, *labels])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">\n<title>{escape(title)}</title>\n'
        f'<style>{_STYLE}</style>\n{head}\n{body}\n<text x="{WIDTH / 2:.0f}" y="20">{escape(title)}</text>\n</svg>\n'
    )


def _drawn(table: Table) -> tuple[dict[tuple[str, str], list[str]], dict[str, list[str]], list[str]]:
    """The events from state to state; by state those that lead there from any other; and those that change nothing."""
    edges: dict[tuple[str, str], list[str]] = {}
    stubs: dict[str, list[str]] = {}
    nothing = []
    for event in table.events:
        after = {state: table.step(state, event) for state in table.states}
        stay = [state for state in after if after[state] == (state,)]
        if len(stay) == len(after):
            nothing.append(event)
            continue
        most, many = Counter(after.values()).most_common(1)[0]
        common = most if many > len(stay) else ()
        others = [state for state in after if after[state] != common]
        but = f", but from {', '.join(others)}" if others else ""
        for target in common:
            stubs.setdefault(target, []).append(event + (" (may be)" if len(common) > 1 else "") + but)
        for state in others:
            for target in after[state]:
                if after[state] != (state,):
                    edges.setdefault((state, target), []).append(event)
    return edges, stubs, nothing


def _place(index: int, count: int) -> Point:
    angle = 2 * math.pi * index / count - math.pi / 2 - (math.pi / count if count % 2 == 0 else 0)
    return _CENTER[0] + _RADII[0] * math.cos(angle), _CENTER[1] + _RADII[1] * math.sin(angle)


def _curve(a: Point, b: Point) -> tuple[str, Point, str]:
    """A bow from one box to another, to the right of its direction; where its label goes, and how that is anchored."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    length = math.hypot(dx, dy)
    bow = 42
    middle = ((a[0] + b[0]) / 2 - dy / length * bow, (a[1] + b[1]) / 2 + dx / length * bow)
    start, end = _border(a, middle), _border(b, middle)
    label = (
        0.25 * start[0] + 0.5 * middle[0] + 0.25 * end[0],
        0.25 * start[1] + 0.5 * middle[1] + 0.25 * end[1],
    )
    path = f"M{start[0]:.0f},{start[1]:.0f}Q{middle[0]:.0f},{middle[1]:.0f} {end[0]:.0f},{end[1]:.0f}"
    across = -dy / length
    if abs(across) < 0.6:
        return path, label, "middle"
    return path, (label[0] + math.copysign(4, across), label[1]), "start" if across > 0 else "end"


def _border(box: Point, towards: Point) -> Point:
    """Where the line from a box's middle leaves it."""
    dx, dy = towards[0] - box[0], towards[1] - box[1]
    scale = min(
        (_BOX[0] / 2 + 3) / abs(dx) if dx else math.inf, (_BOX[1] / 2 + 3) / abs(dy) if dy else math.inf
    )  # of the two sides, the nearer
    return box[0] + dx * scale, box[1] + dy * scale


def _loop(box: Point, events: int) -> tuple[str, Point, str]:
    """A loop on the side that looks outward, with its label beyond it."""
    up = -1 if box[1] < _CENTER[1] else 1
    x, y = box[0], box[1] + up * _BOX[1] / 2
    far = y + up * 44
    path = f"M{x - 22:.0f},{y:.0f}C{x - 40:.0f},{far:.0f} {x + 40:.0f},{far:.0f} {x + 22:.0f},{y + up * 3:.0f}"
    return path, (x, far + up * _LINE * (events - 1) / 2), "middle"


def _stub(box: Point, rows: int, middle: float, beside: bool) -> tuple[str, Point, str]:
    """An arrow into a box from outside, with its label beyond it.  beside: there is a loop (``_loop``), too."""
    up = -1 if box[1] < middle else 1
    x, y = box[0] - _BOX[0] * (0.4 if beside else 0.25), box[1] + up * (_BOX[1] / 2 + 3)
    far = y + up * _STUB
    label = (x, far + up * (_LINE * (rows - 1) / 2 + 12))
    return f"M{x:.0f},{far:.0f}V{y:.0f}", label, "end" if beside else "middle"


def _label(at: Point, events: list[str], anchor: str) -> str:
    top = at[1] - _LINE * (len(events) - 1) / 2 + 4
    rows = "".join(
        f'<tspan x="{at[0]:.0f}" y="{top + i * _LINE:.0f}">{escape(event)}</tspan>' for i, event in enumerate(events)
    )
    return f'<text class="e" style="text-anchor:{anchor}">{rows}</text>'


def drawn_tables() -> Iterator[Table]:
    return (table for table in shipped_tables() if table.name not in UNDRAWN)


def main(arguments: list[str]) -> int:
    """Writes NAME.svg for every table that is drawn into a directory."""
    if len(arguments) != 1:
        print("usage: python -m opi_xform.report.diagram DIR", file=sys.stderr)
        return 2
    for table in drawn_tables():
        Path(arguments[0], f"{table.name}.svg").write_text(svg(table), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
