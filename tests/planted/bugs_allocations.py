"""Bugs in what is known of allocations: several that count as one, and functions that do nothing but allocate."""

from tests.planted.bug import Bug

_ALLOCATIONS = "opi_xform.ownership.allocations"
_EVALUATE = "opi_xform.memory.evaluate"
_OUTPARAMS = "opi_xform.program.outparams"
_SUCCESSIVE = "opi_xform.memory.successive"

ALLOCATIONS = (
    Bug(
        "memory from two places is there one at a time",
        _SUCCESSIVE,
        "if n in self.nodes and state is not None:",
        "if False:",
        ("regrow_flag",),
        condition="one at a time",
    ),
    Bug(
        "freed memory is the one that is there now",
        _EVALUATE,
        "if len(bases) == 2 and all(len(self.objects.table[o].nodes) > 1 for o in bases):",
        "if False:",
        ("regrow_moved",),
        condition="one at a time",
    ),
    Bug(
        "nobody else has the address of a pointer that a function sets",
        _OUTPARAMS,
        "if taken[key] == n and key in known",
        "if key in known",
        ("out_parameter_known",),
        condition="set by a function",
    ),
    Bug(
        "a function that sets a pointer does not name it",
        _OUTPARAMS,
        "return None if argument.key in found.names else (found, argument.key)",
        "return found, argument.key",
        ("out_parameter_named",),
        condition="set by a function",
    ),
    Bug(
        "a function that allocates changes nothing but its own variables",
        _ALLOCATIONS,
        "case ins.Load() | ins.Store() if _own_variable(program, n, frame):",
        "case ins.Load() | ins.Store():",
        ("memalign_counted",),
        condition="allocation and free",
    ),
)
