"""What a unit says of its file beside its statements: names, files that were read, text that is left out."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from frontend_support import parse

from opi_xform.frontend.errors import FrontendError
from opi_xform.frontend.flags import headers
from opi_xform.frontend.parse import clean_unit
from opi_xform.frontend.units import UnitBuilder
from opi_xform.ir.ast import Unit


def built(folder: Path, text: str, *flags: str) -> tuple[Unit, UnitBuilder]:
    path = folder / "t.c"
    path.write_text(text)
    found = headers(list(flags))
    with clean_unit(str(path), str(path), list(flags), found, [], 1) as (unit, used):
        builder = UnitBuilder(unit, str(path), used, found)
        return builder.build(), builder


def test_every_file_that_was_read_has_its_digest_and_those_of_the_program_are_listed(tmp_path: Path) -> None:
    (tmp_path / "mine.h").write_text("#define N 3\n")
    unit, builder = built(tmp_path, '#include <stddef.h>\n#include "mine.h"\nint a = N;\n')
    own = {str(tmp_path / name) for name in ("t.c", "mine.h")}
    assert unit.files.keys() == own
    assert own < builder.dependencies.keys()
    assert any(path.endswith("stddef.h") for path in builder.dependencies)
    for path, digest in builder.dependencies.items():
        assert digest == hashlib.sha256(Path(path).read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("text", "defined", "declared"),
    [
        ("int f(int); int g(void) { return f(1); }", {"g"}, {"f"}),
        ("int f(int); int f(int a) { return a; } int g(void) { return f(1); }", {"f", "g"}, set()),
        ("int f(int); int g(void) { return 1; }", {"g"}, {"f"}),  # nobody names it
    ],
)
def test_functions_that_are_only_declared(text: str, defined: set[str], declared: set[str], tmp_path: Path) -> None:
    unit, _ = built(tmp_path, text + "\n")
    assert unit.functions.keys() == defined
    assert unit.declared.keys() == declared


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("void f(void); void g(void) { f(); }", set()),
        ("void f(void); void (*p)(void) = f;", {"f"}),
        ("void f(void); void h(void (*)(void)); void g(void) { h(&f); }", {"f"}),
        ("void f(void); void g(void) { (f)(); (*f)(); }", set()),
    ],
)
def test_functions_whose_address_is_taken(text: str, taken: set[str], tmp_path: Path) -> None:
    unit, _ = built(tmp_path, text + "\n")
    assert unit.address_taken_functions == taken


@pytest.mark.parametrize(
    ("text", "never", "skipped"),
    [
        ("#if 0\nint a;\n#endif\nint b;", 1, 0),  # every compiler leaves it out
        ("#ifdef OTHER\nint a;\n#endif\nint b;", 0, 1),
        ("int b;", 0, 0),
    ],
)
def test_text_that_is_left_out(text: str, never: int, skipped: int, tmp_path: Path) -> None:
    unit, _ = built(tmp_path, text + "\n")
    assert (len(unit.never), len(unit.skipped)) == (never, skipped)


def test_who_names_mpi_proc_null(tmp_path: Path) -> None:
    """The header that defines it does not count; the program's text and its flags do."""
    (tmp_path / "mpi.h").write_text("#define MPI_PROC_NULL (-2)\n")
    include = f"-I{tmp_path}"
    unit, _ = built(tmp_path, "#include <mpi.h>\nint a;\n", include)
    assert not unit.names_proc_null
    assert unit.int_macros["MPI_PROC_NULL"] == -2
    unit, _ = built(tmp_path, "#include <mpi.h>\nint a = MPI_PROC_NULL;\n", include)
    assert unit.names_proc_null
    unit, _ = built(tmp_path, "#include <mpi.h>\nint a;\n", include, "-DNOBODY=MPI_PROC_NULL")
    assert unit.names_proc_null


def test_variables_of_several_declarations_are_one(tmp_path: Path) -> None:
    unit, _ = built(
        tmp_path, "extern int a[]; int a[3] = {1}; static int s; extern double e; double g(void) { return e; }\n"
    )
    names = {v.name: v for v in unit.globals.values()}
    assert names.keys() == {"a", "s", "e"}
    assert names["a"].type.size == 12
    assert names["a"].init is not None


@pytest.mark.parametrize(("name", "f2c"), [("f2c.h", True), ("other.h", False)])
def test_a_program_that_reads_the_header_of_libf2c(name: str, f2c: bool, tmp_path: Path) -> None:
    (tmp_path / name).write_text("int s_copy(int);\n")
    assert built(tmp_path, f'#include "{name}"\nint a;\n')[0].f2c is f2c


def test_an_outline_has_what_is_defined_and_what_has_no_prototype(tmp_path: Path) -> None:
    text = "#include <stddef.h>\nint f(int a) { return a; }\nstatic int g(void) { return missing(1); }\nint h(void);\n"
    path = tmp_path / "t.c"
    path.write_text(text)
    found = headers([])
    flags = ["-std=gnu89"]
    with clean_unit(str(path), str(path), flags, found, ["-Wimplicit-function-declaration"], 0) as (unit, used):
        outline = UnitBuilder(unit, str(path), used, found).outline()
    assert set(outline.functions) == {"f", f"{path}:g"} == set(parse(tmp_path, text, flags).functions)
    assert set(outline.declared) == {"missing"}
    assert all(not f.body.body for f in outline.functions.values())


def test_a_file_with_an_error_is_no_unit(tmp_path: Path) -> None:
    with pytest.raises(FrontendError, match="expected"):
        built(tmp_path, "int f(void) { return 1 }\n")
