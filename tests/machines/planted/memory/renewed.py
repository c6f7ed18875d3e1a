"""Buffers that get new memory where nothing that they hold is needed any more."""

from tests.machines.planted.bug import Bug

_RENEWAL = "opi_xform.ownership.placement.renewal"

BUGS = (
    Bug(
        "what a buffer holds is not needed where it gets new memory",
        _RENEWAL,
        "if ways and all(u in dead or v in idle & dead for u, v in ways)}",
        "if ways}",
        ("renewed_first_kept", "renewed_again_in_the_loop"),
        condition="capacity",
    ),
    Bug(
        "it is not needed there in any copy of the function",
        _RENEWAL,
        "if ways and all(u in dead or v in idle & dead for u, v in ways)}",
        "if any(u in dead or v in idle & dead for u, v in ways)}",
        ("renewed_in_one_call",),
        condition="capacity",
    ),
    Bug(
        "no operation uses the memory that is freed there",
        _RENEWAL,
        "if program.values.accesses.touches(n, mine):",
        "if False:",
        ("renewed_pending",),
        condition="capacity",
    ),
)
