"""The families of scenarios; each makes one function of a random program, with storage and helpers of its own."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.fuzz.meeting import meeting
from tests.fuzz.mixtures import counted, dispatched, initial, nobody, remembered, turning, typed
from tests.fuzz.shapes.changed_by_others import carried, changed
from tests.fuzz.shapes.data import append, cursor, members, parts
from tests.fuzz.shapes.filled import filled, together
from tests.fuzz.shapes.flow import leaving, nest, relayed, wrapped
from tests.fuzz.shapes.growing import growing
from tests.fuzz.shapes.memory import mapped, rowed, scarce, turned
from tests.fuzz.shapes.modes import modes
from tests.fuzz.shapes.null_pointers import absent, sided
from tests.fuzz.shapes.parts import divided
from tests.fuzz.shapes.proc_null import failing, somewhere
from tests.fuzz.shapes.products import product
from tests.fuzz.shapes.requests import doubled, probed, requests
from tests.fuzz.shapes.second_names import second, twins
from tests.fuzz.shapes.swaps import exchanged

Family = Callable[[random.Random, str], str]

FAMILIES: tuple[Family, ...] = (
    members, append, cursor, nest, wrapped, requests, probed, leaving, doubled, parts, relayed, *[meeting] * 16,
    *(counted, turning, nobody, initial, dispatched, twins, second, divided, filled, together, modes, growing) * 2,
    *(absent, sided, exchanged, changed, carried, somewhere) * 2, remembered, typed,
    failing, mapped, scarce, rowed, turned, product, product,
)  # fmt: skip

NAMED: dict[str, Family] = {family.__name__: family for family in FAMILIES}
