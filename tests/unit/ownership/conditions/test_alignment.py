"""Alignment beyond that of buffers (assumption A7): what of a program's text tells of it."""

from __future__ import annotations

import pytest
from case_tools import case_path, run_tool

from opi_xform.ownership.conditions.memory.alignment import told_in


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("double x __attribute__((aligned(128)));", ["aligned"]),
        ("double x __attribute__((packed, __aligned__(N)));", ["__aligned__"]),
        ("double x __attribute__((aligned(64))); _Alignas(32) char c;", []),
        ("double x ATTR(aligned(128)); double y ATTRIBUTE((packed, aligned(128)));", ["aligned", "aligned"]),
        ("_Alignas(128) char c;", ["_Alignas"]),
        ("[[gnu::aligned(256)]] char c;", ["aligned"]),
        ("static void *aligned(size_t n);\np = aligned(4096);", []),
        ("#pragma omp simd aligned(b : 128)", ["aligned"]),
        ("#pragma omp simd \\\n    aligned(b : 128)", ["aligned"]),
        ('_Pragma("omp simd aligned(b : 128)")', ["aligned"]),
        ("#pragma omp simd aligned(a, b : 64)\n#pragma vector aligned", []),
        ("q = __builtin_assume_aligned(p, 4096);", ["__builtin_assume_aligned"]),
        ("q = __builtin_assume_aligned(p, 32);", []),
        ("typedef double v __attribute__((vector_size(128)));", ["vector_size"]),
        ("typedef double v __attribute__((ext_vector_type(16)));", ["ext_vector_type"]),
        ("fd = open(path, O_RDWR | O_DIRECT);", ["O_DIRECT"]),
        ('puts("http://x"); open(p, O_DIRECT);', ["O_DIRECT"]),
        ("/* __attribute__((aligned(128))) */ // O_DIRECT", []),
    ],
)
def test_what_a_text_tells(text: str, found: list[str]) -> None:
    assert [word for _, word in told_in(text)] == found


def test_strict_does_without_it() -> None:
    case = str(case_path("convert", "aligned_far_1.c"))
    _, out, err = run_tool([case])
    assert "A7 assumed" in out + err
    _, out, err = run_tool([case, "--strict"])
    assert "is aligned to 4096 bytes, and a taken buffer to 64" in out + err
