"""The tables of analyses/automata as state diagrams: ``python -m opi_xform.report.diagram DIR`` writes one SVG each.

What leads to the bottom state (Fail) is not drawn, nor is the top state, which no path has reached yet.
"""

from __future__ import annotations

import math
import sys
from html import escape
from pathlib import Path

from opi_xform.dataflow.automaton import Automaton, shipped_automata

WIDTH, HEIGHT = 860, 560
_CENTER = (WIDTH / 2, HEIGHT / 2 + 14)
_RADII = (300, 185)
_BOX = (104, 40)
_LINE = 15
_STYLE = """
text { font: 13px system-ui, sans-serif; text-anchor: middle; fill: #1c2128; }
text.e { font-size: 12px; fill: #57606a; paint-order: stroke; stroke: #fff; stroke-width: 5px; stroke-linejoin: round; }
tspan.a { font-style: italic; }
rect { fill: #ddf4ff; stroke: #0969da; } rect.s { stroke-width: 3; }
path { fill: none; stroke: #57606a; } marker path { fill: #57606a; stroke: none; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; } text.e { fill: #9198a1; stroke: #0d1117; } svg { background: #0d1117; }
rect { fill: #121d2f; stroke: #4493f8; } path { stroke: #9198a1; } marker path { fill: #9198a1; } }
"""

Point = tuple[float, float]


def svg(table: Automaton) -> str:
    """One diagram.  The state at the boundary has the thicker frame; actions of a transition are in italics."""
    states = table.states[1:-1]
    place = {state: _place(i, len(states)) for i, state in enumerate(states)}
    edges: dict[tuple[str, str], list[str]] = {}
    for state in states:
        for event in table.events:
            step = table.step(state, event)
            if step.to in place:
                actions = f'<tspan class="a"> / {escape(", ".join(step.actions))}</tspan>' if step.actions else ""
                edges.setdefault((state, step.to), []).append(escape(event) + actions)
    lines, labels = [], []
    for (source, target), events in sorted(edges.items()):
        made = _loop(place[source], len(events)) if source == target else _curve(place[source], place[target])
        lines.append(f'<path d="{made[0]}" marker-end="url(#h)"/>')
        labels.append(_label(made[1], events, made[2]))
    boxes = []
    for state in states:
        x, y = place[state]
        w, h = _BOX
        kind = ' class="s"' if state == table.start else ""
        boxes.append(f'<rect{kind} x="{x - w / 2:.0f}" y="{y - h / 2:.0f}" width="{w}" height="{h}" rx="8"/>')
        boxes.append(f'<text x="{x:.0f}" y="{y + 5:.0f}">{escape(state)}</text>')
    flow = "with" if table.direction == "forward" else "against"
    title = f"{table.name}, read {flow} the flow of control"
    head = (
        '<defs><marker id="h" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0,0L8,4L0,8z"/></marker></defs>'
    )
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    body = "\n".join([*lines, *boxes, *labels])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">\n<title>{escape(title)}</title>\n'
        f'<style>{_STYLE}</style>\n{head}\n{body}\n<text x="{WIDTH / 2:.0f}" y="20">{escape(title)}</text>\n</svg>\n'
    )


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


def _label(at: Point, events: list[str], anchor: str) -> str:
    top = at[1] - _LINE * (len(events) - 1) / 2 + 4
    rows = "".join(
        f'<tspan x="{at[0]:.0f}" y="{top + i * _LINE:.0f}">{event}</tspan>' for i, event in enumerate(events)
    )
    return f'<text class="e" style="text-anchor:{anchor}">{rows}</text>'


def main(arguments: list[str]) -> int:
    """Writes NAME.svg for every shipped table into a directory."""
    if len(arguments) != 1:
        print("usage: python -m opi_xform.report.diagram DIR", file=sys.stderr)
        return 2
    for name, table in shipped_automata().items():
        Path(arguments[0], f"{name}.svg").write_text(svg(table), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
