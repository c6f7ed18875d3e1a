"""Planted bugs: arrays of which each element is a sum of elements of other arrays."""

from __future__ import annotations

from tests.machines.planted.bug import Bug

_DERIVED = "opi_xform.values.arithmetic.derived"

BUGS = (
    Bug(
        "numbers from which others were told stay as they are in later code",
        _DERIVED,
        "if m in here or (m in later and not self.of_turn(loop, m, node.frame, cell[1])):",
        "if m in here:",
        ("pack_sum_changed_after", "pack_sum_by_pointer", "pack_sum_by_function", "pack_sum_changed_other"),
        condition="values",
    ),
    Bug(
        "they stay as they are for the rest of the turn",
        _DERIVED,
        "if m in here or (m in later and",
        "if (m in later and",
        ("pack_sum_changed_in_turn",),
        condition="values",
    ),
    Bug(
        "a store in a loop is to the element of its turn",
        _DERIVED,
        "return node.block in loop.blocks and node.frame == frame and cell is not None and cell[1] == counter",
        "return node.block in loop.blocks",
        ("pack_sum_changed_other",),
        condition="values",
    ),
    Bug(
        "each turn comes to the statement that tells a number from others",
        _DERIVED,
        "or self.passes(loop, m, n) for m in mine",
        "for m in mine",
        ("pack_sum_in_branch", "pack_sum_skipped"),
        condition="values",
    ),
    Bug(
        "a loop is entered once",
        _DERIVED,
        "if found is None or not found[1] or not self.once(loop):",
        "if found is None or not found[1]:",
        ("pack_sum_twice",),
        condition="values",
    ),
    Bug(
        "a counter moves on at the end of a turn",
        _DERIVED,
        "if step is None or self.within_turn(loop, step) & {n, *mine, *theirs}:",
        "if step is None:",
        ("pack_sum_moved",),
        condition="values",
    ),
    Bug(
        "a counter never comes to the same row again",
        _DERIVED,
        "return defines[0].number if moves and each else None",
        "return defines[0].number",
        ("pack_sum_backwards",),
        condition="values",
    ),
    Bug(
        "calls leave the numbers of arrays as they are",
        _DERIVED,
        "case ins.CallInstr(args=args) if node.number not in graph.followed:",
        "case ins.CallInstr(args=args) if False:",
        ("pack_sum_broadcast", "pack_sum_copied_over"),
        condition="values",
    ),
    Bug(
        "numbers that begin with zeros begin with nothing",
        _DERIVED,
        "return plain and own and var.init is None",
        "return plain",
        ("recv_sum_zeros",),
        condition="values",
    ),
)
