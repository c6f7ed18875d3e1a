"""All diagnostic codes: those of the reasons to keep a site (``opi_xform/codes.py``), and the others.

Codes are stable: one that is no longer used keeps its number and its page.
"""

from __future__ import annotations

from opi_xform.codes import Code, Reason
from opi_xform.resources import resource

_OTHERS = (
    # Matching sends with receives.
    Code("OPI301", "one side of the channel converts", "The other side keeps its MPI call, so one copy remains."),
    # Variables that ranks of one process would share (--privatize).
    Code(
        "OPI501",
        "declaration cannot be changed",
        "The variable's declaration cannot be given another storage class, or be followed by another.",
    ),
    Code("OPI502", "visible outside", "Code that was not given may use the variable, or defines it."),
    Code(
        "OPI503",
        "use cannot be changed",
        "With --privatize=struct every use of the variable is written another way, and one cannot be.",
    ),
    Code(
        "OPI504",
        "initialiser cannot be moved",
        "The variable starts with the address of a private one, which no constant can be.",
    ),
    Code(
        "OPI505",
        "used by threads of the program",
        "Threads of the program's own, or a signal handler, may use the variable.",
    ),
    Code(
        "OPI506",
        "named in assembly or an attribute",
        "Inline assembly, an attribute or a pragma speaks of the variable by its name.",
    ),
    Code(
        "OPI507",
        "its address is held by one that is shared",
        "A variable that stays shared starts with the address of this one.",
    ),
    Code(
        "OPI511",
        "hidden state of the C library",
        "A function of the C library keeps state of its own, which all ranks of a process share.",
    ),
    Code("OPI512", "belongs to the process", "The call changes, or asks for, something of the whole process."),
    Code(
        "OPI513",
        "variable of a library",
        "The variable belongs to the C library, and all ranks of a process share it.",
    ),
    Code(
        "OPI514",
        "callback uses a private variable",
        "A library may run the function for another rank than the one whose variable it is to use.",
    ),
    Code("OPI515", "threads of its own", "The program starts threads, which belong to no rank."),
    # Input and output.
    Code("OPI901", "parse error", "A source file does not compile, so nothing was analysed."),
    Code("OPI902", "no input", "What was named is no C source, or does not exist."),
    Code("OPI903", "self-check failed", "The transformed program does not parse; nothing was written."),
    Code("OPI904", "output", "The output cannot be written; nothing was."),
    Code("OPI905", "warning", "The front end has a remark about the source."),
    Code("OPI906", "output out of date", "A file of the output is not what the sources give now."),
    Code("OPI907", "comment that does not hold", "An `opi:` comment is unmet, unused or not understood."),
    Code("OPI908", "comment or entry without effect", "What a comment or opi.toml says does not apply."),
    Code("OPI909", "compiled more than once", "A source file is compiled more than once, with flags that differ."),
)

DISAGREE = Reason.PATTERN.send.code
"""Of a site that liveness lets convert, and the pattern tables do not; ``-v`` lists them."""

_REASONS = (code for reason in Reason for code in (reason.send, reason.recv))
CODES = {code.code: code for code in sorted((*_REASONS, *_OTHERS), key=lambda code: code.code)}


def page(code: str) -> str | None:
    """The documentation page of a code (Markdown); None when there is no such code.  Raises FileNotFoundError."""
    known = CODES.get(code.upper())
    if known is None:
        return None
    return resource("docs", "codes", f"{known.code}.md").read_text(encoding="utf-8")
