"""Whether anything but speed may depend on where a buffer lies (named assumption A7).

A program that asks for more than 64 bytes of alignment (a page, a number that it reads) wants speed nearly always.  It
needs the alignment where the compiler was told of it, or the system.  Of both the text has a word: an attribute, a
directive, ``O_DIRECT``; or the buffer goes to a call of the system.  An address that is made a number keeps its buffer
anyway.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from opi_xform.ir.calls import called_key
from opi_xform.ir.span import Span
from opi_xform.once import once
from opi_xform.ownership.explain.called import node_span
from opi_xform.ownership.model.buffers import ALIGNMENT, Buffer, Program
from opi_xform.ownership.spelling.mentions import Texts

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'", re.DOTALL)
"""Comments, and the texts in which they are none."""
_TOLD = re.compile(
    r"\b(?P<attribute>(?:__)?aligned(?:__)?|_Alignas|alignas|(?:__)?vector_size(?:__)?|\w*assume_aligned\w*)\b\s*\("
    r"|\b(?P<always>_*O_DIRECT\w*|__declspec|\w*(?:DIRECTIO|F_NOCACHE|ext_vector_type)\w*)\b"
)
_LEAD = re.compile(
    r"__attribute(?:__)?\b[^;{}]*\Z|\[\[[^\]]*\Z|#[ \t]*pragma[^\n]*\Z|_Pragma\s*\([^;]*\Z"
    r"|[(,]\s*\Z"  # given to a macro, which may write an attribute around it
)
_NEAR = 400  # characters in which an attribute or a directive begins
_NUMBER = re.compile(r"\s*(\d+)[uUlL]*\s*")
_CALLS = frozenset(
    {"read", "pread", "pread64", "write", "pwrite", "pwrite64", "readv", "preadv", "preadv64", "writev", "pwritev"}
    | {"pwritev64", "aio_read", "aio_write", "vmsplice", "splice", "io_submit", "msync", "mprotect", "madvise"}
    | {"posix_madvise", "mlock", "mlock2", "munlock", "mincore", "mbind", "move_pages", "mmap", "munmap", "mremap"}
)
"""Calls of the system that may ask for a page, or for a block of the disk."""
_FAR = 1 << 40


def needing(program: Program, buffer: Buffer) -> tuple[Span | None, str] | None:
    """Where something may need the alignment of a buffer, and what that is; None: nothing does."""
    for variable in program.variables.values():
        if variable.alignment > ALIGNMENT:
            return variable.span, f"and `{variable.name}` shows that types here need more"
    for o in buffer.objects:
        found = _system_calls(program).get(o)
        if found is not None:
            name = called_key(program.graph.nodes[found].action)
            return node_span(program, found), f"and `{name}` may need that"
    return _told(program)


@once
def _system_calls(program: Program) -> dict[int, int]:
    """By object: a call that it is given to and that may look at where it lies."""
    out: dict[int, int] = {}
    for node in program.graph.nodes:
        if called_key(node.action) in _CALLS:
            values = program.values
            for value in values.args.get(node.number, ()):
                base = values.symbols.base(values.symbols.not_null(value))
                if base is not None:
                    out.setdefault(base, node.number)
            for o in values.accesses.objects(node.number):
                out.setdefault(o, node.number)
    return out


@once
def _told(program: Program) -> tuple[Span | None, str] | None:
    """The first place where the text tells the compiler, or the system, of more than 64 bytes."""
    texts = Texts()
    for path in program.files:
        text = texts.of(Span(path, 0, _FAR, 1, 1))
        for at, word in told_in(text):
            line = text.count("\n", 0, at) + 1
            return Span(path, at, at, line, at - text.rfind("\n", 0, at)), f"and the program's text has `{word}`"
    return None


def told_in(text: str) -> Iterator[tuple[int, str]]:
    """The places in a text that tell of such an alignment, each with its word."""
    text = _COMMENT.sub(_blank, text.replace("\\\n", "  "))
    for found in _TOLD.finditer(text):
        if found["always"]:
            yield found.start(), found["always"]
            continue
        word = found["attribute"].strip("_")
        if word == "aligned" and not _LEAD.search(text[max(found.start() - _NEAR, 0) : found.start()]):
            continue  # a function's name
        if not _enough(_inside(text, found.end())):
            yield found.start(), found["attribute"]


def _inside(text: str, begin: int) -> str:
    """What stands in the parentheses that are open there."""
    depth = 1
    for i in range(begin, len(text)):
        depth += (text[i] == "(") - (text[i] == ")")
        if depth == 0:
            return text[begin:i]
    return text[begin:]


def _enough(given: str) -> bool:
    """``64``, ``p, 32`` (assume_aligned), ``p, q : 16`` (a directive): a number that a taken buffer has."""
    found = _NUMBER.fullmatch(re.split(r"[,:]", given)[-1])
    return found is not None and 0 < int(found[1]) <= ALIGNMENT


def _blank(found: re.Match[str]) -> str:
    if found[0][0] in "\"'":
        return found[0]
    return re.sub(r"[^\n]", " ", found[0])
