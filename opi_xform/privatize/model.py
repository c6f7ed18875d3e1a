"""What is decided of a program's variables, before it is text."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from opi_xform.ir.span import Span
from opi_xform.ir.statics import Declared, Static, Use
from opi_xform.ownership.model.plan import Decision
from opi_xform.record import dataclass

TLS, STRUCT = "tls", "struct"
FORMS = (TLS, STRUCT)
PREFIX = "opi_rank_"
"""Names that a program made private has in addition: these are the same in all such programs."""
MINE = "opi_mine_"
"""And these end in a variable's name; ``opi_mine_of_x`` describes ``x``."""
DESCRIPTOR = f"{MINE}of_"


def generated(static: Static) -> bool:
    """Whether a variable is one that ``--privatize`` wrote; all ranks may share those, or they are private."""
    if not static.name.startswith((PREFIX, MINE, f"__start_{PREFIX}", f"__stop_{PREFIX}")):
        return False
    return static.thread_local or static.type.const or PREFIX in static.type.spelling


DECLARATION = "OPI501"
OUTSIDE = "OPI502"
USE = "OPI503"
INITIALISER = "OPI504"
OTHERS = "OPI505"
NAMED = "OPI506"
HELD = "OPI507"
STATE = "OPI511"
PROCESS = "OPI512"
LIBRARY = "OPI513"
CALLBACK = "OPI514"
THREADS = "OPI515"


@dataclass(frozen=True, slots=True)
class Settings:
    """form: ``tls`` or ``struct``.  root: edits may reach no file outside.  named: how a file is told to people.

    original: the real name of a file that was parsed.
    """

    form: str
    root: str
    original: Callable[[str], str]
    named: Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable of the program, in all files: those that share a declaration's text are one.

    units: by number of the unit, the key there.  done: it is private already.
    """

    key: str
    name: str
    parts: tuple[tuple[int, Static], ...]
    uses: tuple[Use, ...]
    done: bool

    @property
    def first(self) -> Static:
        return self.parts[0][1]

    @property
    def declared(self) -> tuple[Declared, ...]:
        return tuple(d for _, static in self.parts for d in static.declared)

    @property
    def definition(self) -> Span | None:
        """Where its name stands: in its definition, if there is one."""
        best = sorted(self.declared, key=lambda d: (not d.definition, not d.has_init))
        return best[0].name if best else None


@dataclass(frozen=True, slots=True)
class Verdict:
    """decision: ``private``, ``shared`` or ``refused``."""

    decision: str
    code: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Decided:
    """Verdicts by key, in source order; remarks about all else that hinders."""

    variables: Mapping[str, Variable]
    verdicts: Mapping[str, Verdict]
    remarks: tuple[Decision, ...]
