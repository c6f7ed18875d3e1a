"""Bugs in what counts as another way of saying the same: short names, errors, kept tests, loops that run once."""

from tests.planted.bug import Bug

_SHORT = "opi_xform.ownership.short_names"
_ZERO = "opi_xform.program.succeeding"

SPELLED = (
    Bug(
        "the words of a short name never change",
        _SHORT,
        "not (address or self.never_changes(key))",
        "not (address or key)",
        ("short_moved",),
        condition="short names",
    ),
    Bug(
        "the words of a short name mean the same behind other declarations",
        _SHORT,
        "said.isdisjoint(new | self.index.unsteady | {PASTED})",
        "said.isdisjoint(self.index.unsteady | {PASTED})",
        ("short_shadowed",),
        condition="short names",
    ),
    Bug(
        "no jump goes back over what a short name is made of",
        _SHORT,
        "self.is_fixed(core) and self.in_order()",
        "self.is_fixed(core)",
        ("short_again",),
        condition="short names",
    ),
    Bug(
        "no call of the MPI's ever returns an error",
        _ZERO,
        "    if len(known) < len(found) or any(one.errors or one.lets_errors_return or one.user for one in known):\n",
        "    if not found:\n",
        ("error_handled", "error_unknown"),
        condition="calls that fail",
    ),
    Bug(
        "no completion ever returns an error",
        _ZERO,
        '(one.mpi.kind == "complete" and not others)',
        '(others is not None and one.mpi.kind == "complete")',
        ("error_file",),
        condition="calls that fail",
    ),
    Bug(
        "a variable that holds an error holds nothing else",
        _ZERO,
        "[key for key in zero if any(number(value, zero) != 0 for value in given.get(key, ()))]",
        "[key for key in zero if key in other]",
        ("error_added",),
        condition="calls that fail",
    ),
    Bug(
        "a variable that holds an error is set by its name only",
        _ZERO,
        "                other.update(part.key for part in parts_of(operand) if isinstance(part, ins.AddrVar))\n",
        "                other.update(part.key for part in parts_of(operand) if part is None)\n",
        ("error_stored",),
        condition="calls that fail",
    ),
    Bug(
        "what a function returns that sends is the error",
        _ZERO,
        "all(value is not None and number(value, zero) == 0 for value in results)",
        "all(value is not None for value in results)",
        ("error_turned",),
        condition="calls that fail",
    ),
    Bug(
        "a function that calls free frees what it is given",
        "opi_xform.ownership.deallocations",
        "return self.freed == 1",
        "return True",
        ("freed_where_null", "freed_jumped_over"),
        condition="allocation and free",
    ),
    Bug(
        "what was compared is the same when the test is asked",
        "opi_xform.ir.operands",
        "return value if kept and later.isdisjoint(leaves) else cond",
        "return value if kept and later is not None else cond",
        ("tested_changed",),
        condition="values",
    ),
    Bug(
        "a loop that runs once runs to its end",
        "opi_xform.ir.lower",
        "if not any(map(_leaves, statements(body)))",
        "if statements(body)",
        ("once_left",),
        condition="turns of a loop",
    ),
    Bug(
        "what is ahead of a counter's step is in its line",
        "opi_xform.ownership.counted",
        "while len(graph.preds[blocks[0]]) == 1 and (before",
        "while graph.preds[blocks[0]] and (before",
        ("filled_one_arm",),
        Bug(
            "a line goes on over branches",
            "opi_xform.ownership.counted",
            "            if len(graph.succs[before]) != 1:\n",
            "            if not graph.succs[before]:\n",
            (),
        ),
        condition="counters",
    ),
)
