"""libclang's types and names as the tool's own: sizes, members, keys of what is declared.

The types are made by ``opi_xform.frontend.clang.typemap``, the keys by ``opi_xform.frontend.clang.names``.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from frontend_support import parse

from opi_xform.frontend.clang.typemap import as_parameter
from opi_xform.ir.ast import Unit
from opi_xform.ir.types import Type


def type_of(unit: Unit, name: str) -> Type:
    (found,) = [v.type for v in unit.globals.values() if v.name == name]
    return found


@pytest.mark.parametrize(
    ("declared", "kind", "size", "signed"),
    [
        ("int x", "int", 4, True),
        ("unsigned char x", "int", 1, False),
        ("_Bool x", "int", 1, False),
        ("enum { A = 1 } x", "int", 4, False),
        ("enum { A = -1 } x", "int", 4, True),
        ("long double x", "float", 16, True),
        ("double _Complex x", "float", 16, True),
        ("_Complex int x", "unknown", 8, False),
        ("int *x", "pointer", 8, False),
        ("double x[3][5]", "array", 120, True),
        ("int (*x)(void)", "pointer", 8, False),
    ],
)
def test_kinds_and_sizes(declared: str, kind: str, size: int, signed: bool, tmp_path: Path) -> None:
    found = type_of(parse(tmp_path, f"{declared};"), "x")
    assert (found.kind, found.size) == (kind, size)
    if kind in ("int", "pointer"):
        assert found.signed is signed


def test_arrays_lead_to_their_elements(tmp_path: Path) -> None:
    found = type_of(parse(tmp_path, "typedef double row[5]; const row x[3];"), "x")
    assert found.count == 3
    assert found.elem is not None
    assert found.elem.count == 5
    assert found.const, "elements that do not change make an array that does not"


def test_members_have_their_bytes_those_of_a_struct_without_a_name_too(tmp_path: Path) -> None:
    unit = parse(tmp_path, "struct s { char c; struct { int i; union { short h; long l; }; }; unsigned b : 3; } x;")
    record = unit.records[type_of(unit, "x").record]
    assert [(f.name, f.offset) for f in record.fields] == [("c", 0), ("i", 8), ("h", 16), ("l", 16), ("b", 24)]
    assert [f.name for f in record.fields if f.bitfield] == ["b"]
    assert not record.union


def test_a_list_ends_though_its_struct_leads_back_to_itself(tmp_path: Path) -> None:
    unit = parse(tmp_path, "struct s { struct s *next; int n; } x;")
    record = unit.records[type_of(unit, "x").record]
    assert record.fields[0].type.elem is not None
    assert record.fields[0].type.elem.record == record.key


@pytest.mark.parametrize(
    ("written", "becomes"),
    [("int x[4]", "int *"), ("int x[4][5]", "int (*)[5]"), ("int x(void)", "int (void) *"), ("int x", "int")],
)
def test_parameters_of_arrays_and_functions_are_pointers(written: str, becomes: str, tmp_path: Path) -> None:
    unit = parse(tmp_path, f"void f({written}) {{ (void)x; }}")
    (found,) = unit.functions["f"].variables.values()
    assert found.type.spelling == becomes
    assert as_parameter(found.type) == found.type, "once is enough"


NAMES = """
static int one;
int two;
extern int three;
static void own(void) { static int kept; kept++; one++; three++; }
void all(int given) { int here; { int here; here = given; } here = 1; own(); }
"""


def test_keys_tell_what_is_one_variable_in_the_program(tmp_path: Path) -> None:
    """What other files can name has its name as key, what they cannot has the file's, what is local its place."""
    unit = parse(tmp_path, NAMES)
    assert {v.key: v.kind for v in unit.globals.values() if v.name != "kept"} == {
        f"{unit.path}:one": "static",
        "two": "extern",
        "three": "extern",
    }
    assert set(unit.functions) == {f"{unit.path}:own", "all"}
    local = [v for v in unit.functions["all"].variables.values() if v.name == "here"]
    first = NAMES.index("here")
    second = NAMES.index("here", first + 1)
    assert {v.key: v.kind for v in local} == {f"all/here@{at}": "local" for at in (first, second)}


def test_a_macro_that_declares_twice_at_one_place_declares_two(tmp_path: Path) -> None:
    unit = parse(tmp_path, "#define TWICE { int x = 1; x++; } { int x = 2; x++; }\nvoid f(void) { TWICE }\n")
    found = [v.key for v in unit.functions["f"].variables.values()]
    assert len(found) == len(set(found)) == 2
