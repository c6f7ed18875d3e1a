"""Bugs in receives that leave the buffer in its place where their source is MPI_PROC_NULL."""

from tests.machines.planted.bug import Bug

_LIVENESS = "opi_xform.ownership.liveness.liveness"

BUGS = (
    Bug(
        "a send to rank 0 reads no more than one to MPI_PROC_NULL",
        "opi_xform.ownership.liveness.buffer_events",
        'self.regions.compare(">=", dest, ZERO)',
        'self.regions.compare(">", dest, ZERO)',
        ("to_nobody_zero",),
        condition="packed",
    ),
    Bug(
        "what is replaced by nothing is not there afterwards",
        "opi_xform.ownership.procnull.sources",
        'if u.side != "send" or u.op.replaces or u.buffer.peer is None:',
        'if u.side != "send" or u.buffer.peer is None:',
        ("to_nobody_replaced",),
        condition="packed",
    ),
    Bug(
        "a receive that replaces brings all that is read after it",
        _LIVENESS,
        "if region is not None and live.subtract(region).is_empty():",
        "if region is not None:",
        ("nobody_tail", "nobody_two_sites", "nobody_longer_read"),
        also=Bug("and what is touched does not count", _LIVENESS, "if not touched.is_empty():", "if False:", ()),
        condition="read after receive",
    ),
    Bug(
        "a receive that replaces makes room where nothing comes, too",
        "opi_xform.ownership.liveness.buffer_events",
        'if u.side == "recv" and u.place in self.replacing:',
        "if False:",
        ("nobody_room",),
        condition="capacity",
    ),
    Bug(
        "static memory begins with zeros whatever its initialiser",
        _LIVENESS,
        "self.program.complete and self.program.variables[info.variable].init is None",
        "self.program.complete",
        ("nobody_initialised", "nobody_defined_elsewhere"),
        condition="first contents",
    ),
    Bug(
        "a function begins with the program, whoever calls it",
        _LIVENESS,
        "self.program.complete and self.program.variables[info.variable].init is None",
        "self.program.variables[info.variable].init is None",
        ("nobody_part_of_program",),
        condition="first contents",
    ),
    Bug(
        "each buffer that comes to a call has a call of its own",
        "opi_xform.ownership.deciding.receives",
        "    return frozenset(out)\n\n\ndef touched_early",
        "    return frozenset()\n\n\ndef touched_early",
        ("nobody_one_of_two",),
        also=Bug(
            "one call takes the second name that it is given",
            "opi_xform.ownership.decide",
            "assert known.name == edit.name",
            "assert True",
            (),
        ),
        condition="real source",
    ),
    Bug(
        "a receive that replaces is no place where buffers change hands",
        "opi_xform.ownership.placement.place",
        "replaced.update(e.node for e in self.now.events.all if e.kind in (REPLACE, IREPLACE))",
        "pass",
        ("nobody_second_name",),
        condition="old addresses",
    ),
    Bug(
        "a receive from nobody brings its message",
        "opi_xform.ownership.liveness.buffer_events",
        "return region.intersect(guard)",
        "return region",
        ("nobody_plain_take", "recv_null_tag"),
        condition="real source",
    ),
    Bug(
        "nobody looks into a buffer before a receive into it is complete",
        "opi_xform.ownership.deciding.receives",
        "and some_pending_at(names, u, facts[u.object].accesses):",
        "and False:",
        ("nobody_early",),
        condition="real source",
    ),
    Bug(
        "memory that is made where there is none has what the freed one had",
        "opi_xform.ownership.placement.frees",
        "and not without and self.dead_after(candidate, needs):",
        "and not without:",
        ("nobody_freed_before", "a_freed_before_read"),
        condition="placement",
    ),
)
