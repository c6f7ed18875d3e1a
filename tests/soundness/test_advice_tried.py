"""Every advice is true: what a reason says would let a site convert is done to the source, and the site converts.

A sample of the cases that stay; all of them with OPI_ALL_CASES=1 (four minutes).  And what the codes' pages show, a
buffer of the message's own, at sites that stay for their reasons.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from case_tools import Case, load_cases, sample

from opi_xform.cli.config import load_configuration
from opi_xform.cli.options import parse_arguments
from opi_xform.cli.outcome import Failure
from opi_xform.cli.progress import Progress
from opi_xform.cli.run import transform
from opi_xform.divide.places import Offsets
from opi_xform.ir.ast import Unit
from opi_xform.ownership.model.plan import Decision, Plan
from opi_xform.text.edit import apply_edits
from tests.advice.edits import Edits, Following
from tests.advice.own_buffer import BOTH, BYTES, CODES, IRECV, ISEND, RECV, SEND, STAYS, section
from tests.advice.shapes import SHAPES, shape

STEP = 29  # of the cases in a row, one is in the sample
ONCE_WRONG = frozenset(("c_swap_null_test", "null_turns_pending"))
"""Always in the sample."""
EVERY = frozenset(("end",))
"""Kinds of which each way to follow them does: where a test ends the program, people write it as they like."""
CASES = load_cases("keep")
SAMPLE = frozenset(case.name for case in sample(CASES, STEP)) | ONCE_WRONG
CHOSEN = [case for case in CASES if case.name in SAMPLE or os.environ.get("OPI_ALL_CASES")]


def analysed(case: Case, folder: Path) -> tuple[Plan, Sequence[Unit]]:
    arguments = [*(str(folder / name) for name in case.analysed), "-j", "1", "--", *case.flags]
    result, units = transform(parse_arguments(arguments), Progress(), load_configuration())
    return result.plan, units


def converts(case: Case, folder: Path, texts: dict[str, bytes], edits: Edits, d: Decision) -> bool | None:
    """Whether the site converts where the source is changed so; None where the compiler does not take that."""
    for file, data in texts.items():
        Path(file).write_bytes(apply_edits(data, edits[file]) if file in edits else data)
    try:
        plan, _ = analysed(case, folder)
    except Failure:
        return None
    begin = Offsets(texts[d.span.file], edits.get(d.span.file, ())).after(d.span.begin, False)
    found = [o for o in plan.decisions if (o.span.file, o.span.begin, o.side) == (d.span.file, begin, d.side)]
    assert len(found) == 1, f"the site of {d.span.file}:{d.span.line} is not found where the advice is followed"
    return found[0].decision == "convert"


def refuted(case: Case, folder: Path) -> tuple[list[str], int, dict[str, int]]:
    """Advice that does not do what it says; how many were tried, and by kind how many take thought."""
    folder = folder.resolve()
    if case.folder.name == case.name:
        shutil.copytree(case.folder, folder, dirs_exist_ok=True)
    case.write(folder)
    plan, units = analysed(case, folder)
    texts = {str(folder / name): (folder / name).read_bytes() for name in case.texts}
    wrong, tried, untried = [], 0, dict[str, int]()
    for d in plan.decisions:
        if d.advice is None:
            continue
        ways = Following(units, texts, d).edits()
        results = []
        for way in ways:
            results.append(converts(case, folder, texts, way, d))
            if results[-1] and d.advice.kind not in EVERY:
                break
        if not any(r is not None for r in results):
            untried[d.advice.kind] = untried.get(d.advice.kind, 0) + 1
            continue
        tried += 1
        if not any(results) or (d.advice.kind in EVERY and False in results):
            wrong.append(f"{case.name}:{d.span.line}: {d.code} {d.message}")
    return wrong, tried, untried


@pytest.mark.parametrize("case", CHOSEN, ids=lambda case: case.name)
def test_what_is_advised_lets_the_site_convert(case: Case, tmp_path: Path) -> None:
    wrong, _, _ = refuted(case, tmp_path)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("memory", "test"), SHAPES, ids=["-".join(found) for found in SHAPES])
def test_an_end_for_want_of_memory_lets_the_site_convert(memory: str, test: str, tmp_path: Path) -> None:
    case = shape(memory, test)
    wrong, tried, untried = refuted(case, tmp_path)
    assert not wrong, "\n".join(wrong)
    assert not untried
    case.write(tmp_path)
    plan, _ = analysed(case, tmp_path)
    converts_as_it_is = all(d.decision == "convert" for d in plan.decisions)
    certain = memory in ("plain", "two") and test not in ("value", "flag")
    assert tried or converts_as_it_is or not certain, "nothing is advised for want of memory"


def by_side(case: Case, folder: Path) -> dict[str, Decision]:
    """Of a program with one send and one receive."""
    case.write(folder)
    plan, _ = analysed(case, folder)
    assert sorted(d.side for d in plan.decisions) == ["recv", "send"]
    return {d.side: d for d in plan.decisions}


@pytest.mark.parametrize("name", STAYS)
def test_a_site_that_stays_converts_with_a_buffer_of_its_own(name: str, tmp_path: Path) -> None:
    stays = STAYS[name]
    found = by_side(stays.program(name), tmp_path)
    assert (found["send"].code, found["recv"].code) == stays.codes
    assert CODES.issuperset(stays.codes)
    for side, text in (("send", SEND), ("recv", RECV)):
        found = by_side(stays.program(name, **{side: text}), tmp_path)
        assert found[side].decision == "convert", found[side].message


@pytest.mark.parametrize("name", ["datatype", "persistent"])
@pytest.mark.parametrize("as_bytes", [False, True], ids=["elements", "bytes"])
def test_so_does_one_whose_wait_comes_later_in_the_function(name: str, as_bytes: bool, tmp_path: Path) -> None:
    send, recv = ISEND, IRECV
    for old, new in BYTES.items() if as_bytes else ():
        send, recv = send.replace(old, new), recv.replace(old, new)
    found = by_side(STAYS[name].program(name, send, recv), tmp_path)
    assert {d.decision for d in found.values()} == {"convert"}


def test_so_do_both_sides_of_a_call(tmp_path: Path) -> None:
    found = by_side(STAYS["datatype"].program("both", BOTH, ";"), tmp_path)
    assert {d.decision for d in found.values()} == {"convert"}


def test_what_a_page_shows_is_what_is_tried() -> None:
    assert all(SEND in section(code) for code in CODES if code[3] != "2")
    assert all(RECV in section(code) for code in CODES if code[3] != "1")
    assert not section("OPI111")
