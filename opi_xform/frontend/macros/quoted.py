"""Whether a macro turns what it is given into text or pastes it: such a name cannot become another one unseen."""

from __future__ import annotations

from opi_xform.frontend.clang.source import File
from opi_xform.frontend.macros.expansions import Definition, Macros

_HARMLESS = frozenset(("assert", "__assert"))
"""Macros of the C library whose text is shown only when the program ends."""


class Quoted:
    """Questions about one unit's macros; each answered once."""

    def __init__(self, macros: Macros) -> None:
        self._macros = macros
        self._known: dict[tuple[str, int], bool] = {}

    def at(self, file: File, begin: int, end: int, name: str, made_by: str | None) -> bool:
        """Of the name at ``[begin, end)``, written in a macro's argument; or in the body of the macro ``made_by``."""
        for outer in self._macros.around(file.path, begin):
            if outer.definition is None:
                return True
            position = self._macros.argument(file, outer, begin, end)
            if position is None or self.quotes(outer.definition, position):
                return True
        if made_by is None:
            return False
        definition = self._macros.definition(made_by)
        return definition is None or self._body(definition, name)

    def _body(self, definition: Definition, name: str) -> bool:
        """Whether the name is quoted where it stands in the body, or in that of a macro named there."""
        work, seen, found = [definition], {definition.name}, False
        while work:
            current = work.pop()
            if name in (current.parameters or ()):
                continue
            for place, token in enumerate(current.body):
                if token == name:
                    found = True
                    if self._token(current, place):
                        return True
                elif token not in seen:
                    seen.add(token)
                    inner = self._macros.definition(token)
                    if inner is not None:
                        work.append(inner)
        return not found

    def _token(self, definition: Definition, place: int) -> bool:
        body = definition.body
        before = body[place - 1] if place else ""
        after = body[place + 1] if place + 1 < len(body) else ""
        if before == "##" or after == "##" or (before == "#" and definition.parameters is not None):
            return True
        return any(self.quotes(d, position) for d, position in self._macros.call_around(body, place) or ())

    def quotes(self, definition: Definition, position: int) -> bool:
        """Whether the macro quotes its argument number ``position``, itself or by handing it on."""
        work, seen = [(definition, position)], {(definition.name, position)}
        while work:
            current, index = work.pop()
            if current.system and current.name in _HARMLESS:
                continue
            parameters = current.parameters
            if parameters is None:
                return True
            variadic = bool(parameters) and (parameters[-1] == "..." or parameters[-1].endswith("..."))
            if variadic and index >= len(parameters) - 1:
                name = "__VA_ARGS__"
            elif index < len(parameters):
                name = parameters[index]
            else:
                return True
            for place, token in enumerate(current.body):
                if token != name:
                    continue
                before = current.body[place - 1] if place else ""
                after = current.body[place + 1] if place + 1 < len(current.body) else ""
                if before in ("#", "##") or after == "##":
                    return True
                for inner in self._macros.call_around(current.body, place) or ():
                    mark = (inner[0].name, inner[1])
                    if mark not in seen:
                        seen.add(mark)
                        work.append(inner)
        return False
