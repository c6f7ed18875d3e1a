"""``dataclass`` as the standard library's is, with methods that are made when they are first called.

The analysis has hundreds of such classes, and compiling all their methods was a third of what its import cost.  Of most
classes a run calls a method or two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    import dataclasses

    _MISSING = dataclasses.MISSING

    def dataclass(*, frozen=False, slots=False, eq=True, **more):
        """A dataclass; the fast way is for what is frozen and asks for nothing else."""
        if not frozen or more:
            return dataclasses.dataclass(frozen=frozen, slots=slots, eq=eq, **more)
        return lambda cls: with_methods(cls, True, slots, eq)

    def with_methods(cls, frozen, slots=True, eq=True):
        """The class with what a dataclass of its fields has: with a hash where with eq, frozen or not.

        The objects of one that is not frozen are pickled by the standard ways.
        """
        if cls.__doc__ is None:
            cls.__doc__ = cls.__name__  # else its signature is found and written there
        made = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(cls)
        for f in dataclasses.fields(made):
            if not f.init or f.kw_only:
                raise TypeError(f"{made.__name__}.{f.name}: a field is an argument that may be given by its place")
        names = ["__init__", "__repr__"]
        if eq:
            names += ["__eq__", "__hash__"]
        if frozen and slots:
            names += ["__getstate__", "__setstate__"]
        for name in names:
            if cls.__dict__.get(name) is None:
                setattr(made, name, _later(made, name, frozen))
        if frozen:
            for method in (_no_assignment, _no_deletion):
                if cls.__dict__.get(method.__name__) is None:
                    setattr(made, method.__name__, method)
        return made

    def _later(made, name, frozen):
        """The method, which puts the true one in its place where it is first called."""

        def first(self, *given, **named):
            around = {"put__": object.__setattr__, "missing__": _MISSING}  # no fields' names
            exec("\n".join(_TEXTS[name](made, dataclasses.fields(made), frozen, around)), around)
            method = around[name]
            method.__qualname__ = first.__qualname__
            setattr(made, name, method)
            return method(self, *given, **named)

        first.__name__, first.__qualname__ = name, f"{made.__qualname__}.{name}"
        return first

    def _no_assignment(self, name, value):
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

    def _no_deletion(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")

    _no_assignment.__name__, _no_deletion.__name__ = "__setattr__", "__delattr__"

    def _init(made, found, frozen, around):
        parameters, body = ["self"], []
        for f in found:
            value = f.name
            if f.default is not _MISSING:
                around[f"default__{f.name}"] = f.default
                parameters.append(f"{f.name}=default__{f.name}")
            elif f.default_factory is not _MISSING:
                around[f"make__{f.name}"] = f.default_factory
                parameters.append(f"{f.name}=missing__")
                value = f"make__{f.name}() if {f.name} is missing__ else {f.name}"
            else:
                parameters.append(f.name)
            body.append(f" put__(self, {f.name!r}, {value})" if frozen else f" self.{f.name} = {value}")
        if hasattr(made, "__post_init__"):
            body.append(" self.__post_init__()")
        return [f"def __init__({', '.join(parameters)}):", *(body or [" pass"])]

    def _repr(made, found, frozen, around):
        shown = ", ".join(f"{f.name}={{self.{f.name}!r}}" for f in found if f.repr)
        return ["def __repr__(self):", f" return f'{{self.__class__.__qualname__}}({shown})'"]

    def _compared(found, one):
        return f"({''.join(f'{one}.{f.name}, ' for f in found if f.compare)})"

    def _eq(made, found, frozen, around):
        return [
            "def __eq__(self, other):",
            " if other.__class__ is self.__class__:",
            f"  return {_compared(found, 'self')} == {_compared(found, 'other')}",
            " return NotImplemented",
        ]

    def _hash(made, found, frozen, around):
        return ["def __hash__(self):", f" return hash({_compared(found, 'self')})"]

    def _getstate(made, found, frozen, around):
        return ["def __getstate__(self):", f" return [{', '.join(f'self.{f.name}' for f in found)}]"]

    def _setstate(made, found, frozen, around):
        state = [f" put__(self, {f.name!r}, state[{place}])" for place, f in enumerate(found)]
        return ["def __setstate__(self, state):", *(state or [" pass"])]

    _TEXTS = {
        "__init__": _init,
        "__repr__": _repr,
        "__eq__": _eq,
        "__hash__": _hash,
        "__getstate__": _getstate,
        "__setstate__": _setstate,
    }
