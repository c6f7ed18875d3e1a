"""The families of scenarios; each makes one function of a random program, with storage and helpers of its own."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.machines.fuzz.meeting import meeting
from tests.machines.fuzz.mixtures import counted, dispatched, initial, nobody, remembered, turning, typed
from tests.machines.fuzz.shapes.changed_by_others import carried, changed
from tests.machines.fuzz.shapes.data import append, cursor, members, parts
from tests.machines.fuzz.shapes.filled import filled, together
from tests.machines.fuzz.shapes.flow import leaving, nest, relayed, wrapped
from tests.machines.fuzz.shapes.growing import growing
from tests.machines.fuzz.shapes.memory import mapped, rowed, scarce, turned
from tests.machines.fuzz.shapes.modes import modes
from tests.machines.fuzz.shapes.null_pointers import absent, sided
from tests.machines.fuzz.shapes.parts import divided
from tests.machines.fuzz.shapes.proc_null import failing, somewhere
from tests.machines.fuzz.shapes.products import product
from tests.machines.fuzz.shapes.requests import doubled, probed, requests
from tests.machines.fuzz.shapes.second_names import second, twins
from tests.machines.fuzz.shapes.swaps import exchanged

Family = Callable[[random.Random, str], str]

FAMILIES: tuple[Family, ...] = (
    members, append, cursor, nest, wrapped, requests, probed, leaving, doubled, parts, relayed, *[meeting] * 16,
    *(counted, turning, nobody, initial, dispatched, twins, second, divided, filled, together, modes, growing) * 2,
    *(absent, sided, exchanged, changed, carried, somewhere) * 2, remembered, typed,
    failing, mapped, scarce, rowed, turned, product, product,
)  # fmt: skip

NAMED: dict[str, Family] = {family.__name__: family for family in FAMILIES}
