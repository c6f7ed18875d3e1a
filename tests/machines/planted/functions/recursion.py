"""Bugs in what is known of deeper levels of a recursion, of calls through pointers, and of lengths of arrays."""

from tests.machines.planted.bug import Bug

_DEEPER = "opi_xform.calls.deeper"
_POINTERS = "opi_xform.program.pointers"
_CALLS = "calls that are not followed"

BUGS = (
    Bug(
        "deeper levels keep no address in variables of the file",
        _DEEPER,
        "value=value) if self.holds_openly(key):",
        "value=value) if False:",
        ("deeper_kept",),
        condition=_CALLS,
    ),
    Bug(
        "deeper levels store no address",
        _DEEPER,
        "case ins.Store(value=value) | ins.SwitchOn(value=value):",
        "case ins.SwitchOn(value=value):",
        ("deeper_list", "deeper_stored"),
        condition=_CALLS,
    ),
    Bug(
        "deeper levels return no address",
        _DEEPER,
        "        if call.target is not None:",
        "        if False:",
        ("deeper_returned",),
        condition=_CALLS,
    ),
    Bug(
        "library functions only read and write at deeper levels",
        _DEEPER,
        "                yield self.pts.reachable(found)",
        "                yield frozenset()",
        ("deeper_pending",),
        condition=_CALLS,
    ),
    Bug(
        "deeper levels make no number of an address",
        _DEEPER,
        "if isinstance(part, ins.Op) and part.op not in _COMPARISONS and not _to_pointer(part):",
        "if False:",
        ("deeper_bits",),
        condition=_CALLS,
    ),
    Bug(
        "a function that is cast has one type all the same",
        _POINTERS,
        "self.left.append(origin)",
        "pass",
        ("called_by_cast", "called_by_member"),
        condition=_CALLS,
    ),
    Bug(
        "what is made a pointer to functions leads to those of its type",
        _POINTERS,
        "self.left.append(origin)",
        "pass",
        ("called_by_plain_address", "called_by_void"),
        also=Bug("", _POINTERS, "self.made.append(to)", "pass", ()),
        condition=_CALLS,
    ),
    Bug(
        "an array of variable length is shorter than it is",
        "opi_xform.ir.lowering.lengths",
        'bytes_ = ins.Op("*", (steps[-1], ins.Const(element.size)), LONG)',
        'bytes_ = ins.Op("*", (steps[-1], ins.Const(element.size // 2)), LONG)',
        ("vla_fewer",),
        condition="declaration",
    ),
)
