"""Files that begin with the same includes: parsed once for all of them, and nothing is overlooked because of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from opi_xform.frontend import FrontendError, parse_outline, parse_unit
from opi_xform.frontend.headers.precompiled import Job, beginning, with_beginnings
from opi_xform.ir.ast import Unit
from opi_xform.rewrite.selfcheck import self_check
from opi_xform.text.sources import Sources

HEADER = (
    "#ifndef H\n#define H\nextern int shared;\nint given(int);\nstatic inline int one(void) { return 1; }\n#endif\n"
)


def jobs(folder: Path, *bodies: str, top: str = '#include "h.h"\n') -> list[Job]:
    (folder / "h.h").write_text(HEADER)
    out: list[Job] = []
    for i, body in enumerate(bodies):
        path = folder / f"f{i}.c"
        path.write_text(f"/* file {i} */\n{top}int f{i}(int a) {{ {body} }}\n")
        out.append((str(path), ()))
    return out


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (b'#include "a.h"\n#include <b.h>\nint x;\n#include <c.h>\n', [b'#include "a.h"', b"#include <b.h>"]),
        (
            b"/* one */ // two\n\n  #  include <a.h> // three\n#include <b.h>/**/\n",
            [b"#  include <a.h>", b"#include <b.h>"],
        ),
        (b"#define A\n#include <a.h>\n", []),
        (b"#include <a.h>\n#if 1\n#include <b.h>\n#endif\n", [b"#include <a.h>"]),
        (b"#include NAME\n#include <b.h>\n", []),
        (b"// no \\\n#include <a.h>\n", []),
        (b"// ??/\n#include <a.h>\n", []),
        (b"/* #include <a.h> */\nint x;", []),
        (b"", []),
    ],
)
def test_the_beginning(text: bytes, lines: list[bytes]) -> None:
    assert list(beginning(text)) == lines


def test_enough_files_that_begin_alike(tmp_path: Path) -> None:
    work = jobs(tmp_path, *["return a + shared;"] * 5)
    quick = with_beginnings(work)
    assert all(flags[-2] == "-include-pch" for _, flags in quick)
    assert len({flags for _, flags in quick}) == 1
    for (path, flags), plain in zip(quick, work, strict=True):
        found, whole = parse_outline(path, flags), parse_outline(*plain)
        assert set(found.functions) == {Path(path).stem}
        assert set(found.functions) < set(whole.functions)
        assert found.declared == whole.declared == {}
    assert with_beginnings(work[:3]) == work[:3]
    assert with_beginnings([(path, ("-include", "h.h")) for path, _ in work])[0][1] == ("-include", "h.h")


def test_errors_and_missing_declarations_are_seen(tmp_path: Path) -> None:
    quick = with_beginnings(jobs(tmp_path, "return a;", "return b;", "return missing(a);", "return given(a) + one();"))
    with pytest.raises(FrontendError, match="undeclared identifier 'b'") as error:
        parse_outline(*quick[1])
    assert error.value.line == 3
    assert list(parse_outline(*quick[2]).declared) == ["missing"]
    assert parse_outline(*quick[3]).declared == {}


def test_a_beginning_that_does_not_compile_is_not_used(tmp_path: Path) -> None:
    work = jobs(tmp_path, *["return a;"] * 4, top='#include "none.h"\n')
    assert with_beginnings(work) == work


def checked(folder: Path, header: str, change: str) -> tuple[list[tuple[int, str]], list[int]]:
    """What the self-check says of five files of which one is changed to ``change``, and how many files it parses."""
    folder.mkdir()
    units = []
    for i in range(5):
        path = folder / f"f{i}.c"
        path.write_text(f'#include "h.h"\nint f{i}(int a) {{ return a + shared; }}\n')
    (folder / "h.h").write_text(header)
    units = [parse_unit(str(folder / f"f{i}.c")) for i in range(5)]
    sources = Sources()
    changed = {sources.name(unit.path): Path(unit.path).read_bytes() for unit in units}
    changed[sources.name(units[3].path)] = change.encode()
    counts = []

    def parse(work: list[Job]) -> list[Unit | FrontendError]:
        counts.append(len(work))
        out: list[Unit | FrontendError] = []
        for job in work:
            try:
                out.append(parse_outline(*job))
            except FrontendError as error:
                out.append(error)
        return out

    found = self_check(units, lambda path: (), changed, sources, parse).rejected  # type: ignore[arg-type]
    return [(r.line, r.message) for r in found], counts


GOOD = '#include "h.h"\nint f3(int a) { return a + shared + 1; }\n'
GUARDED = "#ifndef H\n#define H\nextern int shared;\n#endif\n"
UNGUARDED = "extern int shared;\nenum { ONE };\n"


def test_the_self_check_is_as_strict_as_before(tmp_path: Path) -> None:
    assert checked(tmp_path / "a", GUARDED, GOOD) == ([], [5])
    found, counts = checked(tmp_path / "b", GUARDED, GOOD.replace("+ 1", "+ b"))
    assert [line for line, _ in found] == [2]
    assert counts == [5, 1]
    assert checked(tmp_path / "c", GUARDED, GOOD.replace("f3", "g3"))[0] != []
    assert checked(tmp_path / "d", GUARDED, GOOD.replace("+ 1", "+ g(a)"))[0] == [
        (0, "g is called without a declaration")
    ]
    assert checked(tmp_path / "e", UNGUARDED, GOOD) == ([], [5, 5])  # included twice, it does not compile
