"""Files that only text includes which is left out (``opi_xform.frontend.macros.unread``)."""

from __future__ import annotations

from pathlib import Path

import pytest

from opi_xform.frontend.flags import clean
from opi_xform.frontend.parse import parse_unit
from opi_xform.ir.ast import Skipped

LOOK = "static inline void look(void) { use(sbuf); }\n"


def left_out(tmp_path: Path, include: str, flags: list[str], more: str = "") -> Skipped:
    """The text that ``main.c`` leaves out, which includes a file; headers are in ``inc``."""
    (tmp_path / "inc").mkdir(exist_ok=True)
    file = tmp_path / "main.c"
    file.write_text(f"{more}#ifdef TRACE\n#include {include}\n#endif\nint main(void) {{ return 0; }}\n")
    unit = parse_unit(str(file), clean(flags, str(file), str(tmp_path)))
    (found,) = unit.skipped
    return found


@pytest.mark.parametrize(
    ("include", "flags", "found"),
    [
        ('"look.h"', ["-Iinc"], True),
        ('"look.h"', ["-I", "inc"], True),
        ('"look.h"', ["-iquote", "inc"], True),
        ('"inc/look.h"', [], True),
        ("<look.h>", ["-Iinc"], True),
        ("<look.h>", ["-iquote", "inc"], False),
        ('"look.h"', ["-isystem", "inc"], False),
        ('"look.h"', [], False),
    ],
)
def test_a_file_is_found_as_a_compiler_finds_it(tmp_path: Path, include: str, flags: list[str], found: bool) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "look.h").write_text(LOOK)
    assert ("sbuf" in left_out(tmp_path, include, flags).identifiers) is found


def test_what_it_includes_and_defines_counts(tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "look.h").write_text('#include "deep.h"\n')
    (tmp_path / "inc" / "deep.h").write_text("#define LOOK(x) use(sbuf + x)\n")
    found = left_out(tmp_path, '"look.h"', ["-Iinc"])
    assert {"sbuf", "use"} <= found.bodies
    assert "x" not in found.bodies


@pytest.mark.parametrize(("guard", "counts"), [("#pragma once\n", False), ("", True)])
def test_what_is_compiled_once_says_nothing_again(tmp_path: Path, guard: str, counts: bool) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "look.h").write_text(f"{guard}extern int sbuf[3];\n")
    found = left_out(tmp_path, '"look.h"', ["-Iinc"], more='#include "look.h"\n')
    assert ("sbuf" in found.identifiers) is counts


def test_a_unit_is_read_again_where_such_a_file_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPI_CACHE", str(tmp_path / "cache"))
    (tmp_path / "inc").mkdir()
    header = tmp_path / "inc" / "look.h"
    header.write_text("int other;\n")
    assert "sbuf" not in left_out(tmp_path, '"look.h"', ["-Iinc"]).identifiers
    header.write_text(LOOK)
    assert "sbuf" in left_out(tmp_path, '"look.h"', ["-Iinc"]).identifiers


def test_what_a_comment_says_of_a_name_is_no_parameter(tmp_path: Path) -> None:
    """``CORE(int a)`` in the comment behind a macro without parameters."""
    text = "#define CORE evaluate /* declared as int CORE(int a) */\n"
    (tmp_path / "a.c").write_text(f"{text}#ifdef TRACE\n{text}#endif\nint CORE(int sbuf);\n")
    file = str(tmp_path / "a.c")
    (found,) = parse_unit(file, clean([], file, str(tmp_path))).skipped
    assert {"CORE", "evaluate"} <= found.identifiers
