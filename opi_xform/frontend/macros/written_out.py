"""A use of a macro, written out: its body once, with the arguments in the places of the parameters.

Macros that the body names stay names.  What the compiler reads is the same, token for token: where that is not sure,
there is no such text.  Three things of C 6.10.3 make the difference between a text and what the preprocessor makes.

- Arguments are expanded before they are put in (6.10.3.1).  A macro in the body that is handed one as it is written
  would quote or paste another text, or count other commas.
- A macro is not expanded again in what it makes (6.10.3.4): one that leads to its own name stays.  A name that takes
  arguments has to have them where it stands.
- Tokens never grow together: a blank keeps them apart.

It has as many lines as the use had.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from opi_xform.frontend.clang.source import File, skip_space, tokens, trim_end
from opi_xform.frontend.macros.expansions import Definition, Expansion, Macros, arguments_of
from opi_xform.frontend.macros.quoted import Quoted
from opi_xform.record import dataclass

_COUNTED = frozenset({"__COUNTER__", "_Pragma", "__VA_OPT__", "__INCLUDE_LEVEL__"})
"""What means something else elsewhere, or is not understood."""
_REST = b"__VA_ARGS__"
_JOINING = b"+-<>=&|#.:%/*^!?"


@dataclass(frozen=True, slots=True)
class Piece:
    """Text of an expansion: ``text``, or what is written at ``[begin, end)`` (begin is -1 for the former).

    free: that argument is there once, and no macro quotes it: an edit of it can be made where it is written.
    """

    text: bytes
    begin: int = -1
    end: int = -1
    free: bool = False


@dataclass(frozen=True, slots=True)
class _Token:
    """A token of a body; spaced: blanks stand before it."""

    text: bytes
    spaced: bool


class _UnknownError(Exception):
    """What the use becomes is not known."""


def written_out(file: File, use: Expansion, macros: Macros, quoted: Quoted) -> tuple[Piece, ...] | None:
    """What a use of a macro becomes; None where that is not known."""
    definition = use.definition
    if definition is None or definition.system or macros.leads_to(use, use.name) or macros.reached(use) & _COUNTED:
        return None
    if b"??" in definition.text or b"\\\n" in file.data[use.begin : use.end] or _follows_name(file, use, macros):
        return None
    try:
        return tuple(_Writing(file, use, definition, macros, quoted).run())
    except _UnknownError:
        return None


def _follows_name(file: File, use: Expansion, macros: Macros) -> bool:
    """The name of a macro with parameters stands before the use: parentheses after it would be its arguments."""
    line = file.data.rfind(b"\n", 0, max(file.data.rfind(b";", 0, use.begin), 0)) + 1
    before = [file.data[a:b] for a, b, kind in tokens(file.data, line, use.begin) if kind != "space"]
    definition = macros.definition(before[-1].decode("utf-8", "replace")) if before else None
    return definition is not None and definition.parameters is not None


class _Writing:
    """One use: ``run``."""

    def __init__(self, file: File, use: Expansion, definition: Definition, macros: Macros, quoted: Quoted) -> None:
        self.data = file.data
        self.file = file
        self.use = use
        self.definition = definition
        self.macros = macros
        self.quoted = quoted
        self.parameters, self.body = _read(definition)
        self.arguments = self._arguments() if self.parameters is not None else {}

    def run(self) -> Iterator[Piece]:
        """The text; blanks around it where it would grow together with what stands there; each argument on its line."""
        last = self.data[: self.use.begin][-1:]
        lines = 0
        for piece, spaced in [*self._pieces(), (None, False)]:
            first = self._first(piece) if piece is not None else self.data[self.use.end : self.use.end + 1]
            at = self.use.end if piece is None else piece.begin
            missing = self.data.count(b"\n", self.use.begin, at) - lines if at >= 0 else 0
            if missing > 0:
                yield Piece(self._broken(at) * missing)
                lines += missing
            elif spaced or _grows(last, first):
                yield Piece(b" ")
            if piece is not None:
                yield piece
                last = self._last(piece)
                lines += self.data.count(b"\n", piece.begin, piece.end) if piece.begin >= 0 else 0
        if lines != self.data.count(b"\n", self.use.begin, self.use.end):
            raise _UnknownError

    def _broken(self, at: int) -> bytes:
        """The end of a line, and the blanks that begin the line of a place."""
        start = self.data.rfind(b"\n", 0, at) + 1
        end = start
        while self.data[end : end + 1] in (b" ", b"\t") and end < at:
            end += 1
        return (b"\r\n" if self.data[:start].endswith(b"\r\n") else b"\n") + self.data[start:end]

    def _first(self, piece: Piece) -> bytes:
        return piece.text[:1] if piece.begin < 0 else self.data[piece.begin : piece.begin + 1]

    def _last(self, piece: Piece) -> bytes:
        return piece.text[-1:] if piece.begin < 0 else self.data[piece.end - 1 : piece.end]

    # --- arguments --------------------------------------------------------------------------------------------------

    def _arguments(self) -> dict[bytes, tuple[int, int]]:
        """Where the argument of each parameter is written, blanks around it left out; may be empty."""
        assert self.parameters is not None
        opened = skip_space(self.data, self.use.begin + len(self.use.name.encode("utf-8", "surrogateescape")))
        found = arguments_of(self.data, opened, self.use.end)
        if not self.parameters:
            if len(found) != 1 or self._trimmed(*found[0])[0] != self._trimmed(*found[0])[1]:
                raise _UnknownError
            return {}
        names = list(self.parameters)
        out = {}
        if names[-1] == _REST:
            names.pop()
            rest = found[len(names) :]
            out[_REST] = self._trimmed(rest[0][0], rest[-1][1]) if rest else (0, 0)
        elif len(found) > len(names):
            raise _UnknownError
        if len(found) < len(names):
            raise _UnknownError
        for place in found:
            self._require_called(*place)
        return {**out, **{name: self._trimmed(*place) for name, place in zip(names, found, strict=False)}}

    def _require_called(self, begin: int, end: int) -> None:
        """No macro with parameters is named in an argument without its own.  Raises _UnknownError.

        Parentheses of the body might become these, and it is expanded where it is not in a text, or the other way.
        """
        words = [self.data[a:b] for a, b, kind in tokens(self.data, begin, end) if kind != "space"]
        for at, word in enumerate(words):
            if words[at + 1 : at + 2] != [b"("] and self._takes_arguments(word):
                raise _UnknownError

    def _takes_arguments(self, word: bytes) -> bool:
        definition = self.macros.definition(word.decode("utf-8", "replace"))
        return definition is not None and definition.parameters is not None

    def _trimmed(self, begin: int, end: int) -> tuple[int, int]:
        first = min(skip_space(self.data, begin), end)
        return first, max(first, trim_end(self.data, first, end))

    def _handed_on(self, name: bytes, at: int) -> None:
        """An argument may be put in as it is written, at this place of the body.  Raises _UnknownError."""
        begin, end = self.arguments[name]
        inside = self.macros.within(self.file.path, begin, end)
        if not inside:
            return
        for one in inside:
            if one.definition is None or not self._one(one):
                raise _UnknownError
        words = tuple(token.text.decode("utf-8", "replace") for token in self.body)
        for inner, position in self.macros.call_around(words, at) or ():
            if self.quoted.quotes(inner, position):
                raise _UnknownError

    def _one(self, use: Expansion) -> bool:
        """No comma of what a macro makes stands outside parentheses, and its end takes no parentheses of others."""
        found = [self.macros.definition(word) for word in self.macros.reached(use)]
        made = [one for one in (use.definition, *found) if one is not None]
        if any(one.body and self._takes_arguments(one.body[-1].encode()) for one in made):
            return False
        return all(Expansion(one.name, 0, 0, one).single for one in made)

    def _free(self, name: bytes) -> bool:
        begin, end = self.arguments[name]
        return self.macros.argument_is_free(self.file, begin, end, [self.use])

    # --- the body ---------------------------------------------------------------------------------------------------

    def _pieces(self) -> Iterator[tuple[Piece, bool]]:
        """What the body becomes, each piece with whether blanks stand before it."""
        at, body = 0, self.body
        while at < len(body):
            token = body[at]
            if self._text(at) == b"#" and self.parameters is not None:
                yield Piece(self._quote(at + 1)), token.spaced
                at += 2
            elif token.text == b"," and self._text(at + 1) == b"##" and self._text(at + 2) == _REST:
                yield from self._comma(token, at + 2)
                at += 3
            elif self._text(at + 1) == b"##":
                end = at + 1
                while self._text(end) == b"##":
                    end += 2
                pasted = b"".join(self._operand(place) for place in range(at, end, 2))
                if pasted:
                    self._require_other(pasted.decode("utf-8", "replace"))
                    yield Piece(_one_token(pasted)), token.spaced
                at = end
            elif token.text in self.arguments:
                yield from self._argument(token, at)
                at += 1
            else:
                yield Piece(token.text), token.spaced
                at += 1

    def _text(self, at: int) -> bytes:
        return self.body[at].text if at < len(self.body) else b""

    def _argument(self, token: _Token, at: int) -> Iterator[tuple[Piece, bool]]:
        self._handed_on(token.text, at)
        begin, end = self.arguments[token.text]
        if begin < end:
            yield Piece(b"", begin, end, self._free(token.text)), token.spaced

    def _comma(self, comma: _Token, at: int) -> Iterator[tuple[Piece, bool]]:
        """``, ## __VA_ARGS__``: of GNU C, the comma goes where nothing follows it."""
        if self.parameters is None or len(self.parameters) < 2 or self._text(at + 1) == b"##":
            raise _UnknownError
        begin, end = self.arguments[_REST]
        if begin == end > 0:  # there, and empty: compilers differ
            raise _UnknownError
        for a, b, kind in tokens(self.data, begin, end):  # it is put in as it is written
            if kind == "word":
                self._require_other(self.data[a:b].decode("utf-8", "replace"))
        if begin < end:
            yield Piece(comma.text), comma.spaced
            yield from self._argument(_Token(_REST, True), at)

    def _require_other(self, name: str) -> None:
        """What this names does not lead back to the macro, which is not expanded again.  Raises _UnknownError."""
        definition = self.macros.definition(name)
        if name == self.use.name:
            raise _UnknownError
        if definition is not None and self.macros.leads_to(Expansion(name, 0, 0, definition), self.use.name):
            raise _UnknownError

    def _operand(self, at: int) -> bytes:
        """An operand of ``##``: one token, or nothing."""
        if at >= len(self.body) or self.body[at].text in (b"#", b"##"):
            raise _UnknownError
        text = self.body[at].text
        if text in self.arguments:
            begin, end = self.arguments[text]
            return _one_token(self.data[begin:end]) if begin < end else b""
        return text

    def _quote(self, at: int) -> bytes:
        """``#`` and a parameter: the argument as a string."""
        if self._text(at) not in self.arguments or self._text(at + 1) == b"##" or self._text(at - 2) == b"##":
            raise _UnknownError
        begin, end = self.arguments[self._text(at)]
        out = b""
        for a, b, kind in tokens(self.data, begin, end):
            text = self.data[a:b]
            if kind == "space":
                out += b" "
            elif kind == "string":
                out += text.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
            elif b"\\" in text or b'"' in text:
                raise _UnknownError
            else:
                out += text
        return b'"' + out + b'"'


def _read(definition: Definition) -> tuple[tuple[bytes, ...] | None, Sequence[_Token]]:
    """A definition's parameters (None: it has no list of them), and its body.  Raises _UnknownError."""
    text = definition.text
    found = tokens(text, 0, len(text))
    words: list[_Token] = []
    spaced = False
    for begin, end, kind in found[1:]:
        if kind != "space":
            words.append(_Token(text[begin:end], spaced))
        spaced = kind == "space"
    parameters: tuple[bytes, ...] | None = None
    if definition.parameters is not None:
        close = next(i for i, token in enumerate(words) if token.text == b")")
        listed = b"".join(token.text for token in words[1:close])
        parameters = tuple(listed.split(b",")) if listed else ()
        if parameters and parameters[-1] == b"...":
            parameters = (*parameters[:-1], _REST)
        if any(b"." in name for name in parameters):  # GNU's named ones
            raise _UnknownError
        words = words[close + 1 :]
    if words:
        words[0] = _Token(words[0].text, False)
    return parameters, words


def _one_token(text: bytes) -> bytes:
    """The text, if it is one token.  Raises _UnknownError."""
    found = tokens(text, 0, len(text))
    if len(found) != 1 or found[0][2] == "space":
        raise _UnknownError
    return text


def _grows(left: bytes, right: bytes) -> bool:
    """Whether a token that ends so and one that begins so may be read as one."""
    if not left or not right:
        return False
    word = all(byte.isalnum() or byte in b"_$" or byte >= b"\x80" for byte in (left, right))
    number = (left.isdigit() or left in b".eEpP") and right in b".+-"
    quote = (left.isalnum() or left == b"_") and right in b"\"'"
    return word or number or quote or (left in _JOINING and right in _JOINING)
