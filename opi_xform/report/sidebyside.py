"""The lines of a file before and after, and which line of the sources a run's program means by one of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from pathlib import Path

from opi_xform.report.profile import Run

Numbered = tuple[int, str]


def side_by_side(old: Sequence[str], new: Sequence[str]) -> list[tuple[Numbered | None, Numbered | None]]:
    """Lines beside one another, each with its number."""
    if old is new:
        return [((i, line), (i, line)) for i, line in enumerate(old, 1)]
    found: list[tuple[Numbered | None, Numbered | None]] = []
    for _, a, b, c, d in SequenceMatcher(None, old, new).get_opcodes():
        left = [(i + 1, old[i]) for i in range(a, b)]
        right = [(i + 1, new[i]) for i in range(c, d)]
        found += zip_longest(left, right)
    return found


def lines_of(data: bytes) -> list[str]:
    """The lines of a file as text."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    return text.removesuffix("\n").split("\n")


def _alike(a: str, b: str) -> int:
    """How many names at the end of two paths are the same."""
    pairs = zip(reversed(Path(a).parts), reversed(Path(b).parts), strict=False)
    return next((i for i, (x, y) in enumerate(pairs) if x != y), min(len(Path(a).parts), len(Path(b).parts)))


def lines_of_run(
    old: Mapping[str, Sequence[str]], new: Mapping[str, Sequence[str]], run: Run
) -> Callable[[str, int], tuple[str, int] | None]:
    """Finds the file and line of the sources for those that the debug information of a run's program names.

    old: the sources by file; new: those that change.  A run that gave buffers away is one of the transformed program.
    """
    transformed = run.ways["give"].messages > 0
    by_name: dict[str, list[str]] = {}
    for file in sorted(old):
        by_name.setdefault(Path(file).name, []).append(file)
    before: dict[str, dict[int, int]] = {}

    def find(named: str, line: int) -> tuple[str, int] | None:
        for file in sorted(by_name.get(Path(named).name, ()), key=lambda file: (-_alike(file, named), len(file))):
            if not (transformed and file in new):
                if line <= len(old[file]):
                    return file, line
                continue
            if file not in before:
                before[file], last = {}, 1
                for a, b in side_by_side(old[file], new[file]):
                    last = a[0] if a else last
                    if b:
                        before[file][b[0]] = last
            if line in before[file]:
                return file, before[file][line]
        return None

    return find
