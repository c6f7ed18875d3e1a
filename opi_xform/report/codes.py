"""The one registry of diagnostic codes.  Codes are stable: one that is no longer used keeps its number and its page."""

from __future__ import annotations

from dataclasses import dataclass

from opi_xform.resources import resource


@dataclass(frozen=True, slots=True)
class Code:
    """``title`` names it in tables and pages; ``meaning`` is one sentence about the program."""

    code: str
    title: str
    meaning: str


_CODES = (
    # Send side: why the buffer of a send is not given away.
    Code("OPI101", "read after send", "A byte written before the send may be read after it."),
    Code(
        "OPI102",
        "sent in place",
        "Could not show that each byte that is sent was written since the buffer was last handed over.",
    ),
    Code("OPI103", "buffer escapes", "The buffer's address may go where the analysis cannot follow."),
    Code("OPI104", "no carrier", "Could not show that one variable alone names the buffer at the send."),
    Code(
        "OPI105", "pointer used across the hand-over", "A pointer into the buffer may be older than its next acquire."
    ),
    Code("OPI106", "another request pending", "Another operation on the buffer may not be complete yet."),
    Code("OPI107", "form of call not converted", "This MPI call, or its datatype, has no ownership-passing form."),
    Code("OPI108", "small message", "The message always travels inline: nothing would be gained."),
    Code("OPI109", "written by a macro", "The call or declaration is produced by a macro body and cannot be edited."),
    Code("OPI110", "initial contents used", "The zeros or the initialiser of the buffer may be read or sent."),
    Code("OPI111", "not analysed", "The call is not reached from main, or its function is beyond the analysis."),
    Code("OPI112", "visible outside", "Code that was not given, or another configuration, may use the buffer."),
    Code("OPI113", "declaration cannot become a pointer", "The buffer's declaration or use depends on its array type."),
    Code(
        "OPI114",
        "no place for OPI_Alloc",
        "No point in the program was found that can hold the OPI_Alloc that the send needs.",
    ),
    Code("OPI115", "calls do not pair up", "The buffer cannot be followed from OPI_Alloc to its end on every path."),
    Code("OPI117", "kept on request", "A comment at the call says that it is to stay."),
    Code("OPI118", "smaller than --min-bytes", "The messages have fewer bytes than --min-bytes asks for."),
    # Receive side: why the buffer of a receive is not taken.
    Code(
        "OPI201", "live data beside the message", "Bytes that the message does not bring may still be needed after it."
    ),
    Code("OPI202", "read beyond the message", "Bytes beyond those received may be read after the receive."),
    Code("OPI203", "source may be MPI_PROC_NULL", "Nothing may arrive, and the old contents may be read then."),
    Code("OPI204", "no carrier", "Could not show that one variable alone names the buffer at the receive."),
    Code("OPI205", "pointer used across the hand-over", "A pointer into the buffer may be older than the receive."),
    Code("OPI206", "another request pending", "Another operation on the buffer may not be complete yet."),
    Code("OPI207", "form of call not converted", "This MPI call, or its datatype, has no ownership-passing form."),
    Code("OPI208", "small message", "The message always travels inline: nothing would be gained."),
    Code("OPI209", "written by a macro", "The call or declaration is produced by a macro body and cannot be edited."),
    Code("OPI210", "initial contents used", "The zeros or the initialiser of the buffer may be read."),
    Code("OPI211", "not analysed", "The call is not reached from main, or its function is beyond the analysis."),
    Code("OPI212", "visible outside", "Code that was not given, or another configuration, may use the buffer."),
    Code("OPI213", "declaration cannot become a pointer", "The buffer's declaration or use depends on its array type."),
    Code("OPI214", "buffer escapes", "The buffer's address may go where the analysis cannot follow."),
    Code(
        "OPI215",
        "no place for OPI_Free",
        "No point in the program was found that can hold the OPI_Free that the receive needs.",
    ),
    Code("OPI216", "access beyond the capacity taken", "More of the buffer may be used than the receive asks for."),
    Code("OPI217", "kept on request", "A comment at the call says that it is to stay."),
    Code("OPI218", "smaller than --min-bytes", "The messages have fewer bytes than --min-bytes asks for."),
    # Matching sends with receives.
    Code("OPI301", "one side of the channel converts", "The other side keeps its MPI call, so one copy remains."),
    # Regions and aliases.
    Code("OPI401", "analysis budget exceeded", "A region was too complicated; it counts as the whole buffer."),
    Code("OPI402", "pointer to several buffers", "The pointer may stand for more than one buffer here."),
    Code("OPI403", "unknown function", "A function without source or effects may receive the buffer."),
    Code("OPI404", "volatile or atomic", "The buffer is volatile or _Atomic: others may touch it at any time."),
    Code("OPI405", "used concurrently", "A parallel region, another thread or a signal handler may use the buffer."),
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
    Code(
        "OPI910",
        "two analyses disagree",
        "By its live bytes the call could pass ownership; by the pattern of use it could not.",
    ),
)

DISAGREE = "OPI910"
"""Of a site that liveness lets convert, and the pattern tables do not; ``-v`` lists them."""

CODES = {code.code: code for code in _CODES}


def page(code: str) -> str | None:
    """The documentation page of a code (Markdown); None when there is no such code.  Raises FileNotFoundError."""
    known = CODES.get(code.upper())
    if known is None:
        return None
    return resource("docs", "codes", f"{known.code}.md").read_text(encoding="utf-8")
