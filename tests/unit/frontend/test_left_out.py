"""Text under a false ``#if`` that names a buffer which converts (assumption A6)."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_tools import FLAGS, case_path, load_cases, run_tool
from conftest import MpiUser

from opi_xform.frontend.parse import parse_unit
from opi_xform.launch.tools import OPICC, captured

LEFT_OUT = {int(case.name.split("_")[-1]): case for case in load_cases("convert") if case.construct == "left_out"}
WAYS = {
    1: "-DTRACE",
    2: "-UVERBOSE",
    3: "-DDEBUG",
    4: "-DTRACE",
    5: "-DQUIET",
    6: "-DONLY_HALF",
    7: "-DTRACE",
    8: "-DTRACE",
    10: "-DWHOLE",
    12: "-DOTHER",
    13: "-DWIDE",
    14: "-DMORE_PRECISION",
    16: "-DAT_ONCE",
    17: "-DWIDE",
    18: "-DMPI",
    19: "-DDEBUG",
    20: "-DDEBUG",
}
NOBODY = {9, 11, 15}
"""No configuration compiles what these leave out."""


def conditions(tmp_path: Path, text: str) -> list[bool]:
    """Of each piece of text that is left out: only the program's own macros decide about it."""
    file = tmp_path / "a.c"
    file.write_text(text, encoding="utf-8")
    return [skipped.own for skipped in parse_unit(str(file)).skipped]


@pytest.mark.parametrize(
    ("before", "own"),
    [
        ("#ifdef TRACE", True),
        ("#if defined(TRACE) && LEVEL > 2 // _not this", True),
        ("#ifdef __clang__\nint a;\n#else", False),
        ("#ifndef TRACE\n#if 0\n#endif\nint a;\n#else", True),
        ("#if 1\nint a;\n#elif defined __GNUC__", False),
        ("#if TRACE \\\n && _WIN32", False),
        ("#ifdef OMPI_MAJOR_VERSION", False),
        ("#if __GNUC__ > 4\n#define NEW 1\n#endif\n#ifdef NEW", False),
        ("#define NEW (__GNUC__ > 40)\n#define NEWER NEW\n#if NEWER", False),
        ("#define LEVEL 2\n#if LEVEL > 3", True),
    ],
)
def test_who_decides(tmp_path: Path, before: str, own: bool) -> None:
    assert conditions(tmp_path, f"#ifndef X\nint x;\n#endif\n{before}\nint b;\n#endif\n")[-1:] == [own]


@pytest.mark.parametrize(("number", "named"), [(1, "`out`"), (19, "`show`, which uses `out`")])
def test_strict_does_without_it(number: int, named: str) -> None:
    _, _, err = run_tool([str(case_path("convert", f"left_out_{number}.c")), "--strict"])
    assert f"OPI112 code under a false #if names {named}" in err


@pytest.mark.mpi
@pytest.mark.parametrize("number", sorted(LEFT_OUT.keys() - NOBODY))
def test_another_configuration_does_not_compile(number: int, tmp_path: Path, mpi_user: MpiUser) -> None:
    case = LEFT_OUT[number]
    source = case.folder / case.files[0]
    code, out, err = run_tool([str(source), "-o", str(tmp_path)])
    assert (code, "A6 assumed" in out + err) == (0, True), err
    way = WAYS[number]
    text = (tmp_path / source.name).read_text(encoding="utf-8")
    (tmp_path / source.name).write_text(text.replace("#define VERBOSE 1", ""), encoding="utf-8")
    done = captured([*OPICC, *FLAGS, way, "-c", str(tmp_path / source.name)], mpi_user.mpi, cwd=tmp_path)
    assert done.returncode != 0
    assert "#error opi-xform did not see this text" in done.stderr
