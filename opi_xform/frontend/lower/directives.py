"""The directives of OpenMP, as they are written.

Every spelling that a preprocessor takes for one is found: with comments, spliced lines, digraphs; by ``_Pragma``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from opi_xform.frontend.clang.source import File, skip_space, tokens
from opi_xform.ir.span import Span
from opi_xform.program.threads import LEFT_OUT_HERE
from opi_xform.record import dataclass

LOOSE = re.compile(rb"may_alias|no-strict-aliasing")  # memory may be read as another type
WORD = re.compile(rb"omp(?<![A-Za-z0-9_]omp)(?![A-Za-z0-9_])")
"""What every directive has in it, however it is spelled.  It begins with letters: these are searched for at once."""

INCLUDE = re.compile(rb"#[ \t]*include\b")
_LINE = re.compile(rb"(?:\\\r?\n|/\*.*?\*/|//[^\n]*|[^\n])*", re.DOTALL)
_COMMENT = re.compile(rb"\\\r?\n|/\*.*?\*/|//.*", re.DOTALL)
LONGEST = 70  # characters of a condition that is told

LOOPS = ("parallel for simd", "parallel for", "for simd", "for", "simd")
SHARING = frozenset({"for simd", "for", "single", "master", "masked"})  # what may stand in a parallel region
LISTS = frozenset({"private", "shared", "firstprivate", "lastprivate", "reduction"})
_NAMES = (
    *LOOPS,
    "parallel",
    "single",
    "master",
    "masked",
    "barrier",
    "atomic update",
    "atomic",
)  # the longer one first
_MORE = frozenset({"sections", "workshare", "loop", "master", "masked", "taskloop", "single"})
_VALUES = frozenset(
    {
        "schedule", "collapse", "num_threads", "if", "safelen", "simdlen", "aligned", "order", "proc_bind", "default",
        "nowait", "nontemporal", "seq_cst", "relaxed", "update",
    }
)  # fmt: skip
_CHANGING = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"})


Constant = Callable[[str, bool], bool | None]
"""Whether a macro of this name is one number, given whether a parenthesis follows; None when none is used there."""

Expand = Callable[[str], tuple[str, ...] | None]
"""The words that a macro without parameters stands for, in each of its definitions; None where that is not known."""

LeftOut = Sequence[tuple[int, int]]
"""The stretches of a file that the preprocessor leaves out, in order."""


class Unfollowed(Exception):
    """The construct that is not followed.  directive: of what OpenMP does with a statement, that."""

    directive: Directive | None = None


@dataclass(frozen=True, slots=True)
class Directive:
    """clauses: each with the words between its parentheses.  end: of its text.  note: what is said of its place."""

    name: str
    clauses: tuple[tuple[str, tuple[str, ...]], ...]
    end: int
    line: int
    note: str = ""

    def words(self, clause: str) -> Iterator[str]:
        for name, found in self.clauses:
            if name == clause:
                yield from found

    @property
    def words_for_it(self) -> str:
        return f"OpenMP `{self.name}` in line {self.line}{self.note}"

    def refusal(self, why: str) -> Unfollowed:
        out = Unfollowed(f"{self.words_for_it} {why}")
        out.directive = self
        return out


def directives(
    file: File,
    span: Span,
    constant: Constant,
    expand: Expand,
    left_out: LeftOut,
    doubtful: LeftOut,
    chosen: LeftOut,
    missed: list[Unfollowed],
) -> Iterator[Directive]:
    """Those in a stretch of text, in order.  doubtful: text that others may compile.

    chosen: of the doubtful text, what only the program's own macros decide about.  missed: gets what is not followed.
    """
    for words, begin, end in lines(file.data, span.begin, span.end):
        if _around(left_out, begin) or (words[0] == "#" and _with_its_statement(file.data, end, chosen)):
            continue
        line = file.line_column(begin)[0]
        if words[3:4] == ["section"] and missed:
            continue  # a part of what is missed
        if words[1:3] == ["pragma", "omp"]:
            try:
                found = _directive(words[3:], line, end, constant, expand, _note(file, begin, doubtful))
            except Unfollowed as refused:
                missed.append(refused)
            else:
                yield found
        elif words[0] == "_Pragma":
            missed.append(Unfollowed(f"OpenMP or another _Pragma in line {line} is not followed"))


def _directive(words: list[str], line: int, end: int, constant: Constant, expand: Expand, note: str) -> Directive:
    name = next((n for n in _NAMES if words[: n.count(" ") + 1] == n.split()), "")
    if not name:
        raise Unfollowed(f"OpenMP `{' '.join(words[:1])}` in line {line}{note} is not followed")
    out = Directive(name, (), end, line, note)
    rest = words[name.count(" ") + 1 :]
    if rest and rest[0] in _MORE and rest[1:2] != ["("]:  # another directive, of which this name is the first word
        raise Unfollowed(f"OpenMP `{name} {rest[0]}` in line {line}{note} is not followed")
    clauses: list[tuple[str, tuple[str, ...]]] = []
    expanded: set[str] = set()
    while rest:
        clause = rest.pop(0)
        if clause == ",":
            continue
        inside: list[str] = []
        called = rest[:1] == ["("]
        written = None if called or clause in LISTS | _VALUES | expanded else expand(clause)
        if written is not None and LISTS.isdisjoint(written):  # compilers replace macros in directives
            expanded.add(clause)
            rest[:0] = written
            continue
        if called:
            depth = 0
            while rest:
                word = rest.pop(0)
                depth += (word == "(") - (word == ")")
                inside.append(word)
                if depth == 0:
                    break
            inside = inside[1:-1]
        if clause not in LISTS | _VALUES or constant(clause, called) is not None:
            raise out.refusal(f"has the clause `{clause}`, which is not followed")
        _require_plain(out, clause, inside, constant)
        clauses.append((clause, tuple(inside)))
    return replace(out, clauses=tuple(clauses))


def _require_plain(directive: Directive, clause: str, inside: list[str], constant: Constant) -> None:
    """The words mean what they say: no macro but numbers, no call, nothing that reads memory or changes a value."""
    before = ""
    for word, then in zip(inside, (*inside[1:], ""), strict=False):
        known = constant(word, then == "(")
        if known is False or (known and clause in LISTS) or word in _CHANGING:
            raise directive.refusal(f"has `{word}` in `{clause}`, which is not followed")
        if then == "(" and re.match(r"\w", word):
            raise directive.refusal(f"calls `{word}`")
        if clause in _VALUES and (word in ("[", ".", "->") or (word == "*" and not re.match(r"[\w)]", before))):
            raise directive.refusal(f"reads memory in `{clause}`")
        before = word
    if clause == "collapse" and not (len(inside) == 1 and inside[0].isdigit()):
        raise directive.refusal("collapses a number of loops that is not followed")


def _note(file: File, at: int, doubtful: LeftOut) -> str:
    """What is said of a directive that others may compile: which line leaves it out; '' where none does."""
    found = next((begin for begin, end in doubtful if begin <= at < end), None)
    if found is None:
        return ""
    first = file.data.rfind(b"\n", 0, found) + 1
    written = next((file.data[begin:end] for _, begin, end in lines(file.data, first, at)), b"")
    text = " ".join(_COMMENT.sub(b" ", written).decode("utf-8", "replace").split())
    text = f"`{text}`" if 0 < len(text) <= LONGEST else "the condition"
    return f", which {text} in line {file.line_column(found)[0]} {LEFT_OUT_HERE}"


def _around(left_out: LeftOut, at: int) -> int:
    """The end of the stretch that is left out around a place; 0 where there is none."""
    return next((end for begin, end in left_out if begin <= at < end), 0)


def _with_its_statement(data: bytes, at: int, chosen: LeftOut) -> bool:
    """What the directive that ends at a place is about is left out together with it, to its end."""
    found = next(((begin, end) for begin, end in chosen if begin <= at < end), None)
    if found is None:
        return False
    conditions = [(first, end) for _, first, end in lines(data, *found)]
    words = [
        (first, data[first:end])
        for first, end, kind in tokens(data, *found)
        if kind != "space" and not any(a <= first < b for a, b in conditions)
    ]
    depth = 0
    for _, word in words:
        depth += (word in (b"{", b"(", b"[")) - (word in (b"}", b")", b"]"))
        if depth < 0:
            return False
    return depth == 0 and bool(words) and words[-1][0] >= at and words[-1][1] in (b"}", b";")


def behind(data: bytes, at: int, left_out: LeftOut) -> int:
    """The first place from ``at`` on that is neither space nor a directive nor left out."""
    while True:
        at = skip_space(data, at)
        skipped = _around(left_out, at)
        if skipped:
            at = skipped
            continue
        if data[at : at + 1] != b"#":
            return at
        line = _LINE.match(data, at)
        at = line.end() if line else at + 1


def thread_private(texts: Iterable[tuple[bytes, LeftOut]], constant: Constant) -> frozenset[str] | None:
    """The names that `threadprivate` directives mention; None when they cannot be told."""
    out: set[str] = set()
    for data, left_out in texts:
        told = sum(data.count(b"threadprivate", begin, end) for begin, end in left_out)
        for words, at, _ in all_lines(data) if b"threadprivate" in data else ():
            if words[1:4] == ["pragma", "omp", "threadprivate"] and not _around(left_out, at):
                names = [word for word in words[4:] if re.fullmatch(r"\w+", word)]
                if any(constant(name, True) is not None for name in names):
                    return None
                out.update(names)
                told += 1
        if told != data.count(b"threadprivate"):
            return None
    return frozenset(out)


@lru_cache(maxsize=64)
def all_lines(data: bytes) -> tuple[tuple[list[str], int, int], ...]:
    """Those of a whole file: one that units share is read once for many of them."""
    return tuple(lines(data, 0, len(data)))


def lines(data: bytes, begin: int, end: int) -> Iterator[tuple[list[str], int, int]]:
    """The words of each directive of the preprocessor, and each ``_Pragma`` that may be OpenMP's, with its place."""
    last = begin  # the end of the last directive
    first = True  # a line begins here
    found = tokens(data, begin, end)
    for i, (at, stop, kind) in enumerate(found):
        if at < last:  # a comment that ends the directive may reach into the next line
            first = first or (kind == "space" and b"\n" in data[last:stop])
            continue
        if kind == "space":
            first = first or b"\n" in data[at:stop]
            continue
        sign = next((s for s in (b"#", b"%:", b"??=") if first and data.startswith(s, at)), b"")
        if sign:
            line = _LINE.match(data, at)
            last = line.end() if line else stop
            pieces = tokens(data, at + len(sign), last)
            words = [data[b:e].decode("utf-8", "replace") for b, e, k in pieces if k != "space"]
            yield ["#", *words], at, last
        elif data[at:stop] == b"_Pragma":
            inside = next((data[b:e] for b, e, k in found[i + 1 :] if k not in ("space", "punct")), b"")
            if not inside.endswith(b'"') or b"omp" in inside:
                yield ["_Pragma"], at, stop
        first = False
