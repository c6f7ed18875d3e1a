"""The reasons to keep a site, each with its codes, which are stable.

``ownership/conditions`` has a file for what finds each.  The words are here, and not there, so that nothing but them
is loaded by who only shows them (``--explain``, the completion of shells).
"""

from __future__ import annotations

from enum import Enum

from opi_xform.record import dataclass


@dataclass(frozen=True, slots=True)
class Code:
    """``title`` names it in tables and pages; ``meaning`` is one sentence about the program."""

    code: str
    title: str
    meaning: str


def _both(send: str, recv: str, title: str, meaning: str) -> tuple[Code, Code]:
    return Code(send, title, meaning), Code(recv, title, meaning)


_READ_AFTER_SEND = Code("OPI101", "read after send", "A byte written before the send may be read after it.")
_ESCAPES_SEND = Code("OPI103", "buffer escapes", "The buffer's address may go where the analysis cannot follow.")
_ESCAPES_RECV = Code("OPI214", "buffer escapes", "The buffer's address may go where the analysis cannot follow.")
_NO_FREE = Code(
    "OPI215",
    "no place for OPI_Free",
    "No point in the program was found that can hold the OPI_Free that the receive needs.",
)


class Reason(Enum):
    """Why a site stays: the code of a send, and that of a receive.

    Where one call sends and receives by one buffer, its send may stay for what the receive would lose: OPI101.
    """

    READ_LATER = (
        _READ_AFTER_SEND,
        Code(
            "OPI201",
            "live data beside the message",
            "Bytes that the message does not bring may still be needed after it.",
        ),
    )
    OLD_BYTES = (
        Code(
            "OPI102",
            "sent in place",
            "Could not show that each byte that is sent was written since the buffer was last handed over.",
        ),
        Code("OPI202", "read beyond the message", "Bytes beyond those received may be read after the receive."),
    )
    NULL_SOURCE = (
        _READ_AFTER_SEND,
        Code("OPI203", "source may be MPI_PROC_NULL", "Nothing may arrive, and the old contents may be read then."),
    )
    CARRIER = (
        Code("OPI104", "no carrier", "Could not show that one variable alone names the buffer at the send."),
        Code("OPI204", "no carrier", "Could not show that one variable alone names the buffer at the receive."),
    )
    OLD_ADDRESS = (
        Code(
            "OPI105",
            "pointer used across the hand-over",
            "A pointer into the buffer may be older than its next acquire.",
        ),
        Code("OPI205", "pointer used across the hand-over", "A pointer into the buffer may be older than the receive."),
    )
    PENDING = _both(
        "OPI106", "OPI206", "another request pending", "Another operation on the buffer may not be complete yet."
    )
    CALL_FORM = _both(
        "OPI107",
        "OPI207",
        "form of call not converted",
        "This MPI call, or its datatype, has no ownership-passing form.",
    )
    SMALL = _both("OPI108", "OPI208", "small message", "The message always travels inline: nothing would be gained.")
    MACRO = _both(
        "OPI109",
        "OPI209",
        "written by a macro",
        "The call or declaration is produced by a macro body and cannot be edited.",
    )
    FIRST_CONTENTS = (
        Code("OPI110", "initial contents used", "The zeros or the initialiser of the buffer may be read or sent."),
        Code("OPI210", "initial contents used", "The zeros or the initialiser of the buffer may be read."),
    )
    NOT_ANALYSED = _both(
        "OPI111", "OPI211", "not analysed", "The call is not reached from main, or its function is beyond the analysis."
    )
    OUTSIDE = _both(
        "OPI112", "OPI212", "visible outside", "Code that was not given, or another configuration, may use the buffer."
    )
    DECLARATION = _both(
        "OPI113",
        "OPI213",
        "declaration cannot become a pointer",
        "The buffer's declaration or use depends on its array type.",
    )
    NO_ANCHOR = (
        Code(
            "OPI114",
            "no place for OPI_Alloc",
            "No point in the program was found that can hold the OPI_Alloc that the send needs.",
        ),
        _NO_FREE,
    )
    UNPAIRED = (
        Code(
            "OPI115", "calls do not pair up", "The buffer cannot be followed from OPI_Alloc to its end on every path."
        ),
        _NO_FREE,
    )
    CAPACITY = (
        _READ_AFTER_SEND,
        Code("OPI216", "access beyond the capacity taken", "More of the buffer may be used than the receive asks for."),
    )
    REQUESTED = _both("OPI117", "OPI217", "kept on request", "A comment at the call says that it is to stay.")
    FEW_BYTES = _both(
        "OPI118", "OPI218", "smaller than --min-bytes", "The messages have fewer bytes than --min-bytes asks for."
    )
    ESCAPE = (_ESCAPES_SEND, _ESCAPES_RECV)
    ENTERED_AGAIN = (_ESCAPES_SEND, _ESCAPES_RECV, "the function that uses it may be entered once more meanwhile")
    BUDGET = _both(
        "OPI401", "OPI401", "analysis budget exceeded", "A region was too complicated; it counts as the whole buffer."
    )
    SEVERAL_BUFFERS = _both(
        "OPI402", "OPI402", "pointer to several buffers", "The pointer may stand for more than one buffer here."
    )
    UNKNOWN_FUNCTION = _both(
        "OPI403", "OPI403", "unknown function", "A function without source or effects may receive the buffer."
    )
    VOLATILE = _both(
        "OPI404", "OPI404", "volatile or atomic", "The buffer is volatile or _Atomic: others may touch it at any time."
    )
    CONCURRENT = _both(
        "OPI405",
        "OPI405",
        "used concurrently",
        "A parallel region, another thread or a signal handler may use the buffer.",
    )
    PATTERN = _both(
        "OPI910",
        "OPI910",
        "two analyses disagree",
        "By its live bytes the call could pass ownership; by the pattern of use it could not.",
    )

    def __init__(self, send: Code, recv: Code, kind: str = "") -> None:
        """kind: what tells it from another reason of the same codes."""
        self.send = send
        self.recv = recv
        self.kind = kind

    def code(self, side: str) -> str:
        """The code of a site of this side, ``send`` or ``recv``."""
        return (self.recv if side == "recv" else self.send).code

    @property
    def codes(self) -> frozenset[str]:
        """Both codes."""
        return frozenset((self.send.code, self.recv.code))
