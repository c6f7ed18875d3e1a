"""How large a program the analysis takes on: it always ends, in the memory of a desktop computer.

Every function is analysed once for each way that leads to it, so what counts is not the text but its copies.  These
numbers are counts, not times: the same program is refused on every machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

NODES = 150_000  # instructions in the program graph, of all copies of functions
COPIED = 100_000  # from which on functions that no message needs are not copied (``summaries.py``)
SUMMARISED = 30_000  # how many are to be left then
GROUP = 20_000  # how many a group of functions may have that is looked at by itself (``islands.py``)
ROOTED = 60_000  # and how many with all ways to it from main
ALL_ROOTED = 120_000  # from how many on, of all such groups together, no other one is looked at
HANDLED = 100_000  # how many are to be left where functions are left out although they use messages' buffers
ACCESSES = 40_000_000  # objects that instructions may touch, all together; a set of them is stored once
REASONS = 3_000_000  # items that the sweeps come to which only reasons ask for (``liveness/asked.py``): a minute or two
CUT_OFF = 50_000  # as how many a sweep counts that integer sets cut off
INCLUSIONS = 20_000_000  # objects that one set of what a pointer points to hands on to another


COPIES = "functions are analysed once for each way that leads to them"
POINTERS = "what its pointers may lead to was not found"
TOUCHED = "too many of its instructions may touch too much"


class TooLargeError(Exception):
    """A program is beyond the budget.

    why: of what.  most: the function that was copied most often.  copies: how often.
    """

    def __init__(self, functions: Sequence[str], why: str = COPIES) -> None:
        """functions: of each copy."""
        self.why = why
        ((self.most, self.copies),) = Counter(functions).most_common(1)
        super().__init__(f"`{self.most}` was copied {self.copies} times")
