"""Bugs in what the front end says of atomic operations."""

from tests.machines.planted.bug import Bug
from tests.machines.planted.messages.conditions import APART

_ATOMICS = "opi_xform.frontend.lower.atomics"
_EXPRESSIONS = "opi_xform.frontend.lower.exprs"

BUGS = (
    Bug(
        "an expression of four parts is a conditional without its middle",
        _EXPRESSIONS,
        "if len(kids) == 4 and len({(tree.raw_begin[k], tree.raw_end[k]) for k in kids[:3]}) == 1:",
        "if len(kids) == 4:",
        ("atomic_builtin_read",),
        also=APART,
        condition="read after send",
    ),
    Bug(
        "an atomic exchange reads nothing",
        _ATOMICS,
        'Assign(own, span, "+", place, value)',
        "put(place, value)",
        ("atomic_builtin_old",),
        condition="read after send",
    ),
    Bug(
        "an atomic operation changes no number",
        _ATOMICS,
        '    return both(changed, put(through("r"), place) if "r" in found else place)\n',
        "    return place if changed else place\n",
        ("atomic_builtin_count",),
        condition="values",
    ),
    Bug(
        "an atomic comparison leaves what it expected",
        _ATOMICS,
        'both(put(through("e"), place), no) if "e" in found else no',
        "no",
        ("atomic_builtin_expected",),
        condition="values",
    ),
    Bug(
        "the place of an atomic operation may be evaluated twice whatever it does",
        _ATOMICS,
        "    return all(isinstance(x, _PLAIN) for x in within(e))\n",
        "    return True\n",
        ("atomic_once",),
        condition="values",
    ),
    Bug(
        "a macro in a directive means what its last definition says",
        "opi_xform.frontend.macros.expansions",
        "        return bodies.pop() if len(bodies) == 1 else None\n",
        '        return ("schedule", "(", "static", ")") if bodies else None\n',
        ("omp_clause_twice", "omp_clause_macro"),
        condition="OpenMP threads",
    ),
    Bug(
        "threads may do atomic operations that are built in",
        "opi_xform.program.threads",
        '    if e.type.atomic:\n        return "uses an _Atomic variable"\n',
        "",
        ("omp_builtin_atomic",),
        condition="OpenMP threads",
    ),
)
