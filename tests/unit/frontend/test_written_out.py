"""Uses of macros that are written out: what the compiler reads stays the same, token for token."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from case_tools import case_path, run_tool

from opi_xform.frontend.clang.libclang import TranslationUnit
from opi_xform.frontend.clang.source import tokens
from opi_xform.frontend.macros.macro_uses import Wanted, read_unit
from opi_xform.rewrite.written_out import Change, Text
from opi_xform.text.mapped import Mapped, Put

CC = shutil.which("cc") or shutil.which("gcc")
NAMES = ("AA", "BB", "CC", "DD", "EE")
LEVELS = 4


def words(data: bytes) -> list[bytes]:
    return [data[a:b] for a, b, kind in tokens(data, 0, len(data)) if kind != "space"]


def preprocessed(path: Path) -> list[bytes]:
    done = subprocess.run([str(CC), "-E", "-P", str(path)], capture_output=True, check=True)
    return words(done.stdout)


def one_level(path: Path, text: Text) -> Text:
    """The outermost uses, written out."""
    path.write_bytes(text.mapped.data)
    every = frozenset(word.decode() for word in words(text.mapped.data))
    changes: list[Change] = []
    with TranslationUnit(str(path), []) as unit:  # the words need not be a program
        found = read_unit(unit, (), Wanted(calls=every), "", False).uses
    for use in found:
        if not changes or use.begin >= changes[-1].end:
            key = (use.file, use.begin, use.end, use.name, 0)
            changes.append(Change(key, use.begin, use.end, use.pieces))
    return text.written(changes)


def definition(rng: random.Random, at: int) -> str:
    """A macro that may name those before it, and now and then itself."""
    parameters = rng.choice((None, (), ("x",), ("x", "y"), ("x", "..."), ("...",)))
    items = ["1", "v", "(2)", "-", "+", "v + 1", '"s"', "f(3)"]
    items += [*NAMES[:at], *(f"{name}(v, 4)" for name in NAMES[:at]), *(f"{name}(5)" for name in NAMES[:at])]
    if rng.random() < 0.1:
        items.append(NAMES[at])
    for parameter in parameters or ():
        name = "__VA_ARGS__" if parameter == "..." else parameter
        items += [name, name, f"({name})", f"#{name}", f"f({name})", f"-{name}"]
        items += [f"{other}({name})" for other in NAMES[:at]]
        items += ["x##1", "v##x", "x ## y"] if parameters in (("x",), ("x", "y")) and "y" in parameters else []
        items += ["f(x, ## __VA_ARGS__)"] if parameters == ("x", "...") else []
    body = rng.choice((" ", "", " /* c */ ", " \\\n  ")).join(rng.choice(items) for _ in range(rng.randrange(1, 5)))
    head = NAMES[at] if parameters is None else f"{NAMES[at]}({', '.join(parameters)})"
    return f"#define {head} {body}"


def use(rng: random.Random, depth: int = 0) -> str:
    name = rng.choice(NAMES)
    given = []
    for _ in range(rng.randrange(4)):
        plain = rng.choice(("v", "-1", "(v, 2)", '"t\\n"', "v + /* d */ 2", ".5", "0x1e", "", "1\n    + 2"))
        given.append(use(rng, depth + 1) if depth < 2 and rng.random() < 0.3 else plain)
    return rng.choice((f"{name}({', '.join(given)})", f"{name}({', '.join(given)})", name))


@pytest.mark.skipif(CC is None, reason="no C compiler")
@pytest.mark.parametrize("seed", range(60))
def test_the_preprocessor_makes_the_same_tokens(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    path = tmp_path / "a.c"
    kept = ""
    for line in [*(definition(rng, at) for at in range(len(NAMES))), *(f"-{use(rng)};" for _ in range(12))]:
        path.write_text(f"{kept}{line}\n", encoding="utf-8")
        if subprocess.run([str(CC), "-E", str(path)], capture_output=True, check=False).returncode == 0:
            kept += f"{line}\n"
    path.write_text(kept, encoding="utf-8")
    expected = preprocessed(path)
    text = Text(Mapped(path.read_bytes()))
    for _ in range(LEVELS):
        text = one_level(path, text)
        path.write_bytes(text.mapped.data)
        assert preprocessed(path) == expected
        assert text.mapped.data.count(b"\n") == text.mapped.original.count(b"\n")


def sites(path: Path, *more: str) -> list[tuple[int, int, str, str, str]]:
    """Line, column, buffer, decision and message of each site."""
    code, out, err = run_tool([str(path), "--output-format", "json", "-j", "1", *more])
    assert code == 0, err
    found = json.loads(out)["sites"]
    return [(s["line"], s["column"], s["buffer"], s["decision"], s["message"]) for s in found]


def test_sites_are_told_where_the_user_wrote_them(tmp_path: Path) -> None:
    source = case_path("convert", "written_out_1.c").read_text(encoding="utf-8")
    path = tmp_path / "a.c"
    path.write_text(source, encoding="utf-8")
    lines = source.splitlines()
    at = next(i for i, line in enumerate(lines, 1) if "SEND(a" in line)
    column = lines[at - 1].index("SEND(a") + 1
    assert sites(path)[0] == (at, column, "a", "convert", "ownership passes; `SEND` is written out here")


def test_a_comment_keeps_what_a_macro_sends(tmp_path: Path) -> None:
    source = case_path("convert", "written_out_1.c").read_text(encoding="utf-8")
    path = tmp_path / "a.c"
    path.write_text(source.replace("        SEND(a", "        /* opi: keep */\n        SEND(a"), encoding="utf-8")
    assert [site[3] for site in sites(path)] == ["keep", "convert"]


def test_uses_without_an_edit_stay_as_they_are(tmp_path: Path) -> None:
    path, out = tmp_path / "a.c", tmp_path / "out"
    source = case_path("convert", "written_out_3.c").read_text(encoding="utf-8")
    path.write_text(source, encoding="utf-8")
    sites(path, "-o", str(out))
    text = (out / "a.c").read_text(encoding="utf-8")
    assert "CHECKED(MPI_Comm_rank(MPI_COMM_WORLD, &rank));" in text
    assert "CHECKED(OPI_Give(&sent, N, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD));" in text
    assert re.findall("(?m)^#define.*", text) == re.findall("(?m)^#define.*", source)


def test_places_of_a_text_are_found_again() -> None:
    text = Mapped(b"one SEND(abc, 12); two")
    new = text.replaced([(4, 17, [Put(b"MPI_Send("), Put(b"", 9, 12), Put(b", "), Put(b"", 14, 16), Put(b", 0)")])])
    assert new.data == b"one MPI_Send(abc, 12, 0); two"
    for word in (b"abc", b"12", b"two", b"one"):
        begin, there = text.data.index(word), new.data.index(word)
        assert new.before(there, False) == begin
        assert new.after(begin, False) == there
        assert new.before(there + len(word), True) == begin + len(word)
    assert (new.before(4, False), new.before(24, True)) == (4, 17)
    assert (new.after(4, False), new.after(17, True), new.after(18, True)) == (4, 24, 25)
    again = new.replaced([(13, 16, [Put(b"x")])])
    assert again.before(13, False) == 9
    assert again.original == text.data
