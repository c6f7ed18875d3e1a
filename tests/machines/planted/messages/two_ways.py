"""Bugs in one of the two ways to the decision, which the other way finds; and those that both have."""

from tests.machines.planted.bug import Bug

_AGREE = "opi_xform.ownership.patterns.agree"
_EVENTS = "opi_xform.ownership.liveness.buffer_events"
_HAPPENINGS = "opi_xform.ownership.patterns.happenings"
_LIVENESS = "opi_xform.ownership.liveness.liveness"

_NO_NEED = Bug(
    "what is read is not needed, by the patterns",
    _HAPPENINGS,
    'return self.kind in ("read", "send")',
    'return self.kind == "send"',
    (),
)

_ANY_TURN = Bug(
    "by the patterns each edge of a loop may be ruled out",
    _AGREE,
    "return any(self.outcomes.impossible(bound, bounds) for bound in said for bounds in known)",
    "return bool(said)",
    (),
)

BUGS = (
    Bug(
        "no live byte keeps a site",
        _LIVENESS,
        "            if live.is_empty():\n                findings[(u.node, u.argument)] = Finding(True,",
        "            if True:\n                findings[(u.node, u.argument)] = Finding(True,",
        ("send_read_same", "send_read_string", "send_read_pointer_loop", "pack_conditional"),
        condition="read after send",
        other_way=True,
    ),
    Bug(
        "no live byte keeps a site, and reads are not needed by the patterns",
        _LIVENESS,
        "            if live.is_empty():\n                findings[(u.node, u.argument)] = Finding(True,",
        "            if True:\n                findings[(u.node, u.argument)] = Finding(True,",
        ("send_read_same", "send_read_string", "send_read_pointer_loop"),
        _NO_NEED,
        condition="two ways",
    ),
    Bug(
        "no live byte keeps a site, and by the patterns any condition in a loop is ruled out by what holds there",
        _LIVENESS,
        "            if live.is_empty():\n                findings[(u.node, u.argument)] = Finding(True,",
        "            if True:\n                findings[(u.node, u.argument)] = Finding(True,",
        ("pack_neighbour_other", "pack_neighbour_changed", "pack_neighbour_late"),
        _ANY_TURN,
        condition="two ways",
    ),
    Bug(
        "each write ends what is live",
        _EVENTS,
        "return None if kill is None else Transfer(kill, None)",
        "return Transfer(self.regions.all, None)",
        ("pack_hole_middle",),
        condition="packed",
    ),
    Bug(
        "by the patterns a loop writes nothing",
        _AGREE,
        "if not kinds or not self.each_turn(loop, kinds.keys(), known):",
        "if True:",
        ("zeros_3",),
        condition="two ways",
        other_way=True,
    ),
    Bug(
        "by the patterns the first turn of a loop is like any other",
        _AGREE,
        "known = {**self.steady, count: Bound(count, lo=1 + max(0, then.lo if then is not None else 0))}",
        "known = self.steady",
        ("zeros_3",),
        condition="two ways",
        other_way=True,
    ),
    Bug(
        "by the patterns nothing that holds rules out a way through a loop",
        _AGREE,
        "return any(self.outcomes.impossible(bound, bounds) for bound in said for bounds in known)",
        "return False",
        ("pack_neighbour_1",),
        condition="two ways",
        other_way=True,
    ),
)
