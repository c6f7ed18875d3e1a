"""Calls that no call in the source shows."""

from __future__ import annotations

import pytest
from ownership_support import source

from opi_xform.ownership.spelling.attributes import unseen_call

SECOND = "`{}` gives a function or object a name that nothing shows"
UNSEEN = "`{}` makes the program run functions that nothing is seen to call"
OUTSIDE = "`asm` outside of functions may make code and names that nothing shows"
WEAK = "another definition may replace a function that is `weak`"


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("__attribute__((constructor)) static void f(void) {}", UNSEEN.format("constructor")),
        ("static void f(void) __attribute__((unused, destructor(101)));", UNSEEN.format("destructor")),
        ("void f(void *p); void g(void) { int x __attribute__((__cleanup__(f))) = 0; }", UNSEEN.format("cleanup")),
        ('void f(void) {} double g(void) __attribute__((alias("f")));', SECOND.format("alias")),
        ('int b; extern int c __attribute__((alias("b")));', SECOND.format("alias")),
        ('void f(void) {} double g(void) __asm__("f");', SECOND.format("asm")),
        ('void f(void) {} double g(void) __asm("_f");', SECOND.format("asm")),
        ('void foo(void) {} double g(void) asm("f" "oo");', SECOND.format("asm")),
        ('#define PRE ""\nvoid f(void) {} double g(void) __asm__(PRE "f");', SECOND.format("asm")),
        ('#define NAME "f"\nvoid f(void) {} double g(void) __asm__(NAME);', SECOND.format("asm")),
        ('void f(void) {}\n__asm__(".globl g\\n.set g, f\\n");', OUTSIDE),
        ('#define SET(a, b) __asm__(".set " #b ", " #a)\n#define ALSO(a) SET(a, g)\nvoid f(void) {} ALSO(f);', OUTSIDE),
        ('#if 1\nasm("nop");\n#endif\n', OUTSIDE),
        ("__attribute__((weak)) void f(void) {}", WEAK),
        ("void f(void) {}\n#pragma weak f\n", WEAK),
    ],
)
def test_programs_with_them(text: str, meaning: str) -> None:
    found = unseen_call(source(f"{text}\nint main(void) {{ return 0; }}\n").units)
    assert found is not None
    assert found[1] == meaning


@pytest.mark.parametrize(
    "text",
    [
        "/* asm (for speed) and a constructor (not here), weak (too) */ static int f(void) { return 1; }",
        'double g(void) __asm__("somebody_elses");',
        'static void f(void) { __asm__ volatile("nop"); } static const char *g = "{ asm(";',
        '#define relax() __asm__ volatile("nop")\nstatic void f(void) { int n = 0; relax(); if (n) { relax(); } }',
        "static int weak; int alias(int constructor) { return constructor + weak; }",
        "__attribute__((noinline, unused)) static void f(void) {}",
    ],
)
def test_programs_without(text: str) -> None:
    assert unseen_call(source(f"{text}\nint main(void) {{ return 0; }}\n").units) is None
