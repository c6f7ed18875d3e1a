"""Where the parser has what no name in the source shows, and what it calls it."""

from pathlib import Path

import pytest

from opi_xform.frontend.lower.attributes import ASSEMBLY, FLAG, LABEL, PRAGMA, RENAMED, RUNNING, UNKNOWN
from opi_xform.frontend.parse import parse_once
from opi_xform.ir.ast import Unseen


def unseen(folder: Path, text: str, *flags: str) -> tuple[Unseen, ...]:
    (folder / "a.c").write_text(text)
    return parse_once(str(folder / "a.c"), flags).unseen


@pytest.mark.parametrize(
    ("text", "word", "symbol", "line"),
    [
        ("int n;\nvoid f(void) __attribute__((constructor));", "constructor", "", 2),
        ('void f(void) __asm__("g");', LABEL, "g", 1),
        ("#pragma redefine_extname f g\nvoid f(void);", RENAMED, "g", 1),
        ('\nasm("nop");', ASSEMBLY, "", 2),
        ('void f(void);\n_Pragma("weak f")', PRAGMA, "", 2),
        ("void f(void) {}\n[[gnu::destructor]] void f(void);", UNKNOWN, "", 2),
    ],
)
def test_each_kind_and_its_place(text: str, word: str, symbol: str, line: int, tmp_path: Path) -> None:
    (found,) = unseen(tmp_path, text, "-std=gnu2x")
    assert (found.word, found.symbol, found.span.line) == (word, symbol, line)


def test_macros_of_flags_and_of_the_systems_headers_count(tmp_path: Path) -> None:
    (tmp_path / "attributes.h").write_text("#define LAST __attribute__((destructor))\nLAST static void seen(void);\n")
    text = "#include <attributes.h>\nLAST static void f(void);\nvoid g(void) FIRST;\n"
    found = unseen(tmp_path, text, "-isystem", str(tmp_path), "-DFIRST=__attribute__((constructor))")
    assert [one.word for one in found] == ["destructor", "constructor"]
    assert {one.word for one in found} <= RUNNING


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("void f(void) __attribute__((destructor));", ["destructor"]),
        ("#define LAST __attribute__((__destructor__))\n#define AT LAST\nAT void f(void);", ["destructor"]),
        ('void f(void) __asm__("g");', [LABEL]),
        ("#define THROWS_NOT __attribute__((__nothrow__))\nTHROWS_NOT void f(void);", []),
    ],
)
def test_what_is_defined_here_has_the_attributes_of_the_systems_headers(
    header: str, words: list[str], tmp_path: Path
) -> None:
    (tmp_path / "declared.h").write_text(header + "\n")
    found = unseen(tmp_path, "#include <declared.h>\nvoid f(void) {}\n", "-isystem", str(tmp_path))
    assert [one.word for one in found] == words


def test_a_flag_that_the_linker_is_given(tmp_path: Path) -> None:
    (found,) = unseen(tmp_path, "int n;", "-Wl,--defsym=f=g")
    assert (found.word, found.symbol) == (FLAG, "-Wl,--defsym=f=g")


def test_the_guard_of_a_converted_variable_is_no_second_name(tmp_path: Path) -> None:
    assert not unseen(tmp_path, '__thread char b_opi_guard __asm__("b") __attribute__((weak));')
