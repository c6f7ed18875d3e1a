"""Planted bugs of requests whose number a counter tells."""

from tests.machines.planted.bug import Bug

_COMPLETIONS = "opi_xform.ownership.requests.completions"
_SEQUENCE = "opi_xform.ownership.requests.in_sequence"
_MEMBERS = "opi_xform.ownership.buffers.members"
_MERGED = "opi_xform.values.joined"
_NUMBERED = "opi_xform.ownership.requests.numbered"
_PENDING = "opi_xform.ownership.requests.pending"
_REQUESTS = "opi_xform.ownership.conditions.calls.pending_requests"
_SLOTS = "opi_xform.ownership.requests.slots"

BUGS = (
    Bug(
        "a call that waits for any request is the last one where it is so on one way",
        _SEQUENCE,
        "if what == _WAITED and state == 1 << count:",
        "if what == _WAITED and state & 1 << count:",
        ("wait_in_branch",),
        condition="pending requests",
    ),
    Bug(
        "calls that wait for any request count, whatever is begun between them",
        _SEQUENCE,
        "return 1 if state else 0",
        "return state",
        ("wait_begun_between",),
        condition="pending requests",
    ),
    Bug(
        "a copy of a request is given up only where that is seen",
        "opi_xform.ownership.requests.given_up",
        "return () if _copied(names, slot.object) is None else _given_up_unseen(names.program, seen)",
        "return ()",
        ("cancelled_copy_unseen", "cancelled_copy_back"),
        condition="pending requests",
    ),
    Bug(
        "a comparison that led to the call finds the same in the next turn",
        _PENDING,
        "if symbols.scope(c.left - c.right) <= around:",
        "if True:",
        ("d_counted_7",),
        condition="pending requests",
    ),
    Bug(
        "of the ways that meet, the one that counts most tells how many requests there are",
        _MERGED,
        "base: min(least, bases.get(base, least))",
        "base: max(least, bases.get(base, least))",
        ("d_counted_4",),
        condition="pending requests",
    ),
    Bug(
        "a wait that begins in front of a request is for it",
        _SLOTS,
        "return joints.not_less(slot.lo, region.lo) and joints.not_less(_end(region), _end(slot))",
        "return joints.not_less(slot.lo, region.lo)",
        ("d_counted_1", "d_counted_2"),
        condition="pending requests",
    ),
    Bug(
        "a wait that ends after a request is for it",
        _SLOTS,
        "return joints.not_less(slot.lo, region.lo) and joints.not_less(_end(region), _end(slot))",
        "return joints.not_less(_end(region), _end(slot))",
        ("d_counted_3",),
        condition="pending requests",
    ),
    Bug(
        "the next turn's request is this turn's",
        _PENDING,
        "                    if s in headers:\n                        return False\n",
        "",
        ("d_counted_5",),
        condition="pending requests",
    ),
    Bug(
        "of two receives into one buffer that are pending at once, each brings its memory",
        _REQUESTS,
        "_carrier_changes(names, buffer, use, waits) or _named_again(names, buffer, use, waits)",
        "_carrier_changes(names, buffer, use, waits)",
        ("d_again_reverse", "d_again_window"),
        condition="pending requests",
    ),
    Bug(
        "a struct is there after the block that declares it",
        _MEMBERS,
        "ends += [*names.left.get(info.frame, []), *names.leaving(self.births(info)[0])]",
        "ends += names.left.get(info.frame, [])",
        ("member_block_pending", "member_block_jump"),
        condition="carrier",
    ),
    Bug(
        "a call after the block completes the request in time",
        _REQUESTS,
        "[Asked(n, ahead=True) for n in sorted(ends)]",
        "[Asked(n) for n in sorted(ends)]",
        ("member_block_jump",),
        condition="carrier",
    ),
    Bug(
        "what sets a counter leaves it where it was",
        _NUMBERED,
        "far = _BEHIND if more is None or far == _BEHIND else",
        "far = far if more is None else",
        ("numbered_set_back", "numbered_one_less"),
        condition="pending requests",
    ),
    Bug(
        "any call posts a request with a greater number",
        _NUMBERED,
        "return back is not None and other.length == self.slot.length and far - back > 0",
        "return True",
        ("numbered_overwritten",),
        condition="pending requests",
    ),
    Bug(
        "what is added to a counter makes it greater, however great",
        _NUMBERED,
        "if isinstance(more, ins.Const) and 0 <= more.value <= MOST_AHEAD and",
        "if isinstance(more, ins.Const) and more.value >= 0 and",
        ("numbered_wraps",),
        also=Bug("", _NUMBERED, 'value.op != "+" or value.unsigned:', 'value.op != "+":', ()),
        condition="pending requests",
    ),
    Bug(
        "who tells that a message is there also hands it over",
        _REQUESTS,
        "if done is None or done.releases or not names.follows(use.node, n):",
        "if True:",
        ("d_told_before_wait", "d_told_all_before_wait"),
        condition="pending requests",
    ),
    Bug(
        "what is put in before a send that stays gives its buffer away",
        _REQUESTS,
        'nodes = {n for n, when in points if when == "after"}',
        "nodes = {n for n, _ in points}",
        ("null_turns_pending",),
        condition="pending requests",
    ),
    Bug(
        "receives that are begun under a condition are begun",
        _COMPLETIONS,
        "ahead = nest.of[at] == loop.parent and nest.dominates(at, loop.header)",
        "ahead = True",
        ("named_rows_skipped",),
        condition="comparison with NULL",
    ),
    Bug(
        "nothing else completes one of the requests between the posts and the waits for any of them",
        _COMPLETIONS,
        "if other == n or elsewhere(other) or (op.completes is None and op.kind not in _ENDING):",
        "if True:",
        ("waitany_waited_between",),
        condition="pending requests",
    ),
    Bug(
        "MPI_Waitany waits for no other requests than those of the rows",
        _COMPLETIONS,
        "if count.constant is None or begun.keys() != set(range(count.constant)):",
        "if False:",
        ("named_rows_more",),
        condition="pending requests",
    ),
    Bug(
        "rows that two loops count are others",
        "opi_xform.ownership.conditions.calls.pending_requests",
        "(first[1] < second[0] or second[1] < first[0])",
        "True",
        ("d_rows_stride",),
        condition="pending requests",
    ),
)
