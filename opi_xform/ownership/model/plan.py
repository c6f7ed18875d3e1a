"""What the analyses decide, before it is text: decisions for people, edits for the rewriter.

Every edit names its place by spans of the IR, never by text; an edit list applies whole or not at all.
"""

from __future__ import annotations

from dataclasses import field

from opi_xform.ir.span import Span
from opi_xform.record import dataclass

SiteKey = tuple[str, int, str]
"""A site in the source: file, offset of the call, side."""


@dataclass(frozen=True, slots=True)
class Told:
    """A comment about the statement at bytes ``[begin, end)`` of a file (``spelling/comments.py``).

    what: ``keep``, or ``packed`` with the ``name`` of a buffer, or ``disjoint`` with two names (``a,b``).  span: where
    the comment stands.
    """

    what: str
    name: str
    file: str
    begin: int
    end: int
    span: Span


@dataclass(frozen=True, slots=True)
class Note:
    """One step of the path that decides a site."""

    span: Span
    message: str


@dataclass(frozen=True, slots=True)
class Advice:
    """A change of the source with which a reason would not be there.

    kind: ``pack`` (all of the message is written right before the call), ``write`` (the same, once), ``other`` (the
    calls in ``spans`` have another buffer), ``move`` (what is in ``spans`` comes before the send), ``guard`` (what is
    in ``spans``, else the call, is done only where the source is not MPI_PROC_NULL), ``receive`` (only what came is
    read), ``wait`` (for the request of the first span, before the second) or ``end`` (the test in ``spans`` ends the
    program) or ``within`` (so does what the `if` with that test does).  words: how it is told.
    """

    kind: str
    words: str
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """What happens to one buffer use of one MPI call (docs/schema/report-1.json: one JSON ``site``).

    side: ``send`` or ``recv``.  decision: ``convert`` or ``keep``.  code: ``OPInnn`` ('' when nothing needs
    explaining). span is that of the call; ``buffer`` is the expression as written; ``object`` names the buffer behind
    it.  form: the code that its buffer's form has, where a deeper reason is told.  advice: with which it converts.
    """

    span: Span
    function: str
    call: str
    side: str
    buffer: str
    object: str
    decision: str
    code: str
    message: str
    notes: tuple[Note, ...] = ()
    assumptions: tuple[str, ...] = ()
    form: str = ""
    advice: Advice | None = None


@dataclass(frozen=True, slots=True)
class ReplaceCall:
    """Another callee, and ``&`` put before the arguments in ``address_of``.

    ``address_of``: (span of the argument expression as written, text that replaces it); ``MPI_Sendrecv`` has up to two.
    """

    callee: Span
    name: str
    arguments: tuple[tuple[Span, str], ...]


@dataclass(frozen=True, slots=True)
class PointerDeclaration:
    """Every declarator of an array variable becomes a pointer: ``double b[8][N]`` to ``double (*b)[N]`` or ``double
    *b[8]``.

    name_span/suffix of one declarator: ``keep_dims`` leading dimensions stay an array of pointers (0: a plain pointer);
    the next dimension disappears; the remaining ones become the pointee's.  ``null_init``: the pointer is given ``=
    NULL`` (a local one) or ``= {NULL}`` (an array of pointers); the old initialiser, if any, goes.
    """

    declarator_name: Span
    suffix: Span
    init: Span | None
    declarator: Span
    statement: Span
    keep_dims: int
    null_init: bool


@dataclass(frozen=True, slots=True)
class InsertStatement:
    """``text`` (one or more whole statements) before or after the statement at ``anchor``.

    ``where``: ``before``, ``after``, ``end`` (before the closing brace of the block at ``anchor``) or ``begin``.
    ``wrap``: the anchor is the body of an if or loop without braces, so braces are put around the two.
    Several insertions at one place keep the order of the plan.
    """

    anchor: Span
    where: str
    text: str
    wrap: bool = False


@dataclass(frozen=True, slots=True)
class ReplaceText:
    """The bytes of ``span`` become ``text`` ('' deletes them; a statement deleted alone on its line takes the line
    along).
    """

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Guard:
    """The old name of a variable becomes that of a byte which no other file can link with (``ir/link_guard.py``).

    statement: the declaration after which it stands.  header: that is in a header, and so in several files.
    """

    statement: Span
    name: str
    header: bool = False


@dataclass(frozen=True, slots=True)
class LinkName:
    """The variable declared here gets ``link`` as its name for the linker.

    Of the declarator: its name, and what stands between that and the initialiser (None: nothing).  guard: what is put
    after it, in one of the declarations.
    """

    declarator_name: Span
    suffix: Span | None
    link: str
    guard: Guard | None = None


@dataclass(frozen=True, slots=True)
class StopOthers:
    """An ``#error`` before text of ``span``, which another configuration compiles, that names ``name``."""

    span: Span
    name: str


Edit = StopOthers | ReplaceCall | PointerDeclaration | LinkName | InsertStatement | ReplaceText


@dataclass(frozen=True, slots=True)
class Plan:
    """Decisions in source order, and the edits that carry them out.  ``needs_header``: files that must include
    ``header``, which is ``opi.h`` or, in a program with another file of that name, what stands for it.
    """

    decisions: tuple[Decision, ...]
    edits: tuple[Edit, ...] = ()
    needs_header: tuple[str, ...] = ()
    diagnostics: tuple[Decision, ...] = field(default=())
    header: str = "opi.h"
