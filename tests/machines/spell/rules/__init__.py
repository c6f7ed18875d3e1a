"""The rewritings, a module for each kind or two."""

from tests.machines.spell.rules import (
    bounds,
    calls,
    conditions,
    declarations,
    files,
    flow,
    helpers,
    loops,
    memory,
    operands,
    requests,
    subscripts,
    temporaries,
    walks,
)

__all__ = [
    "bounds",
    "calls",
    "conditions",
    "declarations",
    "files",
    "flow",
    "helpers",
    "loops",
    "memory",
    "operands",
    "requests",
    "subscripts",
    "temporaries",
    "walks",
]
