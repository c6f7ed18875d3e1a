"""Sends with which the life of a block ends."""

from tests.machines.planted.bug import Bug

_BLOCKS = "opi_xform.ownership.last.blocks"
_SENDS = "opi_xform.ownership.last.sends"
_EDITS = "opi_xform.ownership.last.edits"

BUGS = (
    Bug(
        "what is passed over runs nowhere",
        "opi_xform.ownership.allocation.also_run",
        "return {f for f in graph.passed if f not in inside or f in called}",
        "return {f for f in graph.passed & called if f in inside}",
        ("last_wrapper_unseen", "last_wrapper_grown", "last_wrapper_onward", "last_wrapper_other_file"),
        condition="last use",
    ),
    Bug(
        "a function that allocates is the same in every configuration",
        "opi_xform.ownership.last.edits",
        "if inside and not skipped.identifiers.isdisjoint(self.other_ways):",
        "if False:",
        ("last_wrapper_other_way",),
        condition="last use",
    ),
    Bug(
        "a block that is given away has no other name",
        _SENDS,
        "self.with_it(n, name) - {name}, {})",
        "frozenset(), {})",
        ("last_old_name", "last_freed_by_other"),
        condition="last use",
    ),
    Bug(
        "after a last send, the next turn of a loop does not count",
        _SENDS,
        "if new != old:",
        "if new != old and s > block:",
        ("last_next_turn", "last_sent_twice"),
        condition="last use",
    ),
    Bug(
        "two numbers that were equal stay so",
        "opi_xform.ownership.liveness.equalities",
        "if name not in changed and value not in changed}",
        "if name not in changed}",
        ("last_counted",),
        condition="last use",
    ),
    Bug(
        "a call that stays is done with the block when it returns",
        _EDITS,
        "if place not in converted and",
        "if False and",
        ("last_pending",),
        condition="last use",
    ),
    Bug(
        "a last send begins where its block does",
        _EDITS,
        "if name not in pool.exact or sends",
        "if sends",
        ("last_inside",),
        condition="last use",
    ),
    Bug(
        "every block of a pool is of malloc or calloc",
        _BLOCKS,
        "if action.callee.key not in names or not isinstance",
        "if not isinstance",
        ("last_aligned",),
        condition="last use",
    ),
    Bug(
        "there is memory for every block of a pool",
        _SENDS,
        "if ends(self.program, {v for v in self.variables if v}, without, {(node.frame, key): 0}):",
        "if True:",
        ("last_no_memory",),
        condition="last use",
    ),
    Bug(
        "text that is left out names no block",
        _EDITS,
        "if variable.name in (skipped.identifiers if inside else skipped.bodies):",
        "if False:",
        ("last_skipped",),
        condition="last use",
    ),
    Bug(
        "a last send may be a part of an expression",
        _EDITS,
        "if not all(_alone(program, u) for u in uses):",
        "if False:",
        ("last_in_expression",),
        condition="last use",
    ),
    Bug(
        "whatever is set where a block is freed is its name",
        "opi_xform.ownership.last.sends",
        "elif not freed or not self.is_set_to_null(node, name):",
        "elif not freed or not isinstance(node.action, ins.Define):",
        ("last_told",),
        condition="last use",
    ),
    Bug(
        "no jump leads out of the graph",
        _EDITS,
        "not any(program.functions[frame.function].refused for frame in program.graph.frames)",
        "True",
        ("last_jump",),
        condition="last use",
    ),
    Bug(
        "pointers to blocks of last messages change no places",
        _BLOCKS,
        'if info.kind != "heap" or o in self.outside or o in self.changing:',
        'if info.kind != "heap" or o in self.outside:',
        ("d_swap_where_nobody_sends", "d_swap_of_last_send"),
        condition="last use",
    ),
)
