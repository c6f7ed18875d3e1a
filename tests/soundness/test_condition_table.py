"""``TABLE`` drives the decision: with a condition left out, what it alone keeps converts."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_tools import analyse, load_cases

from opi_xform.ownership import convert_together, decide
from opi_xform.ownership.conditions import table
from opi_xform.ownership.conditions.addresses import aliases, null_comparison, parameters
from opi_xform.ownership.conditions.calls import analysed, datatype, own_mpi, pending_requests
from opi_xform.ownership.conditions.contents import capacity, ends, first_contents, unwritten
from opi_xform.ownership.conditions.memory import jumps, levels
from opi_xform.ownership.conditions.text import declaration, shared_text
from opi_xform.ownership.deciding.condition import Condition

KEEP = {case.name: case for case in load_cases("keep")}
ALONE = {
    "g_own_mpi_init": own_mpi.CONDITION,
    "odd_cleanup": analysed.CONDITION,
    "jump_array": jumps.CONDITION,
    "activation_by_pointer": levels.CONDITION,
    "vla_size": declaration.CONDITION,
    "typed_told_gap": datatype.CONDITION,
    "b_param_length": parameters.CONDITION,
    "f_text_calloc": ends.CONDITION,
    "f_global_zero": first_contents.CONDITION,
    "d_again_blocking": pending_requests.CONDITION,
    "e_append_after_receive": capacity.CONDITION,
    "c_unsequenced_call": aliases.CONDITION,
    "null_told_later": null_comparison.CONDITION,
    "unwritten_before": unwritten.CONDITION,
    "g_header_inline": shared_text.CONDITION,
}
"""Of each case, the only condition that keeps a site of it.  Of others a second one does the same in other words."""


def wrong(name: str, folder: Path) -> list[str]:
    """What must stay, and does not."""
    case = KEEP[name]
    case.write(folder)
    sites = analyse(case, folder)
    return [f"{s.line} {s.side}" for w in case.wishes if w.must for s in sites if w.meets(s) and w.broken_by(s)]


@pytest.mark.parametrize("name", ALONE)
def test_a_condition_left_out_of_the_table_keeps_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert wrong(name, tmp_path / "all") == []
    rest: tuple[Condition, ...] = tuple(c for c in table.TABLE if c is not ALONE[name])
    monkeypatch.setattr(decide, "TABLE", rest)
    monkeypatch.setattr(convert_together, "TABLE", rest)
    assert wrong(name, tmp_path / "rest") != []
