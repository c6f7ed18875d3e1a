"""The reasons to keep a site, each with its stable codes.

A reason is found by a condition, whose file in ``ownership/conditions`` has its title and what it means.
"""

from __future__ import annotations

from enum import Enum


class Reason(Enum):
    """Why a site stays: the code of a send and that of a receive, then what a refusal of it says."""

    READ_LATER = ("OPI101", "OPI201", "bytes that would be gone are needed after the call")
    OLD_BYTES = ("OPI102", "OPI202", "nobody has written these bytes since the last hand-over; no message brings them")
    NULL_SOURCE = ("OPI103", "OPI203", "from MPI_PROC_NULL nothing comes")
    CARRIER = ("OPI104", "OPI204", "no one variable is known to name the start of the buffer")
    OLD_ADDRESS = ("OPI105", "OPI205", "another value made of the address is older than a hand-over")
    PENDING = ("OPI106", "OPI206", "another operation on the buffer, or the site's own, is not complete")
    CALL_FORM = ("OPI107", "OPI207", "the call or its datatype has no ownership-passing form")
    SMALL = ("OPI108", "OPI208", "the message travels in the envelope")
    MACRO = ("OPI109", "OPI209", "a macro's body writes the text")
    FIRST_CONTENTS = ("OPI110", "OPI210", "what is there from the start is used")
    NOT_ANALYSED = ("OPI111", "OPI211", "the call is not reached, or stands in what is not followed")
    OUTSIDE = ("OPI112", "OPI212", "text that is not analysed may use the buffer")
    DECLARATION = ("OPI113", "OPI213", "the declaration cannot become one of a pointer")
    NO_ANCHOR = ("OPI114", "OPI215", "no statement can hold a call that is needed")
    UNPAIRED = ("OPI115", "OPI215", "the calls do not pair up on every path")
    CAPACITY = ("OPI116", "OPI216", "more is touched than the receive makes room for")
    REQUESTED = ("OPI117", "OPI217", "a comment asks to keep the call")
    FEW_BYTES = ("OPI118", "OPI218", "the message is smaller than --min-bytes")
    ESCAPE = ("OPI103", "OPI214", "the address goes where the analysis cannot follow")
    ENTERED_AGAIN = ("OPI103", "OPI214", "the function may be entered once more while it runs")
    BUDGET = ("OPI401", "OPI401", "too large to be computed")
    SEVERAL_BUFFERS = ("OPI402", "OPI402", "the pointer may stand for more than one buffer")
    UNKNOWN_FUNCTION = ("OPI403", "OPI403", "a function without source or effects has the buffer")
    VOLATILE = ("OPI404", "OPI404", "the buffer is volatile or atomic")
    CONCURRENT = ("OPI405", "OPI405", "others run at the same time and may use the buffer")
    PATTERN = ("OPI910", "OPI910", "the pattern table of its side does not allow what leads on from the site")

    def __init__(self, send: str, recv: str, what: str) -> None:
        self.send = send
        self.recv = recv
        self.what = what

    def code(self, side: str) -> str:
        """The code of a site of this side, ``send`` or ``recv``."""
        return self.recv if side == "recv" else self.send

    @property
    def codes(self) -> frozenset[str]:
        """Both codes."""
        return frozenset((self.send, self.recv))
