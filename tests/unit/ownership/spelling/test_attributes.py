"""Calls that no call in the source shows."""

from __future__ import annotations

import pytest
from ownership_support import source

from opi_xform.ownership.spelling.attributes import unseen_call

SECOND = "`{}` gives a function or object a name that nothing shows"
WRAP = "the linker's `--wrap` may have the program call a function that nothing is seen to call"
UNSEEN = "`{}` makes the program run functions that nothing is seen to call"
OUTSIDE = "`asm` outside of functions may make code and names that nothing shows"
PRAGMA = "a pragma gives a function or object an attribute, which may have other code run than is seen"
UNREAD = "an attribute that could not be read may have functions run that nothing is seen to call"
TRACE = "the compiler may call a function that traces, at each call of another one"
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
        ('#ifdef __cplusplus\nextern "C" {\n#endif\nint n; asm("nop");\n#ifdef __cplusplus\n}\n#endif\n', OUTSIDE),
        ('#define DECLARE(f) void f(void);\nDECLARE(hop)\nasm("hop: ret");', OUTSIDE),
        ('__extension__ asm("nop");', OUTSIDE),
        ("__attribute__((weak)) void f(void) {}", WEAK),
        ("void __cyg_profile_func_enter(void *f, void *from) {}", TRACE),
        ("void __sanitizer_cov_trace_pc(void) {}", TRACE),
        ("void mcount(void) {}", TRACE),
        ("#define ATTR(x) __attribute__((x))\nATTR(destructor) static void f(void) {}", UNSEEN.format("destructor")),
        (
            "#define ATTR(x) __attribute__((x))\n#define LAST(x) ATTR(x)\nLAST(__destructor__) static void f(void) {}",
            UNSEEN.format("destructor"),
        ),
        ("#define LIST(l) __attribute__(l)\nstatic void f(void) LIST((destructor)); ", UNSEEN.format("destructor")),
        ("#define LAST ((destructor))\n__attribute__ LAST static void f(void) {}", UNSEEN.format("destructor")),
        (
            "#define A __attribute__\n#define LAST destructor\nA((LAST)) static void f(void) {}",
            UNSEEN.format("destructor"),
        ),
        ('#define A(x) __attribute__((x))\nvoid f(void) {} void g(void) A(alias("f"));', SECOND.format("alias")),
        (
            '#define S(s) __attribute__((used, section(s)))\nstatic void (*f)(void) S(".fini" "_array") = 0;',
            UNSEEN.format("fini_array"),
        ),
        ('void f(void) {}\nvoid g(void);\n_Pragma("weak g = f")\n', PRAGMA),
        ("#define DO(x) _Pragma(#x)\nvoid f(void) {}\nvoid g(void);\nDO(weak g = f)\n", PRAGMA),
        ("void f(void) {}\nvoid g(void);\n#pragma redefine_extname g f\n", SECOND.format("redefine_extname")),
        ("void f(void) {}\n#pragma weak f\n", WEAK),
        (
            "#define WITH(kw, x) kw((x))\nstatic void f(void) WITH(__attribute__, destructor);",
            UNSEEN.format("destructor"),
        ),
        ("#define A(a, b) __attribute__((a##b))\nstatic void f(void) A(destr, uctor);", UNSEEN.format("destructor")),
        (
            "#define D(f) __attribute__((clean##up(f)))\nvoid c(int *p); void f(void) { int n D(c) = 0; }",
            UNSEEN.format("cleanup"),
        ),
        ("static void f(void) {}\nstatic void f(void) __attribute__((destructor));", UNREAD),
        ("#define LAST __attribute__((destructor))\nstatic void f(void) {}\nLAST static void f(void);", UNREAD),
        ("static void f(void) {}\nvoid g(void) { void f(void) __attribute__((destructor)); f(); }", UNREAD),
        ('__attribute__((section(".text\\n.globl g\\n"))) void f(void) {}', UNREAD),
        (
            "#define S(s) __attribute__((section(#s)))\nS(.fini_array) static void (*f)(void) = 0;",
            UNSEEN.format("fini_array"),
        ),
        ('#if 0\nnamespace x {\n#endif\nint n; asm("nop");\n#if 0\n}\n#endif\n', OUTSIDE),
        ('void h(void) __asm__("x"); void g(void) __asm__("x");', SECOND.format("asm")),
        ('#define WEAK_OF(f) _Pra##gma("weak f")\nvoid f(void);\n_Pragma("weak f")\nvoid f(void) {}', PRAGMA),
        ("int __wrap_puts(const char *s) { return s[0]; }", WRAP),
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
        "#define CHECK(e) do { int r __attribute__((unused)) = (e); } while (0)\n"
        "static int cleanup(int alias) { CHECK(alias); return alias; }\n"
        "static int f(void) { CHECK(cleanup(1)); return 0; }",
        '__attribute__((deprecated("use the alias (weak)"))) static int f(void) { return 0; }',
        "#define PAD(x) __attribute__((__##x##__))\nstatic void f(void) PAD(unused); static void f(void) {}",
        "static int f(void) { return 1; }\nstatic int f(void); /* __attribute__ */ int g(int a[3]);",
        "void *malloc(unsigned long n); int puts(const char *s); int puts(const char *s) { return s[0]; }",
        '__attribute__((section("notes.text"))) static void f(void) {}',
        "__attribute__((noreturn)) void f(void); __attribute__((aligned(64), unused)) static int n;",
        "#define PARALLEL(x) _Pragma(#x)\nstatic void f(int weak) { PARALLEL(GCC ivdep) while (weak) weak--; }",
        '#ifdef __cplusplus\nextern "C" {\n#endif\n'
        'static void f(void) { int n = 0; __asm__("nop"); if (n) { __asm__("nop"); } }\n'
        "#ifdef __cplusplus\n}\n#endif\n",
    ],
)
def test_programs_without(text: str) -> None:
    assert unseen_call(source(f"{text}\nint main(void) {{ return 0; }}\n").units) is None
