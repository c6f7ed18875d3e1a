"""--report: one HTML file that shows sites, buffers and edits in the sources.  It needs nothing else, nor a network.

What moves is in the page's own script; without scripts everything is still there to read and to follow.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from opi_xform.ownership.model.plan import Decision, Plan, SiteKey
from opi_xform.record import dataclass
from opi_xform.report.advice import Weight, around, measure, sent
from opi_xform.report.codes import CODES
from opi_xform.report.formats.json import SIDES, summary
from opi_xform.report.formats.text import ASSUMPTIONS
from opi_xform.report.globals import GlobalDecision
from opi_xform.report.page.html_lives import MEANINGS, MOST_ROWS, arrows, call_svg, life_rows, roles
from opi_xform.report.page.html_profile import run_view
from opi_xform.report.page.html_sites import (
    BufferView,
    Site,
    Step,
    buffer_labels,
    lives_of_all,
    site_labels,
    sites_of,
    verdict,
)
from opi_xform.report.page.html_source import NEAR, FileView, Mark, Row, kind_of, near, plain
from opi_xform.report.page.lives import BufferLife
from opi_xform.report.profile import Run
from opi_xform.report.sidebyside import lines_of, lines_of_run, side_by_side
from opi_xform.report.sizes import exactly, size

WHOLE_LINES = 6000
"""Up to so many lines all files are shown whole; of more, what is near an edit, a site or a step of a path."""
MOST_NAMES = 12
"""Buffers that are named where it is told what a function does with them, before the others are counted."""
LARGEST = 2_500_000
"""Bytes that a page may have; of one that would be larger less and less is shown."""
_TEMPLATE = Path(__file__).with_name("report.html.j2")
_INSERTED = re.compile(r"\b(OPI_Alloc|OPI_Free)\s*\(([^,;]*)")
_ZEROS = re.compile(r"([^=;,({]*)=\s*(?:\([^()]*\)\s*)?(OPI_[MC]alloc)\s*\(")
_NAME = re.compile(r"[A-Za-z_]\w*")
_EFFECT = {
    "OPI_Alloc": "the rank holds a buffer from here",
    "OPI_Malloc": "the rank holds a buffer from here, if there is memory",
    "OPI_Calloc": "the rank holds a buffer of zeros from here",
    "OPI_Free": "the buffer is handed back; the rank holds none",
}


@dataclass(frozen=True, slots=True)
class Known:
    """What the page shows beside the plan: the lives of buffers, runs of the program, the variables that ranks as
    threads would share, and what is known of the messages of sites.  functions: of each file, where each begins, in
    order.
    """

    lives: tuple[BufferLife, ...] = ()
    runs: tuple[Run, ...] = ()
    variables: tuple[GlobalDecision, ...] = ()
    weights: Mapping[SiteKey, Weight] = field(default_factory=dict)
    functions: Mapping[str, Sequence[tuple[int, str]]] = field(default_factory=dict)


NOTHING = Known()


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
    touched = roles([(view.id, view.label, life) for view, life in zip(buffers, maker.lives, strict=True)])
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
        "labels": {view.id: view.label for view in buffers},
        "with_states": any(row.state or row.holds for view in buffers for row in view.rows),
        "roles": touched,
        "most": MOST_NAMES,
        "calls": call_svg(maker.lives, touched),
        "runs": [run_view(run, maker.linked(run)) for run in known.runs],
        "globals": [(v, _code_title(v.code), maker.step(v.span.file, v.span.line, "")) for v in known.variables],
        "size": size,
        "exactly": exactly,
        "meanings": MEANINGS,
        "states": _states(buffers),
        "assumptions": [
            (word, ASSUMPTIONS.get(word, ""), sum(word in d.assumptions for d in plan.decisions)) for word in assumed
        ],
        "remarks": [(d.code, d.message, maker.step(d.span.file, d.span.line, "")) for d in plan.diagnostics],
    }
    page = ""
    for lines in (None, NEAR, 2, 0):
        text: str = template.render(files=maker.files(lines), **facts)
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
        self._name, self._shown = name, shown
        self.lives = lives_of_all(plan.decisions, known.lives)
        spans = [span for d in plan.decisions for span in (d.span, *(n.span for n in d.notes)) if span.file]
        self._marked: dict[str, set[int]] = {}
        for span in spans:
            self._marked.setdefault(name(span.file), set()).add(span.line)
        self._declared: dict[str, set[int]] = {}
        for variable in known.variables:
            self._declared.setdefault(name(variable.span.file), set()).add(variable.span.line)
        for moment in (m for life in self.lives for m in life.moments[:MOST_ROWS]):
            self._marked.setdefault(name(moment.file), set()).add(moment.line)
        for d in plan.diagnostics:  # those of opi.toml are no lines of a source
            if d.span.file and name(d.span.file) in {*self._marked, *self._declared, *changed}:
                self._declared.setdefault(name(d.span.file), set()).add(d.span.line)
        self._files = sorted({*self._marked, *self._declared, *changed}, key=shown)
        self._number = {file: index for index, file in enumerate(self._files)}
        self._old = {file: lines_of(data(file)) for file in self._files}
        self._new = {file: lines_of(data_) for file, data_ in changed.items()}
        self._ids: dict[SiteKey, list[str]] = {}
        for index, life in enumerate(self.lives):
            for site in life.sites:
                self._ids.setdefault(site, []).append(f"b{index}")
        self._functions = {name(file): tuple(begins) for file, begins in known.functions.items()}
        self._bytes = self._messages(plan, known)
        self.sites = self._sites(plan.decisions)

    def step(self, file: str, line: int, text: str, what: str = "") -> Step:
        if not file:
            return Step("", "", text, what)
        return Step(self._place(file, line), self._anchor(self._name(file), line), text, what)

    def _on_the_way(self, file: str, step: Step) -> Step:
        """A step of a site in ``file``: one of the same file is told by its line alone."""
        before, _, line = step.place.rpartition(":")
        return replace(step, place=f"line {line}") if before == self._shown(file) else step

    def _place(self, file: str, line: int) -> str:
        return f"{self._shown(file)}:{line}"

    def _anchor(self, file: str, line: int) -> str:
        known = file in self._number and 0 < line <= len(self._old[file])
        return f"f{self._number[file]}L{line}" if known else ""

    def linked(self, run: Run) -> Callable[[str, int], tuple[str, str]]:
        """The place and the anchor of a line that the debug information of a run's program names."""
        find = lines_of_run(self._old, self._new, run)

        def place(named: str, line: int) -> tuple[str, str]:
            found = find(named, line)
            if found is None:
                return f"{named}:{line}", ""
            return self._place(*found), self._anchor(*found)

        return place

    def _messages(self, plan: Plan, known: Known) -> dict[int, str]:
        """The bytes of each site's messages, in words: what runs measured, else what the text tells."""
        found = {}
        for index, d in enumerate(plan.decisions):
            weight = known.weights.get((d.span.file, d.span.begin, d.side))
            if weight is not None:
                length = "size not known" if weight.length is None else size(weight.length)
                found[index] = (
                    f"{'up to ' if weight.most and weight.length is not None else ''}{length}{around(weight)}"
                )
        measured = measure(plan, known.runs, self._old, self._new) if known.runs else {}
        return found | {index: f"{sent(run)} in the runs" for index, run in measured.items()}

    def _sites(self, decisions: Sequence[Decision]) -> list[Site]:
        places = [self._place(d.span.file, d.span.line) for d in decisions]
        found = []
        for index, (d, label) in enumerate(zip(decisions, site_labels(decisions, places), strict=True)):
            path = tuple(self._on_the_way(d.span.file, self.step(n.span.file, n.span.line, n.message)) for n in d.notes)
            place = self.step(d.span.file, d.span.line, "")
            ids = tuple(self._ids.get((d.span.file, d.span.begin, d.side), ()))
            found.append(Site(f"s{index}", d, label, _code_title(d.code), place, path, ids, self._bytes.get(index, "")))
        return found

    def buffers(self) -> list[BufferView]:
        found = []
        inserted = self._inserted()
        mine = sites_of(self.sites)
        labels = buffer_labels(self.lives, lambda life: self._first_place(life))
        for index, (life, label) in enumerate(zip(self.lives, labels, strict=True)):
            sites = mine.get(f"b{index}", ())
            converted = sum(site.decision.decision == "convert" for site in sites)
            put = self._put_for(life, inserted) if converted else ()
            rows = tuple(life_rows(life, self._shown, lambda file, line: self._anchor(self._name(file), line)))
            if converted == len(sites):  # what a pattern does not allow is no fault then
                rows = tuple(replace(row, fails=False) for row in rows)
            ordered = any(m.then for m in life.moments)
            drawn, more = arrows(life.moments) if ordered else "", max(0, len(life.moments) - MOST_ROWS)
            found.append(
                BufferView(
                    f"b{index}", label, *verdict(converted, len(sites)), sites, put, rows, drawn, more, life.note
                )
            )
        return found

    def _first_place(self, life: BufferLife) -> str:
        file, begin, side = min(life.sites)
        site = next(
            s
            for s in self.sites
            if (s.decision.span.file, s.decision.span.begin, s.decision.side) == (file, begin, side)
        )
        return site.place.place

    def _put_for(self, life: BufferLife, inserted: Iterable[tuple[str, str, int, Step]]) -> tuple[Step, ...]:
        """The inserted calls about a buffer: those of its name, in the files where something happens to it.  Where that
        is in functions that other buffers of its name have nothing to do with, those of other functions are theirs.
        """
        files = {self._name(m.file) for m in life.moments} | {self._name(file) for file, _, _ in life.sites}
        name = _last_name(life.name)
        of_name = [(file, line, step) for named, file, line, step in inserted if named == name]
        here = [found for found in of_name if found[0] in files] or of_name
        return tuple(step for file, line, step in here if self._is_about(life, file, line))

    def _is_about(self, life: BufferLife, file: str, line: int) -> bool:
        """Whether what stands at a line about a buffer of this life's name may be about it, by the function around."""
        name, function = _last_name(life.name), self._function(file, line)
        owners = [one for one in self.lives if _last_name(one.name) == name and function in _functions(one)]
        return not owners or any(one is life for one in owners)

    def _function(self, file: str, line: int) -> str:
        """The function that begins last before a line ('': none, or not known)."""
        begins = self._functions.get(file, ())
        at = bisect_right(begins, (line, "\U0010ffff"))
        return begins[at - 1][1] if at else ""

    def _inserted(self) -> list[tuple[str, str, int, Step]]:
        """The calls that were put into the sources, each with the buffer's name, the file and the line."""
        found = []
        for file in sorted(self._new, key=self._shown):
            last = 1
            for old, new in side_by_side(self._old[file], self._new[file]):
                last = old[0] if old else last
                if new is None or (old is not None and old[1] == new[1]):
                    continue
                before = _allocating(old[1]) if old else []
                for name, lvalue in _allocating(new[1]):
                    if (name, lvalue) not in before:
                        found.append((_last_name(lvalue), file, last, self.step(file, last, _EFFECT[name], name)))
        return found

    def files(self, lines: int | None) -> list[FileView]:
        """The files, changed ones first.  ``lines``: how many around what is to see (None: whole, unless too long)."""
        if lines is None and sum(len(text) for text in self._old.values()) > WHOLE_LINES:
            lines = NEAR
        order = sorted(self._files, key=lambda file: file not in self._new)
        return [self._file(file, lines) for file in order]

    def _file(self, file: str, lines: int | None) -> FileView:
        marks = self._marks(file)
        new = self._new.get(file, self._old[file])
        edited: dict[str, list[int]] = {}
        for index, life in enumerate(self.lives):
            if any(f"b{index}" in site.buffers and site.decision.decision == "convert" for site in self.sites):
                edited.setdefault(_last_name(life.name), []).append(index)
        happens: dict[int, set[str]] = {line: set() for line in self._declared.get(file, ())}
        for index, life in enumerate(self.lives):
            for m in life.moments:
                if self._name(m.file) == file:
                    happens.setdefault(m.line, set()).add(f"b{index}")
        rows = []
        last = 1
        for before, after in side_by_side(self._old[file], new):
            line = before[0] if before else 0
            last = line or last
            kind = kind_of(before, after)
            used = set(happens.get(line, ()))
            if kind:  # what was edited is about the buffers that it names
                text = f"{before[1] if before else ''} {after[1] if after else ''}"
                named = [index for word in _NAME.findall(text) for index in edited.get(word, ())]
                used |= {f"b{index}" for index in named if self._is_about(self.lives[index], file, last)}
            rows.append(
                Row(
                    plain(before),
                    plain(after),
                    self._anchor(file, line) if line else "",
                    kind,
                    tuple(marks.get(line, ())),
                    " ".join(sorted(used)),
                    seen=line in happens,
                )
            )
        shown = rows if lines is None else near(rows, lines)
        return FileView(f"f{self._number[file]}", self._shown(file), file in self._new, tuple(shown))

    def _marks(self, file: str) -> dict[int, list[Mark]]:
        """By line: the sites there, and the steps of paths that lead there."""
        found: dict[int, list[Mark]] = {}
        here = [s for s in self.sites if self._name(s.decision.span.file) == file]
        lines = Counter(s.decision.span.line for s in here)
        for site in here:
            d = site.decision
            buffer = f" {' '.join(d.buffer.split())}" if lines[d.span.line] > 1 else ""
            found.setdefault(d.span.line, []).append(
                Mark(d.decision, site.id, f"{d.decision} {d.side}{buffer}", f"{site.label}: {d.code} {d.message}")
            )
        for site in self.sites:
            for number, note in enumerate(site.decision.notes, 1):
                if note.span.file and self._name(note.span.file) == file:
                    text = f"step {number} of {Path(site.label).name}"
                    found.setdefault(note.span.line, []).append(Mark("step", site.id, text, note.message))
        return found


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


def _functions(life: BufferLife) -> set[str]:
    """Those in which something happens to a buffer, or by whose calls."""
    return {*life.roles, *life.through, *(m.function for m in life.moments)}


def _last_name(lvalue: str) -> str:
    """The name of the variable or member that is meant: ``out`` of ``&m->out[d]``."""
    names = _NAME.findall(re.sub(r"\[[^\]]*\]", "", lvalue))
    return names[-1] if names else ""
