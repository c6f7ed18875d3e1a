"""``dataclass`` as the standard library's is, with the methods of a class compiled in one piece.

The analysis has hundreds of such classes, and compiling each method of each by itself was half of what its import cost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    import dataclasses

    _MISSING = dataclasses.MISSING

    def dataclass(*, frozen=False, slots=False, **more):
        """A dataclass; the fast way is for what is frozen, has slots, and asks for nothing else."""
        if not (frozen and slots) or more:
            return dataclasses.dataclass(frozen=frozen, slots=slots, **more)
        return _frozen

    def _frozen(cls):
        return with_methods(cls, True)

    def with_methods(cls, frozen):
        """The class with slots, and what a dataclass of its fields has: with eq and hash, frozen or not.

        The objects of one that is not frozen are pickled by the standard ways of objects with slots.
        """
        made = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True)(cls)
        around = {"frozen_error": dataclasses.FrozenInstanceError, "put": object.__setattr__, "missing": _MISSING}
        text = "\n".join(_text(made, dataclasses.fields(made), frozen, around))
        exec(text, around)
        names = ["__init__", "__repr__", "__eq__", "__hash__"]
        if frozen:
            names += ["__setattr__", "__delattr__", "__getstate__", "__setstate__"]
        for name in names:
            if cls.__dict__.get(name) is None:
                method = around[name]
                method.__qualname__ = f"{made.__qualname__}.{name}"
                setattr(made, name, method)
        return made

    def _text(made, found, frozen, around):
        parameters, body, state = ["self"], [], []
        for f in found:
            if not f.init or f.kw_only:
                raise TypeError(f"{made.__name__}.{f.name}: a field is an argument that may be given by its place")
            value = f.name
            if f.default is not _MISSING:
                around[f"default_{f.name}"] = f.default
                parameters.append(f"{f.name}=default_{f.name}")
            elif f.default_factory is not _MISSING:
                around[f"make_{f.name}"] = f.default_factory
                parameters.append(f"{f.name}=missing")
                value = f"make_{f.name}() if {f.name} is missing else {f.name}"
            else:
                parameters.append(f.name)
            body.append(f" put(self, {f.name!r}, {value})" if frozen else f" self.{f.name} = {value}")
            state.append(f" put(self, {f.name!r}, state[{len(state)}])")
        if hasattr(made, "__post_init__"):
            body.append(" self.__post_init__()")
        shown = ", ".join(f"{f.name}={{self.{f.name}!r}}" for f in found if f.repr)
        compared = [f.name for f in found if f.compare]
        mine, theirs = (f"({''.join(f'{one}.{name}, ' for name in compared)})" for one in ("self", "other"))
        yield f"def __init__({', '.join(parameters)}):"
        yield from body or [" pass"]
        yield "def __repr__(self):"
        yield f" return f'{{self.__class__.__qualname__}}({shown})'"
        yield "def __eq__(self, other):"
        yield " if other.__class__ is self.__class__:"
        yield f"  return {mine} == {theirs}"
        yield " return NotImplemented"
        yield "def __hash__(self):"
        yield f" return hash({mine})"
        if frozen:
            yield "def __setattr__(self, name, value):"
            yield " raise frozen_error(f'cannot assign to field {name!r}')"
            yield "def __delattr__(self, name):"
            yield " raise frozen_error(f'cannot delete field {name!r}')"
            yield "def __getstate__(self):"
            yield f" return [{', '.join(f'self.{f.name}' for f in found)}]"
            yield "def __setstate__(self, state):"
            yield from state or [" pass"]
