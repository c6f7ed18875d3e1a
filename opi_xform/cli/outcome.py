"""How a run ends.  Exit codes are decided here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable

from opi_xform.cli import interrupt
from opi_xform.record import dataclass

CLEAN = 0
FINDINGS = 1
ERROR = 2
SELF_CHECK = 123
INTERRUPTED = interrupt.INTERRUPTED


@dataclass(frozen=True, slots=True)
class Problem:
    """One line for stderr: ``file:line: error: what; what to do``.  ``file`` '' stands for the command itself."""

    message: str
    file: str = ""
    line: int = 0
    severity: str = "error"
    code: str = ""

    def __str__(self) -> str:
        place = self.file or "opi-xform"
        if self.file and self.line:
            place += f":{self.line}"
        text = " ".join(self.message.split())
        return f"{place}: {self.severity}: {text}" + (f" [{self.code}]" if self.code else "")


class Failure(Exception):
    """The run cannot go on: ``problems`` are printed, ``exit_code`` is returned, nothing is written."""

    def __init__(self, problems: Iterable[Problem], exit_code: int = ERROR) -> None:
        self.problems = tuple(problems)
        self.exit_code = exit_code
        super().__init__("; ".join(str(problem) for problem in self.problems))


def fail(message: str, file: str = "", line: int = 0, *, code: str = "", exit_code: int = ERROR) -> Failure:
    """A Failure of one problem."""
    return Failure([Problem(message, file, line, code=code)], exit_code)


def exit_code(findings: int) -> int:
    """The code of a run that came to its end: errors end a run earlier, as Failure, so they outrank findings."""
    return FINDINGS if findings else CLEAN
