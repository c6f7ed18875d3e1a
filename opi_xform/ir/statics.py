"""Variables of static storage as they are written and used: what making them private needs of one translation unit.

Unlike the rest of the IR this is complete: every declaration and every use is here, those in code that no analysis
understands too, and uses that the compiler never evaluates.
"""

from __future__ import annotations

from collections.abc import Mapping

from opi_xform.ir.ast import Skipped
from opi_xform.ir.span import Span
from opi_xform.ir.types import Type
from opi_xform.record import dataclass

Place = tuple[str, int]
"""A file and a byte offset."""


@dataclass(frozen=True, slots=True)
class Declared:
    """One written declaration of a variable.

    name: where its name stands.  statement: the whole declaration that it is part of (of one made by a macro: the
    macro's use).  specifier: the offset at which a storage class can be inserted, -1 where a macro is in the way.
    after: the offset after the declaration, its ``;`` included, -1 likewise.  init: the initialiser, where it is
    written plainly; suffix: what stands between name and initialiser.
    plain: no macro makes any of it.  bare: the parent is no block (``for (…``, a label of a ``switch``).
    with_function: the same declaration declares a function.  crowded: one use of a macro makes several declarations.
    """

    name: Span
    statement: Span
    specifier: int
    after: int
    storage: str
    definition: bool
    has_init: bool
    plain: bool
    system: bool
    specifiers: str = ""
    suffix: Span | None = None
    init: Span | None = None
    bare: str = ""
    with_function: bool = False
    crowded: bool = False


@dataclass(frozen=True, slots=True)
class Static:
    """A variable of static storage.

    kind: ``extern``, ``static`` or ``local-static``; function: the key of the function that declares it ('' at file
    scope).  holds: the variables whose addresses its initialiser takes.  literal: its initialiser makes an unnamed
    object (a compound literal).  flexible: it is a struct that ends in an array without a size.
    """

    key: str
    name: str
    kind: str
    type: Type
    function: str
    thread_local: bool
    declared: tuple[Declared, ...]
    holds: tuple[str, ...] = ()
    literal: bool = False
    flexible: bool = False

    @property
    def defined(self) -> bool:
        return any(d.definition for d in self.declared)


@dataclass(frozen=True, slots=True)
class Use:
    """One use of a variable.

    what: ``read``, ``write``, ``address`` (or not understood), ``sizeof`` (not evaluated; ``alone`` when the variable,
    or a part of it, is the whole operand), ``type`` (not evaluated: in a ``typeof``) or ``init`` (in the initialiser of
    one of static storage, ``holder``).
    span: the name; where a macro's body makes it, that of the macro's use, with ``macro`` its name.
    quoted: it is also turned into text, or pasted, by a macro.
    """

    key: str
    what: str
    span: Span
    function: str
    holder: str = ""
    alone: bool = False
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Routine:
    """A function with a body, as far as who runs it matters.

    named: functions of the program or outside that it calls or takes the address of.  taken: those whose address it
    takes.  indirect: it calls through a pointer.  parallel: it has a parallel region of OpenMP's.  labels: it can be
    entered in the middle by a jump.  constructor: it runs before main.
    """

    key: str
    span: Span
    named: tuple[str, ...]
    taken: tuple[str, ...]
    indirect: bool
    parallel: bool
    labels: bool
    constructor: bool


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call of a function by its name; ``passed``: the functions that are named in its arguments."""

    name: str
    span: Span
    function: str
    passed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Statics:
    """All of one unit.  types: of the functions it names.  words: identifiers in strings of inline assembly and of
    attributes, and in pragmas.  others: where each name stands for something that is no variable of static storage.
    """

    path: str
    variables: Mapping[str, Static]
    uses: tuple[Use, ...]
    routines: Mapping[str, Routine]
    calls: tuple[CallSite, ...]
    types: Mapping[str, Type]
    words: frozenset[str]
    others: Mapping[str, frozenset[Place]]
    skipped: tuple[Skipped, ...]
    files: tuple[str, ...]
    taken: tuple[str, ...] = ()
