"""Pointers set through their address or by way of a local variable, unsigned bounds, arrays of variable length."""

from tests.planted.bug import Bug

_ALLOCATIONS = "opi_xform.ownership.allocations"
_HANDED = "opi_xform.program.handed_out"
_HUGE = "opi_xform.memory.huge"
_MEMBERS = "opi_xform.ownership.members"

ADDRESSED = (
    Bug(
        "a pointer that is read by its name, too, counts as what its address leads to",
        _MEMBERS,
        "if variable.type.is_pointer and info.variable not in graph.addressed:",
        "if False:",
        ("addressed_elsewhere",),
        condition="set by a function",
    ),
    Bug(
        "text that is left out and names a pointer's address does not count",
        "opi_xform.ownership.elsewhere",
        "for key in dict.fromkeys(root(e) for _, e in member.exprs):",
        "for key in ():",
        ("addressed_skipped",),
        condition="set by a function",
    ),
    Bug(
        "the loop may be left in other ways than by its unsigned bound",
        _HUGE,
        "if len(loop.exits) != 1 or not graph.blocks[loop.exits[0][0]]:",
        "if not graph.blocks[loop.exits[0][0]]:",
        ("size_bound_break", "size_bound_exit"),
        condition="numbers that wrap",
    ),
    Bug(
        "the size of an array of variable length may be asked for",
        "opi_xform.ownership.source",
        'if asked or var.type.elem is None or self.rows or var.kind != "local":',
        'if var.type.elem is None or self.rows or var.kind != "local":',
        ("vla_size",),
        condition="declaration",
    ),
    Bug(
        "nothing happens where the length of an array is computed",
        "opi_xform.ownership.edits",
        "            if stmt.sizes:",
        "            if False:",
        ("vla_made",),
        condition="declaration",
    ),
    Bug(
        "nothing that an array's declaration declares beside it changes its length",
        "opi_xform.ownership.edits",
        "if not all(_only_reads(e) for e in inits if e is not None):",
        "if False:",
        ("vla_beside",),
        condition="declaration",
    ),
    Bug(
        "a function that sets a pointer names others as they are elsewhere",
        "opi_xform.program.copies",
        "lowered = self.addressed.body(self.outs[frame][0].body)",
        "lowered = self.outs[frame][0].body",
        ("addressed_named",),
        condition="set by a function",
    ),
    Bug(
        "a function that gives a pointer fresh memory may store elsewhere, too",
        _HANDED,
        "return held if _root(address) in held and _root(value) not in held else None",
        "return held if _root(value) not in held else None",
        ("out_member_other",),
        condition="set by a function",
    ),
    Bug(
        "what a function calls `*p` is never a pointer that its parameter stands for",
        "opi_xform.ownership.members",
        "if self.set_elsewhere(function, e):",
        "if False:",
        ("out_member_mixed", "out_member_file"),
        condition="set by a function",
    ),
    Bug(
        "a function that may give a pointer fresh memory does",
        _HANDED,
        "if not body.succs[block] and found.key not in behind:",
        "if False:",
        ("out_member_sometimes",),
        condition="set by a function",
    ),
    Bug(
        "calls of a function in text left out need not be kept from being compiled",
        "opi_xform.ownership.elsewhere",
        "if not all(s.own and everywhere(units, s.span, name) for s in found):",
        "if False:",
        ("g_left_out_call",),
        condition="whole program",
    ),
    Bug(
        "an allocation under a local name is the same buffer's in all calls",
        _ALLOCATIONS,
        "if not all(_of_one_buffer(program, flow, one, mine) for one in found.values() if one.local):",
        "if False:",
        ("local_first_other",),
        condition="allocation and free",
    ),
    Bug(
        "a pointer is always set to what was allocated for it",
        _ALLOCATIONS,
        "if not once and not _surely(program, flow, outer, m):",
        "if False:",
        ("local_first_size",),
        condition="allocation and free",
    ),
    Bug(
        "calls inside a loop come back",
        _HUGE,
        "isinstance(action, (Lost, ins.Escape)) or (isinstance(action, ins.CallInstr) and n not in entered)",
        "isinstance(action, (Lost, ins.Escape))",
        ("size_bound_signal",),
        condition="numbers that wrap",
    ),
    Bug(
        "numbers that are not negative by their type are small",
        _HUGE,
        "if any(symbols.table[s].nonneg for s in bound.symbols()):",
        "if False:",
        ("size_bound_marks",),
        condition="numbers that wrap",
    ),
    Bug(
        "what is shifted out on the left comes back",
        "opi_xform.memory.evaluate",
        "if not op.unsigned or not self.near_end(shifted):",
        "if True:",
        ("size_bound_shifted",),
        condition="numbers that wrap",
    ),
)
