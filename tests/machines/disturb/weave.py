"""Puts a disturbance into a case: the text of the program that results, and the sites of it that must stay."""

from __future__ import annotations

import re
from dataclasses import dataclass
from string import Template

from tests.machines.disturb.hosts import HOLE, Host
from tests.machines.disturb.table import Variant

KEEP = "//~ keep"
SHOW = 'static void dz_show(int dz_x)\n{\n    printf("dz %d\\n", dz_x & 255);\n}\n'
FIRST = ("mpi.h", "stdio.h", "stdlib.h", "string.h", "stdint.h")
CLASHES = {"sys/socket.h": re.compile(r"^[\w *]*\b(?:send|recv|accept|bind|connect|listen)\(", re.MULTILINE)}
"""Headers that declare what a program may have as a function of its own."""
DECLARED = {
    "address": "unsigned char *dz_p = 0;",
    "flag": "int dz_f = 0;",
    "rank": "int dz_s = 0;",
    "count": "int dz_n = $count, dz_m = 0;",
    "type": "int dz_n = $count; MPI_Datatype dz_T;",
}
"""What a kind of each class sets."""
FUNCTIONS = {
    "rank": ("static int dz_get(void)\n{\n    int dz_s = 0;\n", "dz_s", "dz_s = dz_get();"),
    "count": ("static int dz_get(int dz_n)\n{\n    int dz_m = 0;\n", "dz_m", "dz_m = dz_get(dz_n);"),
    "type": ("static MPI_Datatype dz_get(int dz_n)\n{\n    MPI_Datatype dz_T;\n", "dz_T", "dz_T = dz_get(dz_n);"),
}
"""The head of a function that does what a kind does, what it returns, and its call."""


@dataclass(frozen=True, slots=True)
class Woven:
    """A disturbed case: its texts, and (file, line, side) of the sites that must stay; '' as side: every one there."""

    host: Host
    variant: Variant
    texts: dict[str, str]
    stay: tuple[tuple[str, int, str], ...]

    @property
    def name(self) -> str:
        return f"{self.variant.name}--{self.host.name}"


def fits(host: Host, variant: Variant) -> bool:
    """The host has what the use needs."""
    use, kind = variant.use, variant.kind
    needs = use.blocking or kind.writes
    if host.side != use.side or (needs and not host.blocking) or (use.carrier and not host.carrier):
        return False
    if (kind.lasting and not host.lasting) or (kind.beginning and host.inside):
        return False
    if any(word in CLASHES and CLASHES[word].search(host.case.texts[host.file]) for word in kind.include):
        return False
    if use.hole:
        return bool(host.holes) and host.lasting  # what malloc gave has no contents that a hole could leave
    if host.side == "recv" and not host.whole and "$bytes" in use.after + kind.get:
        return False  # the byte that is shown may lie after the message, which A1 rules out
    return not ((use.typed and not host.c_type) or (use.real and host.c_type not in ("double", "float")))


def woven(host: Host, variant: Variant) -> Woven:
    """The disturbed case."""
    kind, use = variant.kind, variant.use
    words = {
        "buf": f"({host.buffer})",
        "count": f"({host.count})",
        "type": host.mpi_type,
        "ctype": host.c_type,
        "bytes": f"((size_t)({host.count}) * sizeof({host.c_type or 'char'}))",
    }
    if use.carrier:
        words["buf"] = f"(&{host.carrier})"
    static = kind.brings == "flag" and variant.flag == "static"
    apart = variant.place == "function"
    top = "".join(f"#include <{name}>\n" for name in (*FIRST, *kind.include)) + SHOW
    top += ("static int dz_f;\n" if static else "") + kind.top + "\n"
    text = {"put": kind.put, "get": kind.get, "clean": kind.clean}
    if apart:
        functions, text = _functions(variant, static)
        top += functions
    words.update({name: _filled(part, words) for name, part in text.items()})
    declared = "" if static else DECLARED.get(kind.brings, "")
    lines = host.case.texts[host.file].splitlines()
    stay: list[tuple[str, int, str]] = []
    body: list[str] = []
    if use.hole:
        at = host.holes[0]
        found = HOLE.match(lines[at - 1])
        assert found
        old, new = f"{found[2]}0", f"{found[2]}{use.hole}"
        lines[at - 1] = found[1].replace(old, new, 1)
        body, start = [lines[host.line - 1]], 0
    else:
        before = _lines(_filled(declared, words)) + _lines(_filled(use.before, words))
        after = _lines(_filled(use.after, words))
        body = ["{", *before, lines[host.line - 1], *after, "}"]
        start = 1 + len(before)
    above = _above(lines)
    inserted = _lines(Template(top).safe_substitute(words))
    shift = len(inserted) if above < host.line else 0
    if variant.host == "keep":
        # a hole is one of all the case's sends
        sends = [wish.line for wish in host.case.wishes if wish.kind == "give" and wish.file == host.file]
        wanted = sends if use.hole else [host.line]
        stay += [(host.file, line + shift + start, host.side) for line in wanted]
    whole = [*lines[:above], *inserted, *lines[above : host.line - 1], *body, *lines[host.line :]]
    own = [n for n, line in enumerate(body, host.line) if line.rstrip().endswith(KEEP) and n != host.line + start]
    stay += [(host.file, shift + n, "") for n in own]
    texts = {**host.case.texts, host.file: "\n".join(whole) + "\n"}
    return Woven(host, variant, texts, tuple(sorted(set(stay))))


def _functions(variant: Variant, static: bool) -> tuple[str, dict[str, str]]:
    """The kind's statements in functions of their own, and the statements that call them."""
    kind = variant.kind
    if kind.brings == "flag":
        inside = "" if static else "    int dz_f = 0;\n"
        get = f"{kind.put}\n    dz_f = 0;\n{kind.get}\n{kind.clean}\n"
        text = f"static int dz_get(void)\n{{\n{inside}{get}    return dz_f;\n}}\n"
        return text, {"put": "", "get": "dz_f = dz_get();", "clean": ""}
    if kind.brings == "address":
        # what is put and got at two places needs two functions, which share nothing but what is at file level
        put, get = (part.replace("$buf", "dz_a") for part in (kind.put, kind.get))
        text = (
            f"static void dz_put(void *dz_a)\n{{\n    (void)dz_a;\n{put}\n}}\n"
            "static unsigned char *dz_get(void *dz_a)\n{\n    unsigned char *dz_p = 0;\n    (void)dz_a;\n"
            f"{get}\n{kind.clean}\n    return dz_p;\n}}\n"
        )
        return text, {"put": "dz_put($buf);", "get": "dz_p = dz_get(0);", "clean": ""}
    head, result, call = FUNCTIONS[kind.brings]
    text = f"{head}{kind.put}\n{kind.get}\n{kind.clean}\n    return {result};\n}}\n"
    text = text.replace("$bytes", "((size_t)dz_n * sizeof($ctype))")  # what the call says may be local there
    return text, {"put": "", "get": call, "clean": ""}


def _filled(text: str, words: dict[str, str]) -> str:
    return Template(text).safe_substitute(words)


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def _above(lines: list[str]) -> int:
    """How many lines of a file come before the first that is no comment, directive or empty, after its includes."""
    last, depth = 0, 0
    for number, line in enumerate(lines, 1):
        depth += len(re.findall(r"^\s*#\s*if", line)) - len(re.findall(r"^\s*#\s*endif", line))
        if re.match(r"^\s*#\s*include\b", line) and depth == 0:
            last = number
        elif line.strip().endswith(("{", ";")):
            break
    return last
