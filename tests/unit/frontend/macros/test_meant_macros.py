"""The macros of a program's own text, those of flags and of the system's headers among them."""

from pathlib import Path

from opi_xform.frontend.macros.expansions import Definition
from opi_xform.frontend.macros.meant_macros import body_of
from opi_xform.frontend.parse import parse_once


def macros(folder: Path, text: str, *flags: str) -> dict[str, set[str]]:
    (folder / "own.c").write_text(text)
    found: dict[str, set[str]] = {}
    for name, body in parse_once(str(folder / "own.c"), flags).macros:
        found.setdefault(name, set()).add(body)
    return found


def test_what_is_defined_and_what_is_used(tmp_path: Path) -> None:
    system = (
        "#define SU_LEN(x) SU_SIZE(x) / 8\n#define SU_SIZE(x) sizeof(x)\n#define SU_OTHER 1\n#define SU_GIVEN(x) x\n"
    )
    (tmp_path / "system.h").write_text(f"{system}#define SU_FLAG(x) x\n")
    own = "#include <system.h>\n#define EVAL(x) x\n#define \\\nSPLICED 2\n%:define UNUSED(a, b) a%:%:b\n"
    use = "int n[4]; enum { N = SU_LEN(n), M = EVAL(SU_GIVEN)(2) };\n#undef EVAL\n#define EVAL 3 /* three */\n"
    found = macros(tmp_path, own + use, "-isystem", str(tmp_path), "-DIN=SU_FLAG(n)", "-Wp,-DLAST(x)=x", "-DONE")
    assert found["SU_LEN"] == {"SU_SIZE ( x ) / 8"}
    assert found["SU_SIZE"] == {"sizeof ( x )"}
    assert found["EVAL"] == {"x", "3"}
    assert "SU_GIVEN" in found
    assert "SU_OTHER" not in found
    assert (found["SPLICED"], found["UNUSED"]) == ({"2"}, {"a ## b"})
    assert (found["IN"], found["LAST"], found["ONE"]) == ({"SU_FLAG(n)"}, {"x"}, {"1"})
    assert found["SU_FLAG"] == {"x"}


def test_signs_have_one_spelling() -> None:
    said = Definition("M", ("a", "b"), ("%", ":", "a", "%", ":", "%", ":", "b", "-", "?", "?", "=", "a"), False)
    assert body_of(said) == "# a ## b - # a"
