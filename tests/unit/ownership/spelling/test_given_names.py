"""Parameters that stand for one variable of the file: what is written for them, and where they stay."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from opi_xform.analysis import known
from opi_xform.effects.table import load_effects
from opi_xform.frontend import parse_unit
from opi_xform.graph.whole import merge
from opi_xform.ownership.spelling.given_names import given_names
from opi_xform.text.edit import ByteEdit, apply_edits

MAIN = "int main(void)\n{\n    pack(one, 1);\n    return 0;\n}\n"


def written(text: str, *names: str, structs: bool = False) -> str:
    """The text with the parameters written out; '' where none can be."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder).resolve() / "t.c"
        path.write_text(text, encoding="utf-8")
        units = [parse_unit(str(path), ())]
        program = known.program(merge(units), load_effects())
        edits = [edit for one in given_names(program, units, names or ("one",), structs) for edit in one.edits]
        data = path.read_bytes()
    made = [ByteEdit(e.span.begin, e.span.end, (), e.text.encode()) for e in edits]
    return apply_edits(data, made).decode() if made else ""


def test_array() -> None:
    before = "static double one[4];\nstatic void pack(double *to, int n)\n{\n    to[n] = *to;\n}\n"
    after = "static double one[4];\nstatic void pack(int n)\n{\n    one[n] = *one;\n}\n"
    assert written(before + MAIN) == after + MAIN.replace("one, 1", "1")


def test_same_name_and_prototype() -> None:
    before = "static double one[4];\nvoid pack(double *, int);\nvoid pack(double one[], int n)\n{\n    one[n] = 1;\n}\n"
    after = "static double one[4];\nvoid pack(int);\nvoid pack(int n)\n{\n    one[n] = 1;\n}\n"
    assert written(before + MAIN) == after + MAIN.replace("one, 1", "1")


def test_all_and_the_last() -> None:
    text = "static double one[4], two[4];\nstatic void pack(double *a, {0}double *b)\n{{\n    a[0] = b[0];\n}}\n"
    text += "int main(void)\n{{\n    pack(one, {1}two);\n    return 0;\n}}\n"
    assert "pack(void)" in written(text.format("", ""), "one", "two")
    assert "pack();" in written(text.format("", ""), "one", "two")
    assert "pack(int n)" in written(text.format("int n, ", "3, "), "one", "two")
    assert "pack(3);" in written(text.format("int n, ", "3, "), "one", "two")
    assert "pack(one, 3);" in written(text.format("int n, ", "3, "), "two")


def test_address_of_a_struct() -> None:
    top = "static struct s { int n; double u[4]; } one;\nstatic struct t { double v[9]; } other;\n"
    body = "{\n    to->u[n] = (*to).n + to -> n;\n}\n"
    main = MAIN.replace("one", "&one")
    after = written(
        f"{top}static void pack(const struct s *to, int n)\n{body}{main}".replace("to->u[n] =", "n ="), structs=True
    )
    assert "pack(int n)" in after
    assert "n = (*(&one)).n + one.n;" in after
    assert "pack(1);" in after
    assert (
        written(f"{top}static void pack(struct s *to, int n)\n{body}{main.replace('&one', '&other', 1)}", structs=True)
        == ""
    )
    assert written(f"{top}static void pack(struct t *to, int n)\n{{\n    to->v[n] = 1;\n}}\n{main}", structs=True) == ""
    assert (
        written(f"{top}static void pack(struct s *to, int n)\n{{\n    to++; to->n = n;\n}}\n{main}", structs=True) == ""
    )


def test_pointer() -> None:
    text = "static double *one;\nstatic void pack(double *to, int n)\n{\n    to[n] = 1;\n}\n"
    assert "one[n] = 1;" in written(text + MAIN)


@pytest.mark.parametrize(
    "body",
    [
        "one = 0; to[n] = 1;",
        "change(); to[n] = 1;",
        "double **p = &one; *p = 0; to[n] = 1;",
        "to++; to[n] = 1;",
        "to = one; to[n] = 1;",
        "double **p = &to; (*p)[n] = 1;",
        "n = sizeof to; to[n] = 1;",
        "double *one = to; one[n] = 1;",
        "{ enum { one }; to[one] = n; }",
        "#define FIRST one[0]\n to[n] = FIRST;",
        "#if 0\n to[n] = 1;\n#endif\n to[n] = 2;",
        "__typeof__(to) p = to; p[n] = 1;",
    ],
)
def test_pointer_stays(body: str) -> None:
    text = "static double *one;\nstatic void change(void)\n{\n    one = 0;\n}\n"
    assert written(f"{text}static void pack(double *to, int n)\n{{\n    {body}\n}}\n{MAIN}") == ""


@pytest.mark.parametrize(
    ("before", "behind"),
    [("__attribute__((nonnull(1))) ", ""), ("", " __attribute__((nonnull(1)))"), ("CHECKED ", ""), ("", " CHECKED")],
)
def test_attributes(before: str, behind: str) -> None:
    text = "#define CHECKED __attribute__((nonnull(1)))\n#define N 4\nstatic double one[N];\n#define M 5\n"
    body = "{\n    to[n] = 1;\n}\n"
    assert written(f"{text}static void pack(double *to, int n)\n{body}{MAIN}")
    declared = f"{before}static void pack(double *to, int n){behind};\n"
    assert written(f"{text}{declared}static void pack(double *to, int n)\n{body}{MAIN}") == ""


@pytest.mark.parametrize(
    "calls",
    [
        "pack(one, 1); pack(two, 1);",
        "pack(one + 1, 1);",
        "pack(one, 1); void (*f)(double *, int) = pack; f(two, 1);",
        "pack(one, n++);",
        "PACK(one, 1);",
        "pack((float *)one, 1);",
    ],
)
def test_calls(calls: str) -> None:
    text = "static double one[4], two[4];\n#define PACK(a, n) pack(a, n)\n"
    text += "static void pack(double *to, int n)\n{\n    to[n] = 1;\n}\n"
    text += f"int main(void)\n{{\n    int n = 0;\n    {calls}\n    return n;\n}}\n"
    assert written(text.replace("double *to", "float *to") if "float" in calls else text) == ""
