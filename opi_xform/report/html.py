"""--report: one HTML file that shows sites, buffers and edits in the sources.  It needs nothing else, nor a network.

What moves is in the page's own script; without scripts everything is still there to read and to follow.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opi_xform.ownership.plan import Decision, Plan
from opi_xform.report.codes import CODES
from opi_xform.report.globals import GlobalDecision
from opi_xform.report.html_lives import HOLDS, MOST_ROWS, STATES, LifeRow, arrows, call_svg, life_rows, roles
from opi_xform.report.html_run import run_view, size
from opi_xform.report.json import SIDES, summary
from opi_xform.report.lives import BufferLife, CallGraph
from opi_xform.report.profile import Run
from opi_xform.report.sidebyside import lines_of, lines_of_run, side_by_side
from opi_xform.report.text import ASSUMPTIONS

WHOLE_LINES = 6000
"""Up to so many lines all files are shown whole; of more, what is near an edit, a site or a step of a path."""
NEAR = 8
LARGEST = 2_500_000
"""Bytes that a page may have; of one that would be larger less and less is shown."""
_TEMPLATE = Path(__file__).with_name("report.html.j2")
_INSERTED = re.compile(r"\b(OPI_Alloc|OPI_Free)\s*\(([^,;]*)")
_ZEROS = re.compile(r"([^=;,({]*)=\s*(?:\([^()]*\)\s*)?(OPI_Calloc)\s*\(")
_NAME = re.compile(r"[A-Za-z_]\w*")
_EFFECT = {
    "OPI_Alloc": "the rank holds a buffer from here",
    "OPI_Calloc": "the rank holds a buffer of zeros from here",
    "OPI_Free": "the buffer is handed back; the rank holds none",
    "send": "given away; the rank holds none",
    "recv": "taken; the rank holds the buffer that came",
    "keep": "stays: the message is copied, the rank keeps the buffer",
}


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a path or of a buffer's life; ``link`` is the line's anchor in the page ('' when not shown)."""

    place: str
    link: str
    text: str
    what: str = ""


@dataclass(frozen=True, slots=True)
class Site:
    """A row of the table of sites."""

    id: str
    decision: Decision
    title: str
    place: Step
    path: tuple[Step, ...]
    buffer: str


@dataclass(frozen=True, slots=True)
class BufferView:
    """A buffer: its sites, what was inserted for it, and what happens to it in the order of the flow.

    arrows: an SVG beside ``rows``; left_out: rows that are too many.
    """

    id: str
    name: str
    converted: int
    sites: int
    life: tuple[Step, ...]
    rows: tuple[LifeRow, ...] = ()
    arrows: str = ""
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Known:
    """What the page shows beside the plan: the lives of buffers, the calls between functions, runs of the program, and
    the variables that ranks as threads would share."""

    lives: tuple[BufferLife, ...] = ()
    calls: CallGraph | None = None
    runs: tuple[Run, ...] = ()
    variables: tuple[GlobalDecision, ...] = ()


NOTHING = Known()


@dataclass(frozen=True, slots=True)
class Row:
    """A line before and after (None where there is none).  ``anchor``: the old line's; ``skipped``: lines left out."""

    old: tuple[int, str] | None
    new: tuple[int, str] | None
    anchor: str = ""
    kind: str = ""
    sites: tuple[Site, ...] = ()
    steps: tuple[str, ...] = ()
    buffers: str = ""
    skipped: int = 0
    moment: bool = False


@dataclass(frozen=True, slots=True)
class FileView:
    """One file, changed or with something to see."""

    id: str
    name: str
    changed: bool
    rows: tuple[Row, ...]


def html(
    plan: Plan,
    changed: Mapping[str, bytes],
    name: Callable[[str], str],
    data: Callable[[str], bytes],
    shown: Callable[[str], str],
    version: str,
    known: Known = NOTHING,
) -> str:
    """The page.  ``name``: one name per real file; ``changed``: new contents by it."""
    from jinja2 import Environment, StrictUndefined

    maker = _Maker(plan, changed, name, data, shown, known)
    buffers = maker.buffers()
    touched = roles(maker.of_life)
    counts = summary(plan)
    total = len(plan.decisions)
    converted = sum(counts[side]["convert"] for side in SIDES)
    assumed = sorted({word for decision in plan.decisions for word in decision.assumptions})
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
    environment.filters["code"] = _code
    template = environment.from_string(_TEMPLATE.read_text(encoding="utf-8"))
    facts: dict[str, Any] = {
        "version": version,
        "total": total,
        "converted": converted,
        "percent": round(100 * converted / total) if total else 0,
        "counts": counts,
        "sites": maker.sites,
        "buffers": buffers,
        "roles": touched,
        "calls": call_svg(known.calls, touched) if known.calls else "",
        "runs": [run_view(run, maker.linked(run)) for run in known.runs],
        "globals": [(v, _code_title(v.code), maker.step(v.span.file, v.span.line, "")) for v in known.variables],
        "size": size,
        "meanings": (STATES, HOLDS),
        "states": _states(buffers),
        "assumptions": [
            (word, ASSUMPTIONS.get(word, ""), sum(word in d.assumptions for d in plan.decisions)) for word in assumed
        ],
        "remarks": [(d.code, d.message, maker.step(d.span.file, d.span.line, "")) for d in plan.diagnostics],
    }
    page = ""
    for near in (None, NEAR, 2, 0):
        text: str = template.render(files=maker.files(near), **facts)
        page = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace") + "\n"
        if len(page) <= LARGEST:
            break
    return page


class _Maker:
    """What the page shows, from the plan and the files."""

    def __init__(
        self,
        plan: Plan,
        changed: Mapping[str, bytes],
        name: Callable[[str], str],
        data: Callable[[str], bytes],
        shown: Callable[[str], str],
        known: Known,
    ) -> None:
        self._name, self._shown, self._changed = name, shown, changed
        spans = [span for d in plan.decisions for span in (d.span, *(n.span for n in d.notes)) if span.file]
        self._marked: dict[str, set[int]] = {}
        for span in spans:
            self._marked.setdefault(name(span.file), set()).add(span.line)
        self._declared: dict[str, set[int]] = {}
        for variable in known.variables:
            self._declared.setdefault(name(variable.span.file), set()).add(variable.span.line)
        for moment in (m for life in known.lives for m in life.moments[:MOST_ROWS]):
            self._marked.setdefault(name(moment.file), set()).add(moment.line)
        for d in plan.diagnostics:  # those of opi.toml are no lines of a source
            if d.span.file and name(d.span.file) in {*self._marked, *self._declared, *changed}:
                self._declared.setdefault(name(d.span.file), set()).add(d.span.line)
        self._files = sorted({*self._marked, *self._declared, *changed}, key=shown)
        self._number = {file: index for index, file in enumerate(self._files)}
        self._old = {file: lines_of(data(file)) for file in self._files}
        self._new = {file: lines_of(data_) for file, data_ in changed.items()}
        self._life = {site: life for life in known.lives for site in life.sites}
        keys = [self._key(d) for d in plan.decisions]
        self._buffer = {key: f"b{index}" for index, key in enumerate(dict.fromkeys(keys))}
        self.of_life = [
            (self._buffer[key], life) for life in known.lives if (key := (id(life), life.name)) in self._buffer
        ]
        self.sites = [self._site(index, d) for index, d in enumerate(plan.decisions)]

    def step(self, file: str, line: int, text: str, what: str = "") -> Step:
        if not file:
            return Step("", "", text, what)
        return Step(f"{self._shown(file)}:{line}", self._anchor(self._name(file), line), text, what)

    def _anchor(self, file: str, line: int) -> str:
        return f"f{self._number[file]}L{line}" if file in self._number else ""

    def _key(self, d: Decision) -> tuple[object, str]:
        """The buffer of a site: its life where one is known, else its name."""
        life = self._life.get((d.span.file, d.span.begin, d.side))
        return (d.object, _root(d.buffer)) if life is None else (id(life), life.name)

    def linked(self, run: Run) -> Callable[[str, int], tuple[str, str]]:
        """The place and the anchor of a line that the debug information of a run's program names."""
        find = lines_of_run(self._old, self._new, run)

        def place(named: str, line: int) -> tuple[str, str]:
            found = find(named, line)
            if found is None:
                return f"{named}:{line}", ""
            return f"{self._shown(found[0])}:{found[1]}", self._anchor(*found)

        return place

    def _site(self, index: int, d: Decision) -> Site:
        path = tuple(self.step(n.span.file, n.span.line, n.message) for n in d.notes)
        place = self.step(d.span.file, d.span.line, "")
        return Site(f"s{index}", d, _code_title(d.code), place, path, self._buffer[self._key(d)])

    def buffers(self) -> list[BufferView]:
        found = []
        inserted = list(self._inserted())
        known = dict(self.of_life)
        for (_, root), key in self._buffer.items():
            sites = [site for site in self.sites if site.buffer == key]
            life = []
            for site in sites:
                d = site.decision
                text = _EFFECT[d.side if d.decision == "convert" else "keep"]
                order = (self._shown(d.span.file), float(d.span.line), 1)
                life.append((order, Step(site.place.place, site.place.link, text, f"{d.call} in {d.function}")))
            if any(site.decision.decision == "convert" for site in sites):
                life += [(order, step) for name, order, step in inserted if name == root]
            converted = sum(site.decision.decision == "convert" for site in sites)
            steps = tuple(step for _, step in sorted(life, key=lambda pair: pair[0]))
            view = BufferView(key, root, converted, len(sites), steps)
            if key in known and known[key].moments:
                of = known[key]
                calls = tuple(step for name, _, step in inserted if name == root) if converted else ()
                rows = tuple(life_rows(of, self._shown, lambda file, line: self._anchor(self._name(file), line)))
                drawn, more = arrows(of.moments), max(0, len(of.moments) - MOST_ROWS)
                view = BufferView(key, root, converted, len(sites), calls, rows, drawn, more)
            found.append(view)
        return found

    def _inserted(self) -> list[tuple[str, tuple[str, float, int], Step]]:
        """The calls that were put into the sources, each with the buffer's name and its place."""
        found = []
        for file in sorted(self._new):
            last = 1
            for old, new in side_by_side(self._old[file], self._new[file]):
                last = old[0] if old else last
                if new is None or (old is not None and old[1] == new[1]):
                    continue
                before = _allocating(old[1]) if old else []
                for name, lvalue in _allocating(new[1]):
                    if (name, lvalue) not in before:
                        step = self.step(file, last, _EFFECT[name], name)
                        found.append((_last_name(lvalue), (self._shown(file), last + 0.5, 0), step))
        return found

    def files(self, near: int | None) -> list[FileView]:
        """The files; ``near``: only so many lines around what is to see.  None: whole, unless they are too long."""
        if near is None and sum(len(lines) for lines in self._old.values()) > WHOLE_LINES:
            near = NEAR
        return [self._file(file, near) for file in self._files]

    def _file(self, file: str, near: int | None) -> FileView:
        sites: dict[int, list[Site]] = {}
        steps: dict[int, list[str]] = {}
        for site in self.sites:
            if self._name(site.decision.span.file) == file:
                sites.setdefault(site.decision.span.line, []).append(site)
            for number, note in enumerate(site.decision.notes, 1):
                if note.span.file and self._name(note.span.file) == file:
                    steps.setdefault(note.span.line, []).append(f"{site.id}-{number}")
        new = self._new.get(file, self._old[file])
        names = {root: key for (_, root), key in self._buffer.items()}
        happens: dict[int, set[str]] = {line: set() for line in self._declared.get(file, ())}
        for key, life in self.of_life:
            for m in life.moments:
                if self._name(m.file) == file:
                    happens.setdefault(m.line, set()).add(key)
        rows = []
        for before, after in side_by_side(self._old[file], new):
            line = before[0] if before else 0
            here = tuple(sites.get(line, ()))
            kind = "" if before == after or (before and after and before[1] == after[1]) else "edit"
            text = f"{before[1] if before else ''} {after[1] if after else ''}"
            used = {names[word] for word in _NAME.findall(text) if word in names}
            used |= {site.buffer for site in here} | happens.get(line, set())
            anchor = self._anchor(file, line) if line else ""
            rows.append(
                Row(
                    before,
                    after,
                    anchor,
                    kind,
                    here,
                    tuple(steps.get(line, ())),
                    " ".join(sorted(used)),
                    moment=line in happens,
                )
            )
        shown = rows if near is None else _near(rows, near)
        return FileView(f"f{self._number[file]}", self._shown(file), file in self._new, tuple(shown))


def _states(buffers: Sequence[BufferView]) -> str:
    """For the page's script: buffer -> line's anchor -> what to write beside it."""
    found = {
        view.id: {
            row.link: " · ".join(dict.fromkeys(word for word in (row.state, row.holds) if word))
            for row in view.rows
            if row.link
        }
        for view in buffers
        if view.rows
    }
    return json.dumps(found, ensure_ascii=True, sort_keys=True).replace("<", "\\u003c")


def _code(text: str) -> str:
    """A message, what stands between backticks as code."""
    from markupsafe import Markup, escape

    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def _code_title(code: str) -> str:
    return CODES[code].title if code in CODES else ""


def _allocating(line: str) -> list[tuple[str, str]]:
    """The calls of a line that begin or end the holding of a buffer, each with the pointer as it is written there."""
    return [(m[1], m[2]) for m in _INSERTED.finditer(line)] + [(m[2], m[1]) for m in _ZEROS.finditer(line)]


def _last_name(lvalue: str) -> str:
    """The name of the variable or member that is meant: ``out`` of ``&m->out[d]``."""
    names = _NAME.findall(re.sub(r"\[[^\]]*\]", "", lvalue))
    return names[-1] if names else ""


def _near(rows: Sequence[Row], near: int) -> list[Row]:
    """The rows near those with something to see; in place of the others, how many they are."""
    keep = [False] * len(rows)
    for index, row in enumerate(rows):
        if row.kind or row.sites or row.steps or row.moment:
            for i in range(max(0, index - near), min(len(rows), index + near + 1)):
                keep[i] = True
    out: list[Row] = []
    left = 0
    for row, wanted in zip(rows, keep, strict=True):
        if wanted and left:
            out.append(Row(None, None, skipped=left))
            left = 0
        if wanted:
            out.append(row)
        else:
            left += 1
    return [*out, Row(None, None, skipped=left)] if left else out


def _root(buffer: str) -> str:
    """The name a buffer expression is about: its first, behind casts and ``&`` (``sbuf`` of ``&sbuf[i * n]``)."""
    bare = re.sub(r"^[\s&(*]*(\([^()]*\*\s*\)\s*)?", "", buffer)
    found = _NAME.search(bare)
    return found[0] if found else buffer
