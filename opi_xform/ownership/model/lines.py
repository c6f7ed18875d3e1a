"""Lines in messages: a line of another file than the call's has its file's name.

Who writes a message does not know which call it will be about: it marks the file of each line, and ``told`` makes words
of the marks, or drops them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from opi_xform.ir.span import Span

_MARK = "\x1f"
_MARKED = re.compile(f"{_MARK}([^{_MARK}]*){_MARK}")


def line_of(span: Span) -> str:
    """``line 5``, with a mark for its file."""
    return lines_of((span,))


def lines_of(spans: Iterable[Span]) -> str:
    """``line 5 and 7``, each file's lines in their order, with a mark for each file."""
    by_file: dict[str, set[int]] = {}
    for span in spans:
        by_file.setdefault(span.file, set()).add(span.line)
    each = (f"line {' and '.join(map(str, sorted(n)))}{_MARK}{file}{_MARK}" for file, n in sorted(by_file.items()))
    return " and ".join(each)


def marked(reason: str, file: str) -> str:
    """A reason why a function is not followed, whose lines are of its file where they name none."""
    return re.sub(r"\bline [0-9]+\b(?! of )", lambda found: f"{found[0]}{_MARK}{file}{_MARK}", reason)


def told(message: str, file: str) -> str:
    """A message as it is shown for a call in ``file``."""

    def word(found: re.Match[str]) -> str:
        return "" if found[1] == file else f" of {os.path.basename(found[1])}"

    return _MARKED.sub(word, message)
