"""Precompiled headers of the system: what is parsed stays what it was, and where they do not fit they are not used."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from opi_xform.cli.inputs.parsing import Job, parse_sources
from opi_xform.frontend import flags as flags_module
from opi_xform.frontend import parse
from opi_xform.frontend.errors import FrontendError
from opi_xform.frontend.headers.beginning import Beginning
from opi_xform.frontend.headers.leading import Leading, Reader
from opi_xform.frontend.headers.system_part import beginnings
from opi_xform.ir.ast import Unit

ALL_H = "/* all */\n#ifndef ALL_H\n#define ALL_H\n\n#include <math.h>\n#include <mpi.h>\n#include <stdio.h>\n\n"
BODY = """#define LONG(x) (sizeof(x) > 4 ? MPI_DOUBLE : MPI_INT)
#define KIND MPI_DOUBLE
extern double shared[8];
int given(FILE *);
#endif
"""
FILE = """/* file */
#include "all.h"
#include <stddef.h> // once more
#include <string.h>
#ifdef M_PI
static double pi = M_PI;
#endif
int f@(int n)
{
    double b[8];
    memset(b, 0, n * sizeof *b);
    MPI_Send(b, n, KIND, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    return given(stderr) + (int)LONG(b) + (int)shared[1] + BUFSIZ;
}
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is there from an earlier run."""
    monkeypatch.setenv("OPI_CACHE", str(tmp_path / "cache"))


def work(folder: Path, text: str = FILE, header: str = ALL_H + BODY, count: int = 4) -> list[Job]:
    (folder / "all.h").write_text(header)
    out: list[Job] = []
    for i in range(count):
        path = folder / f"f{i}.c"
        path.write_text(text.replace("@", str(i)))
        out.append((str(path), ()))
    return out


def both(job: Job, beginning: Beginning) -> tuple[tuple[Unit, dict[str, str]], tuple[Unit, dict[str, str]]]:
    """The unit and what it was made of, parsed as it is and with what is precompiled."""
    path, flags = os.path.realpath(job[0]), list(job[1])
    found = flags_module.headers(flags)
    plain = parse.on_big_stack(lambda: parse._parse_unit(path, path, flags, found))
    return plain, parse.on_big_stack(lambda: parse._parse_unit(path, path, flags, found, beginning))


def test_the_unit_is_the_same(tmp_path: Path) -> None:
    jobs = work(tmp_path)
    found = beginnings(jobs, str(tmp_path))
    assert set(found) == {path for path, _ in jobs}
    assert len({one.precompiled.file for one in found.values()}) == 1
    for job in jobs:
        plain, quick = both(job, found[job[0]])
        assert plain == quick
        assert quick[0].names_proc_null
        for kind in ("functions", "globals", "records", "declared", "files"):
            assert list(getattr(plain[0], kind)) == list(getattr(quick[0], kind))


def test_too_few_files_or_other_flags(tmp_path: Path) -> None:
    jobs = work(tmp_path)
    assert beginnings(jobs[:3], str(tmp_path)) == {}
    assert beginnings([(path, ("-include", "x.h")) for path, _ in jobs], str(tmp_path)) == {}
    mixed = [(path, (f"-DN={i % 2}",)) for i, (path, _) in enumerate(jobs)]
    assert beginnings(mixed, str(tmp_path)) == {}


def test_nothing_is_precompiled_that_does_not_compile(tmp_path: Path) -> None:
    assert beginnings(work(tmp_path, "#include <no-such-header.h>\nint f@;\n"), str(tmp_path)) == {}


def test_a_guard_that_a_header_of_the_system_mentions(tmp_path: Path) -> None:
    header = (ALL_H + BODY).replace("ALL_H", "_MATH_H")
    assert beginnings(work(tmp_path, header=header), str(tmp_path)) == {}


@pytest.mark.parametrize(
    ("text", "header", "system", "own"),
    [
        (FILE, ALL_H + BODY, [b"<math.h>", b"<mpi.h>", b"<stdio.h>"], 1),
        ('#include "all.h"\n#include <math.h>\n', "#define A\n#include <stdio.h>\n", [], 0),
        ('#include "all.h"\n#include <math.h>\n', "#pragma once\n#include <stdio.h>\n", [b"<stdio.h>", b"<math.h>"], 1),
        ('#include "all.h"\n#include <math.h>\n', ALL_H + "#endif // ALL_H\n", [b"<math.h>", b"<mpi.h>"], 1),
        ('#include "all.h"\n#include <math.h>\n', "#ifndef A\n#define B\n#include <stdio.h>\n#endif\n", [], 0),
        ('#include <math.h>\n#include "all.h"\n', "int x;\n", [b"<math.h>"], 0),
        ('#include <math.h>\n#include "mpi.h" /* here */\n', "", [b"<math.h>", b'"mpi.h"'], 0),
        ("#define _GNU_SOURCE\n#include <math.h>\n", "", [], 0),
        ("#include NAME\n#include <math.h>\n", "", [], 0),
        ("#include <math.h>\n#if 1\n#include <stdio.h>\n#endif\n", "", [b"<math.h>"], 0),
        ("#include <math.h>\nint a;\n#include <stdio.h>\n", "", [b"<math.h>"], 0),
        ("/* \\\n */\n#include <math.h>\n", "", [], 0),
        ("// ??/\n#include <math.h>\n", "", [], 0),
        ('#include "all.h"\n#include <math.h>\n', '#include "all.h"\n', [], 0),
    ],
)
def test_what_a_file_begins_with(tmp_path: Path, text: str, header: str, system: list[bytes], own: int) -> None:
    (path, _), *_ = work(tmp_path, text, header, 1)
    found = Reader((), flags_module.headers(()).system).read(path)
    assert list(found.system)[: len(system)] == system
    assert bool(found.system) == bool(system)
    assert sum(1 for one in found.included if one) == own


def test_headers_of_the_program_in_other_folders(tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "mine.h").write_text("#include <stdio.h>\n#define A 1\n")
    path = tmp_path / "f.c"
    path.write_text("#include <mine.h>\n")
    system = flags_module.headers(()).system
    assert Reader(("-I", str(tmp_path / "inc")), system).read(str(path)).system == (b"<stdio.h>",)
    assert Reader((f"-I{tmp_path}/inc",), system).read(str(path)).system == (b"<stdio.h>",)
    assert Reader((), system).read(str(path)) == Leading((b"<mine.h>",), ("",), frozenset())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (FILE, FILE.replace("/* file */", "#include <limits.h>")),  # another header first
        (FILE, FILE.replace('#include "all.h"', "#define ALL_H\n#include <math.h>")),
        (FILE, FILE.replace('#include "all.h"\n', "")),
    ],
)
def test_what_does_not_fit_is_noticed(tmp_path: Path, before: str, after: str) -> None:
    jobs = work(tmp_path, before)
    found = beginnings(jobs, str(tmp_path))
    path = os.path.realpath(jobs[0][0])
    Path(path).write_text(after.replace("@", "0"))
    headers = flags_module.headers(())
    with pytest.raises(FrontendError):
        parse.on_big_stack(lambda: parse._parse_unit(path, path, [], headers, found[jobs[0][0]]))


def test_a_header_that_declares_something_again_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "sys").mkdir()
    (tmp_path / "sys" / "again.h").write_text("extern int again;\n")
    flags = ("-isystem", str(tmp_path / "sys"))
    jobs = [(path, flags) for path, _ in work(tmp_path, "#include <again.h>\nint f@(void) { return again; }\n")]
    found = beginnings(jobs, str(tmp_path))
    with pytest.raises(FrontendError, match="does not begin"):
        both(jobs[0], found[jobs[0][0]])
    assert [isinstance(unit, Unit) for unit in parse_sources(jobs, 1, lambda: None)] == [True] * 4


def test_a_header_that_defines_something_else_again_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "sys").mkdir()
    once_more = "#ifdef ONE\n#undef TWO\n#define TWO 2\n#else\n#define ONE\n#define TWO 1\n#endif\n"
    (tmp_path / "sys" / "again.h").write_text(once_more)
    flags = ("-isystem", str(tmp_path / "sys"))
    jobs = [(path, flags) for path, _ in work(tmp_path, "#include <again.h>\nint f@[TWO];\n")]
    units = [unit for unit in parse_sources(jobs, 2, lambda: None) if isinstance(unit, Unit)]
    assert [unit.globals[f"f{i}"].type.count for i, unit in enumerate(units)] == [1] * 4


def test_errors_are_those_of_the_file_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPI_CACHE", str(tmp_path / "cache"))
    jobs = work(tmp_path)
    Path(jobs[2][0]).write_text('#include "all.h"\nint f2(void) { return nothing; }\n')
    for processes in (1, 2):
        results = parse_sources(jobs, processes, lambda: None)
        assert [isinstance(one, Unit) for one in results] == [True, True, False, True]
        error = results[2]
        assert isinstance(error, FrontendError)
        assert (error.line, "nothing" in error.message) == (2, True)


def test_no_room_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPI_CACHE", str(tmp_path / "cache"))
    jobs = work(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    assert all(isinstance(one, Unit) for one in parse_sources(jobs, 1, lambda: None))


@pytest.mark.parametrize("alone", [True, False])
def test_the_header_of_f2c_counts_where_the_system_has_it(tmp_path: Path, alone: bool) -> None:
    (tmp_path / "sys").mkdir()
    (tmp_path / "sys" / "f2c.h").write_text("typedef int integer;\n")
    flags = ("-isystem", str(tmp_path / "sys"))
    jobs = [(path, flags) for path, _ in work(tmp_path, '#include "f2c.h"\ninteger f@(void) { return @; }\n')]
    jobs = jobs[:1] if alone else jobs
    units = [unit for unit in parse_sources(jobs, 2, lambda: None) if isinstance(unit, Unit)]
    assert len(units) == len(jobs)
    assert all(unit.f2c and not any(path.endswith("f2c.h") for path in unit.files) for unit in units)
