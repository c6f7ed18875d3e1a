"""The one order: its phases, what is said of a plan in between, and results that are not used."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from ownership_support import HEADER

from opi_xform import pipeline
from opi_xform.frontend import FrontendError, parse_unit
from opi_xform.ir.ast import Unit
from opi_xform.ownership.model.buffers import Options
from opi_xform.ownership.model.plan import Edit, Plan
from opi_xform.text.sources import Sources

SENDS = """#include "mpi.h"
static double b[100], u[100];
int main(int argc, char **argv)
{
    for (int i = 0; i < 100; i++)
        b[i] = u[i] + argc;
    MPI_Send(b, 100, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
    return 0;
}
"""


class Phases:
    def __init__(self) -> None:
        self.names: list[str] = []

    @contextmanager
    def __call__(self, name: str, steps: int = 0) -> Iterator[None]:
        self.names.append(name)
        yield


def given(folder: Path, text: str) -> pipeline.Given:
    """A program of one file that is parsed as it is, here."""
    (folder / "mpi.h").write_text(f"#ifndef MPI_H\n#define MPI_H\n{HEADER}#endif\n")  # opi.h includes it, too
    (folder / "a.c").write_text(text)
    flags = (f"-I{folder}",)

    def parse(jobs: Sequence[tuple[str, tuple[str, ...]]]) -> list[Unit | FrontendError]:
        return [parse_unit(path, own) for path, own in jobs]

    def obstacle(root: str, sources: Sources) -> Callable[[Edit], str]:
        return lambda edit: ""

    units = [parse_unit(str(folder / "a.c"), flags)]
    return pipeline.Given(units, Sources(), lambda _: flags, Options(root=str(folder)), parse, parse, obstacle)


def test_its_phases_and_what_comes_of_them(tmp_path: Path) -> None:
    phases = Phases()
    found, changed = pipeline.run(given(tmp_path, SENDS), lambda plan: plan, phases)
    assert phases.names == ["analyse", "rewrite", "self-check"]
    assert [d.decision for d in found.plan.decisions] == ["convert"]
    assert found.program is not None
    assert [(Path(name).name, b"OPI_Give(&b, 100" in data) for name, data in changed.items()] == [("a.c", True)]


def test_what_is_said_of_a_plan_is_what_is_rewritten(tmp_path: Path) -> None:
    found, changed = pipeline.run(
        given(tmp_path, SENDS), lambda plan: replace(plan, edits=(), needs_header=()), Phases()
    )
    assert found.plan.edits == ()
    assert changed == {}


def test_without_a_message_nothing_is_found_out(tmp_path: Path) -> None:
    found, changed = pipeline.run(given(tmp_path, "int main(void) { return 0; }\n"), lambda plan: plan, Phases())
    assert found == pipeline.Decided(Plan(()), None, None)
    assert changed == {}


def test_a_result_that_does_not_compile_is_refused(tmp_path: Path) -> None:
    def refuse(jobs: Sequence[tuple[str, tuple[str, ...]]]) -> list[Unit | FrontendError]:
        return [FrontendError(path, 7, 1, "no") for path, _ in jobs]

    with pytest.raises(pipeline.RejectedError) as caught:
        pipeline.run(replace(given(tmp_path, SENDS), outline=refuse), lambda plan: plan, Phases())
    assert [(Path(r.file).name, r.line, r.message) for r in caught.value.rejected] == [("a.c", 7, "no")]


def test_without_room_for_the_check_it_says_so(tmp_path: Path) -> None:
    def full(jobs: Sequence[tuple[str, tuple[str, ...]]]) -> list[Unit | FrontendError]:
        raise OSError(28, "No space left on device")

    with pytest.raises(pipeline.NoRoomError, match="No space left on device"):
        pipeline.run(replace(given(tmp_path, SENDS), outline=full), lambda plan: plan, Phases())


def test_other_texts_of_a_program_are_analysed_with_its_options(tmp_path: Path) -> None:
    start = given(tmp_path, SENDS)
    again = pipeline.again(replace(start, options=replace(start.options, min_bytes=801)))
    program, plan, changed = again.analyse(start.units, start.sources, str(tmp_path), (), -1, True, False)
    assert program is not None
    assert [d.code for d in plan.decisions] == ["OPI118"]
    assert changed == {}
