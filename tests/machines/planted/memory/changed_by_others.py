"""Bugs in what is known of memory that others write: threads, handlers, callbacks, windows, persistent requests."""

from tests.machines.planted.bug import Bug

_CONSTRAINTS = "opi_xform.pointsto.constraints"
_FOREIGN = "opi_xform.calls.foreign"
_INTERP = "opi_xform.values.interp"

BUGS = (
    Bug(
        "what others may write loses its value only where they get it",
        _INTERP,
        "        calls.objects.foreign.update(calls.foreign)\n",
        "",
        ("behind_signal", "behind_window", "behind_attribute", "behind_persistent", "behind_bottom"),
        condition="changed by others",
    ),
    Bug(
        "a persistent request fills its buffer once",
        _FOREIGN,
        "if effect.mpi is not None and effect.mpi.persistent:",
        "if False:",
        ("behind_persistent", "behind_persistent_member"),
        condition="changed by others",
    ),
    Bug(
        "a function that is not followed registers nothing",
        _FOREIGN,
        "if not calls.objects.hidden.isdisjoint(functions):",
        "if False:",
        ("behind_signal_by_setjmp",),
        condition="changed by others",
    ),
    Bug(
        "memory of windows and segments has one address",
        _CONSTRAINTS,
        "            if effect.allocates.shared:\n                self.system.add(OUTSIDE, frozenset({heap}))\n",
        "",
        ("behind_window_shared", "behind_segment"),
        Bug(
            "memory of windows and segments is the program's own",
            _FOREIGN,
            "if effect.allocates is not None and effect.allocates.shared:",
            "if False:",
            (),
        ),
        condition="changed by others",
    ),
    Bug(
        "functions that are kept are called at once or never",
        _FOREIGN,
        'later = any(callback.when in ("later", "concurrent") for callback in effect.calls)',
        "later = False",
        ("behind_signal", "behind_errhandler", "behind_operation"),
        condition="changed by others",
    ),
    Bug(
        "a type that is made of addresses forgets them",
        _CONSTRAINTS,
        "                self.system.copy(held, OUTSIDE)\n",
        "                pass\n",
        ("behind_bottom_cast",),
        Bug(
            "what a type is made of is not given away",
            _FOREIGN,
            "            yield calls.pts.reachable(given) - given,",
            "            yield frozenset(),",
            (),
        ),
        condition="changed by others",
    ),
    Bug(
        "an operation of the program knows no addresses",
        _CONSTRAINTS,
        "for i in handed_over(effect, call):",
        "for i in ():",
        ("behind_operation_argument",),
        Bug(
            "what an operation is called with is not given away",
            _FOREIGN,
            "for i in handed_over(effect, call):",
            "for i in ():",
            (),
        ),
        condition="changed by others",
    ),
    Bug(
        "a type of distances may have an address among them",
        "opi_xform.memory.extent",
        "    return all(place is not None and known.symbols.resolve(place).constant is not None for place in places)\n",
        "    return any(place is not None and known.symbols.resolve(place).constant is not None for place in places)\n",
        ("behind_absolute",),
        condition="changed by others",
    ),
    Bug(
        "each displacement is a constant",
        "opi_xform.memory.extent",
        "    return all(place is not None and known.symbols.resolve(place).constant is not None for place in places)\n",
        "    return True\n",
        ("behind_relative_type", "behind_struct", "behind_places"),
        condition="changed by others",
    ),
    Bug(
        "what MPI_Get_address gives is no address",
        _CONSTRAINTS,
        '                    self.system.store(to, origin)\n                    self.system.view("word", to, origin)\n',
        "                    pass\n",
        ("behind_address", "behind_bottom"),
        condition="changed by others",
    ),
    Bug(
        "a distance goes into no number that a function makes",
        _CONSTRAINTS,
        "            for operand in call.args if call.call.type.holds_address else ():\n",
        "            for operand in ():\n",
        ("behind_extent",),
        condition="changed by others",
    ),
)
