"""A program with other texts: what is found there is told in places and words of the program as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from opi_xform.attempts.again import Again, Analysed, Back, Job, converted, site
from opi_xform.divide.places import Offsets
from opi_xform.frontend import parse_unit
from opi_xform.ir.ast import Unit
from opi_xform.ir.span import Span
from opi_xform.ownership.model.plan import Advice, Decision, Note, Plan
from opi_xform.text.edit import ByteEdit, apply_edits
from opi_xform.text.sources import Sources

TOP = "/mirror"


class Later:
    """A text whose places are all ten bytes and a line later than those of the old one."""

    def after(self, offset: int, ends: bool) -> int:
        return offset + 10

    def span(self, span: Span, file: str) -> Span:
        return Span(file, span.begin - 10, span.end - 10, span.line - 1, span.column)


def at(file: str, begin: int, line: int) -> Span:
    return Span(file, begin, begin + 4, line, 1)


def decision(span: Span, what: str, code: str = "", message: str = "", **more: object) -> Decision:
    return Decision(span, "f", "MPI_Send", "send", "b", "b", what, code, message, **more)  # type: ignore[arg-type]


def back(tmp_path: Path) -> tuple[Back, str, str]:
    """One file with another text, and one that is as it was."""
    changed, same = str(tmp_path / "a.c"), str(tmp_path / "b.c")
    return Back(TOP, {changed: Later()}, Sources()), changed, same


def test_places_of_a_changed_text_are_told_in_the_old_one(tmp_path: Path) -> None:
    to, changed, same = back(tmp_path)
    assert to.span(at(TOP + changed, 30, 3)) == at(changed, 20, 2)
    assert to.span(at(TOP + same, 30, 3)) == at(same, 30, 3)
    header = at("/usr/include/mpi.h", 30, 3)
    assert to.span(header) == header


def test_messages_notes_and_advice_name_no_file_of_the_copy(tmp_path: Path) -> None:
    to, changed, _ = back(tmp_path)
    note = Note(at(TOP + changed, 50, 5), f"read in {TOP}{changed}")
    advice = Advice("end", f"the test in {TOP}{changed}", (at(TOP + changed, 60, 6),))
    made = decision(at(TOP + changed, 30, 3), "keep", "OPI101", f"{TOP}{changed}:3", notes=(note,), advice=advice)
    found = to.decision(made)
    assert found.message == f"{changed}:3"
    assert found.notes == (Note(at(changed, 40, 4), f"read in {changed}"),)
    assert found.advice == Advice("end", f"the test in {changed}", (at(changed, 50, 5),))


def test_lines_in_messages_are_those_of_the_old_text(tmp_path: Path) -> None:
    before, file = b"int *p;\np = a;\nsend(p);\nread(p);\n", str(tmp_path / "a.c")
    edits = [ByteEdit(8, 15, (), b""), ByteEdit(20, 21, (), b"a")]
    text = apply_edits(before, edits)
    assert text == b"int *p;\nsend(a);\nread(p);\n"
    to = Back(TOP, {file: Offsets(before, edits)}, Sources(), {file: text})
    other = str(tmp_path / "b.c")
    assert to.words("`p` is read at line 3", TOP + file) == "`p` is read at line 4"
    assert to.words("line 1 and 2 set it", TOP + file) == "line 1 and 3 set it"
    assert to.words("line 2 of a.c reads `line 2`, line 2 does not", TOP + other) == (
        "line 3 of a.c reads `line 2`, line 2 does not"
    )
    assert to.words("line 2 of b.c, line 9", TOP + file) == "line 2 of b.c, line 9"
    assert to.words("line 3 and 2 other lines", TOP + file) == "line 4 and 2 other lines"


def test_a_site_that_stays_keeps_the_code_that_it_had(tmp_path: Path) -> None:
    to, changed, _ = back(tmp_path)
    old = Plan((decision(at(changed, 20, 2), "keep", "OPI103", form="OPI104"),))
    kept, gained = decision(at(TOP + changed, 30, 3), "keep", "OPI401"), decision(at(TOP + changed, 30, 3), "convert")
    (found,) = to.with_reasons(Plan((kept,)), old).decisions
    assert (found.code, found.form) == ("OPI103", "OPI104")
    assert to.with_reasons(Plan((gained,)), old).decisions == (gained,)


def test_buffers_have_the_words_that_they_had(tmp_path: Path) -> None:
    to, changed, _ = back(tmp_path)
    old = Plan((Decision(at(changed, 20, 2), "f", "MPI_Send", "send", "h->out", "b", "keep", "", ""),))
    plan = to.plan(Plan((decision(at(TOP + changed, 30, 3), "convert"),)), old)
    assert [(d.buffer, d.span) for d in plan.decisions] == [("h->out", at(changed, 20, 2))]
    assert converted(plan) == {site(old.decisions[0])}
    assert converted(old) == set()


def test_where_one_malloc_may_have_become_several(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text("int a;\n")
    asked: list[bool] = []

    def analyse(units: Sequence[Unit], files: Sources, *given: object) -> Analysed:
        asked.append(bool(given[-2]))
        return None, Plan(()), {}

    def parse(jobs: Sequence[Job]) -> list[Unit]:
        return [parse_unit(name, flags) for name, flags in jobs]

    units = [parse_unit(str(path.resolve()))]
    again = Again(units, lambda _: (), Sources(), str(tmp_path), (), parse, analyse, lambda _: None)
    for one in (again, replace(again, renames=True), replace(again, renames=True, rewritten=True)):
        one.attempt({str(path.resolve()): b"int b;\n"}, {}, Plan(()))
    assert asked == [True, False, True]


def test_a_file_is_parsed_again_where_its_text_or_a_header_of_it_changed(tmp_path: Path) -> None:
    texts = {
        "a.c": "int a;\n",
        "b.c": '#include "b.h"\nstatic int n;\nint b(void) { return n; }\n',
        "b.h": "int other;\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    a, b, header = (str((tmp_path / name).resolve()) for name in texts)
    parsed: list[str] = []

    def parse(jobs: Sequence[Job]) -> list[Unit]:
        parsed.extend(path for path, _ in jobs)
        return [parse_unit(path, flags) for path, flags in jobs]

    def known(units: Sequence[Unit]) -> None:
        parsed.clear()
        assert list(units) == parse([(unit.path, ()) for unit in units])

    units = [parse_unit(path) for path in (a, b)]
    again = Again(units, lambda _: (), Sources(), str(tmp_path), (), parse, lambda *_: (None, Plan(()), {}), known)
    again.look({a: b"int other;\n"})  # the other one is as if it were parsed
    again = replace(again, known=lambda _: None)
    for changed, expected in ((a, [a]), (b, [b]), (header, [b])):
        parsed.clear()
        again.look({changed: b"int B;\n"})
        assert [path[-len(a) :] for path in parsed] == expected
