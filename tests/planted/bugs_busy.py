"""Bugs in what is known of functions that allocate and do more, and of alignment beyond that of buffers."""

from tests.planted.bug import Bug

_ALIGNMENT = "opi_xform.ownership.alignment"
_ALLOC = "opi_xform.ownership.allocations"
_ALLOCATORS = "opi_xform.ownership.allocators"
_BUSY = "opi_xform.ownership.busy"
_EDITS = "opi_xform.ownership.allocation_edits"
_HANDED = "opi_xform.parts.handed"

BUSY = (
    Bug(
        "the text says nothing of alignment",
        _ALIGNMENT,
        "    return _told(program)",
        "    return None",
        ("far_assumed", "far_directive", "far_type", "g_aligned_direct"),
        condition="allocation and free",
    ),
    Bug(
        "the system takes any address",
        _ALIGNMENT,
        "found = _system_calls(program).get(o)",
        "found = None",
        ("far_written",),
        condition="allocation and free",
    ),
    Bug(
        "every number is an alignment",
        _ALLOCATORS,
        "if asked is not None and (asked < _POSIX or asked & (asked - 1)):",
        "if False:",
        ("far_invalid",),
        condition="allocation and free",
    ),
    Bug(
        "nobody else holds what a function returns",
        _BUSY,
        " and busy.alone() and busy.returned(outer)",
        " and busy.returned(outer)",
        ("busy_last",),
        condition="allocation and free",
    ),
    Bug(
        "a function that allocates writes nothing there",
        _BUSY,
        "                return not any(self.mentioned(at, part) for at, part in _parts(action, frame))",
        "                return True",
        ("busy_fills", "busy_copy"),
        Bug(
            "a function that allocates leaves the buffer alone",
            _BUSY,
            "busy.understood() and not busy.touches(buffer)",
            "busy.understood()",
            ("busy_fills", "busy_copy"),
        ),
        condition="allocation and free",
    ),
    Bug(
        "a function that allocates always does",
        _BUSY,
        " and busy.alone() and busy.returned(outer)",
        " and busy.alone()",
        ("memalign_too_large",),
        condition="allocation and free",
    ),
    Bug(
        "`free` frees what any allocator gives",
        _BUSY,
        "call.callee.key not in ALLOCATORS",
        "not call.callee.key",
        ("busy_own_heap",),
        condition="allocation and free",
    ),
    Bug(
        "a size is the same behind the call",
        _ALLOC,
        "if not all(same_behind(program, flow, kept, m, defs.addressed, e) for _, e in given):",
        "if False:",
        ("busy_size_changes",),
        condition="allocation and free",
    ),
    Bug(
        "a parameter is what was passed",
        _ALLOC,
        " or _set_anew(program, flow, frames[-1], key):",
        ":",
        ("busy_size_raised",),
        condition="allocation and free",
    ),
    Bug(
        "a size does nothing",
        _BUSY,
        "if not isinstance(x, _REPEATED) or x.type.volatile or x.type.atomic:",
        "if x.type.volatile or x.type.atomic:",
        ("busy_size_called",),
        condition="allocation and free",
    ),
    Bug(
        "`free` means the C library's",
        _EDITS,
        "if not self.frees_here(level):",
        "if False:",
        ("busy_free_is_mine", "busy_free_is_local"),
        condition="allocation and free",
    ),
    Bug(
        "what a call returned is tested before the hand-over",
        "opi_xform.ownership.place",
        "frozenset(inside | (fresh - later))",
        "frozenset(inside | fresh)",
        ("busy_tested_later",),
        condition="allocation and free",
    ),
    Bug(
        "a call may be made more often",
        "opi_xform.ownership.lazy_tests",
        "any(a.inside or a.kept for a in allocations)",
        "any(a.inside for a in allocations)",
        ("busy_lazy",),
        condition="allocation and free",
    ),
    Bug(
        "a function that hands out memory only looks",
        _HANDED,
        "return _only_looks(program, flow, frames, allocation, o, path[0])",
        "return True",
        ("parts_handed_counted", "parts_handed_limit"),
        condition="rows and parts",
    ),
    Bug(
        "how much is asked for changes nothing",
        _HANDED,
        "if any(depends(frame, e) for e in evaluated(action)):",
        "if False:",
        ("parts_handed_limit",),
        condition="rows and parts",
    ),
)
