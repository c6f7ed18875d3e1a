"""Mutilated programs: a file of testdata or tests/cases with a part cut off, or with tokens or macros damaged.

The same seed gives the same program.  Half of the ways keep the damage small enough that many results still compile:
a program that compiles and means something else than its author wished is the harder test.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parents[2]
GROUPS = ("convert", "keep", "either")
TESTDATA = HERE.parent / "testdata"
FOLDERS = (*(path for group in GROUPS for path in sorted((HERE / "cases").glob(f"*/{group}"))), TESTDATA)

_TOKEN = re.compile(
    r"(?P<space>\s+|//[^\n]*|/\*.*?\*/)"
    r"|(?P<directive>(?<![^\n])[ \t]*\#(?:\\\n|[^\n])*)"
    r"|(?P<string>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')"
    r"|(?P<word>[A-Za-z_]\w*)|(?P<number>\.?\d(?:[eE][+-]|[\w.])*)"
    r"|(?P<sign>\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|[-+*/%&|^=!<>]=|&&|\|\||.)",
    re.DOTALL,
)
_ALIKE = (
    {"+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"},
    {"<", ">", "<=", ">=", "==", "!="},
    {"=", "+=", "-=", "*="},
    {"++", "--"},
    {"&&", "||"},
    {"{", "}"},
    {"(", ")", "[", "]"},
    {",", ";"},
    {"int", "long", "char", "double", "float", "unsigned"},
    {"break", "continue", "return"},
    {"if", "while", "for", "switch"},
    {"static", "const", "volatile", "extern"},
)
_INSERTED = (
    "#if 0",
    "#endif",
    "#else",
    "#undef N",
    "#define N 7",
    "#define int long",
    "#define return",
    "#define double",
    "#define MPI_Send(...) MPI_Ssend(__VA_ARGS__)",
    "#define for while",
    "#define DATA(x) #x",
    "#error no",
    "#include <nothing.h>",
    "#define free(p) ((void)(p))",
    "#pragma omp parallel",
    "#define i (*&i)",
    "#define MPI_DOUBLE MPI_BYTE",
    "#define buf buf + 0",
    '#line 1 "other.c"',
)


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of text; ``kind``: space, directive, string, word, number or sign."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Mutilated:
    """``texts``: every file by name, one of them, ``file``, damaged.  ``way``: how.  ``sources``: what is analysed."""

    seed: int
    origin: str
    way: str
    file: str
    texts: dict[str, str]
    sources: tuple[str, ...]


def tokens(text: str) -> list[Token]:
    """The text in pieces; they make the text again."""
    return [Token(str(found.lastgroup), found[0]) for found in _TOKEN.finditer(text)]


@cache
def programs() -> tuple[tuple[str, Path], ...]:
    """Every program by name: a file, or a folder of files."""
    # by group and name, wherever a case stands: a seed means the same program after it moves
    paths = sorted(
        (path for folder in FOLDERS for path in folder.iterdir()),
        key=lambda path: ((*GROUPS, TESTDATA.name).index(path.parent.name), path.name),
    )
    return tuple(
        (f"{path.parent.name}/{path.name}", path) for path in paths if any(path.glob("*.c")) or path.suffix == ".c"
    )


def mutilated(seed: int) -> Mutilated:
    """The program of a seed."""
    rng = random.Random(seed)
    origin, path = rng.choice(programs())
    files = sorted(path.glob("*.[ch]")) if path.is_dir() else [path]
    texts = {file.name: file.read_text(encoding="utf-8") for file in files}
    sources = tuple(name for name in texts if name.endswith(".c"))
    file = rng.choice([name for name in sources for _ in range(3)] + list(texts))
    name, way, _ = rng.choices(WAYS, [weight for _, _, weight in WAYS])[0]
    return Mutilated(seed, origin, name, file, {**texts, file: way(rng, texts[file])}, sources)


def _joined(parts: list[Token]) -> str:
    return "".join(part.text for part in parts)


def _places(parts: list[Token], *kinds: str) -> list[int]:
    return [i for i, part in enumerate(parts) if part.kind in kinds]


def _cut_anywhere(rng: random.Random, text: str) -> str:
    return text[: rng.randrange(len(text))]


def _cut_after_a_part(rng: random.Random, text: str) -> str:
    """Cut where a line ends a declaration or a function."""
    ends = [found.end() for found in re.finditer(r"^(?:\}.*|.*;)$", text, re.MULTILINE)]
    return text[: rng.choice(ends)] + "\n" if ends else text


def _head_cut(rng: random.Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(lines[rng.randrange(len(lines)) :])


def _token_deleted(rng: random.Random, text: str) -> str:
    parts = tokens(text)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        where = _places(parts, "string", "word", "number", "sign")
        if where:
            del parts[rng.choice(where)]
    return _joined(parts)


def _tokens_swapped(rng: random.Random, text: str) -> str:
    parts = tokens(text)
    where = _places(parts, "string", "word", "number", "sign")
    first = rng.randrange(len(where) - 1)
    one, other = where[first], where[min(len(where) - 1, first + rng.randrange(1, 4))]
    parts[one], parts[other] = parts[other], parts[one]
    return _joined(parts)


def _alike_swapped(rng: random.Random, text: str) -> str:
    """Two numbers, or two names of variables that stand near each other, change places."""
    parts = tokens(text)
    words = [i for i in _places(parts, "word") if _joined(parts[i + 1 : i + 2]) != "(" and not parts[i].text.isupper()]
    where = rng.choice((words, _places(parts, "number")))
    if len(where) < 2:
        return text
    first = rng.randrange(len(where) - 1)
    for other in where[first + 1 : first + 12]:
        if parts[other].text != parts[where[first]].text:
            one = where[first]
            parts[one], parts[other] = parts[other], parts[one]
            break
    return _joined(parts)


def _sign_changed(rng: random.Random, text: str) -> str:
    parts = tokens(text)
    where = [(i, alike) for i, part in enumerate(parts) for alike in _ALIKE if part.text in alike]
    i, alike = rng.choice(where)
    parts[i] = Token(parts[i].kind, rng.choice(sorted(alike - {parts[i].text})))
    return _joined(parts)


def _number_changed(rng: random.Random, text: str) -> str:
    parts = tokens(text)
    where = _places(parts, "number")
    if not where:
        return text
    i = rng.choice(where)
    parts[i] = Token("number", rng.choice(("0", "1", "2", "3", "-1", "7", "1000", "0x7fffffff", parts[i].text + "u")))
    return _joined(parts)


def _statement_deleted(rng: random.Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    where = [i for i, line in enumerate(lines) if re.match(r"\s+[^/\s].*;\s*(//.*)?$", line)]
    if where:
        del lines[rng.choice(where)]
    return "".join(lines)


def _statements_swapped(rng: random.Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    where = [i for i, line in enumerate(lines) if re.match(r"\s+[^/\s].*;\s*(//.*)?$", line)]
    if len(where) > 1:
        first = rng.randrange(len(where) - 1)
        one, other = where[first], where[min(len(where) - 1, first + rng.randrange(1, 4))]
        lines[one], lines[other] = lines[other], lines[one]
    return "".join(lines)


def _macro_damaged(rng: random.Random, text: str) -> str:
    """A token of a directive goes, or the whole directive, or its line goes on in the next."""
    lines = text.splitlines(keepends=True)
    where = [i for i, line in enumerate(lines) if line.lstrip().startswith("#")]
    if not where:
        return _macro_inserted(rng, text)
    i = rng.choice(where)
    kind = rng.randrange(4)
    if kind == 0:
        del lines[i]
    elif kind == 1:
        lines[i] = lines[i].rstrip("\n") + " \\\n"
    else:
        parts = tokens(lines[i].lstrip().lstrip("#"))
        chosen = rng.choice(_places(parts, "string", "word", "number", "sign") or [0])
        if kind == 2:
            del parts[chosen]
        else:
            parts.insert(chosen, rng.choice(parts))
        lines[i] = "#" + _joined(parts)
    return "".join(lines)


def _macro_inserted(rng: random.Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    for _ in range(rng.choice((1, 1, 2))):
        lines.insert(rng.randrange(len(lines) + 1), rng.choice(_INSERTED) + "\n")
    return "".join(lines)


def _made_a_macro(rng: random.Random, text: str) -> str:
    """A stretch of a line becomes the body of a macro."""
    lines = text.splitlines(keepends=True)
    where = [i for i, line in enumerate(lines) if re.match(r"\s+[^#/\s]", line) and "\\" not in line]
    if not where:
        return text
    i = rng.choice(where)
    parts = tokens(lines[i].split("//")[0].rstrip("\n"))
    begin = rng.randrange(len(parts))
    end = rng.randrange(begin + 1, len(parts) + 1)
    body = _joined(parts[begin:end])
    lines[i] = f"{_joined(parts[:begin])} MANGLED {_joined(parts[end:])}\n"
    after = max((j + 1 for j in range(i) if lines[j].startswith("#include")), default=0)
    lines.insert(after, f"#define MANGLED {body}\n")
    return "".join(lines)


def _bytes_damaged(rng: random.Random, text: str) -> str:
    for _ in range(rng.choice((1, 3, 10))):
        i = rng.randrange(len(text))
        text = text[:i] + rng.choice("\x00\x01\x7f\\\"'/*{}();#\u00e9 \n") + text[i + rng.randrange(2) :]
    return text


Way = Callable[[random.Random, str], str]
WAYS: tuple[tuple[str, Way, int], ...] = (
    ("cut anywhere", _cut_anywhere, 2),
    ("cut after a part", _cut_after_a_part, 3),
    ("head cut", _head_cut, 1),
    ("token deleted", _token_deleted, 4),
    ("tokens swapped", _tokens_swapped, 4),
    ("alike swapped", _alike_swapped, 7),
    ("sign changed", _sign_changed, 5),
    ("number changed", _number_changed, 6),
    ("statement deleted", _statement_deleted, 5),
    ("statements swapped", _statements_swapped, 5),
    ("macro damaged", _macro_damaged, 4),
    ("macro inserted", _macro_inserted, 4),
    ("made a macro", _made_a_macro, 6),
    ("bytes damaged", _bytes_damaged, 2),
)
"""Each way's name, what it does, and how often it is taken."""
