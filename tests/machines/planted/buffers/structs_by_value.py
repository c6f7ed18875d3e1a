"""Bugs in what is known of structs that functions get by value."""

from tests.machines.planted.bug import Bug

_BY_ADDRESS = "opi_xform.divide.structs.by_address"
_BY_RESULT = "opi_xform.divide.structs.by_result"

BUGS = (
    Bug(
        "nothing that runs meanwhile writes the struct of which a function has a copy",
        _BY_ADDRESS,
        "return all(sources.isdisjoint(self.written(one)) and UNKNOWN not in self.written(one) for one in running)",
        "return True",
        ("by_value_changed", "by_value_floating", "by_value_through", "by_value_whole", "by_value_callback"),
        condition="copies of structs",
    ),
    Bug(
        "floating numbers in a struct that is copied stay as they are",
        _BY_ADDRESS,
        "out = set(self.of(frame).written)",
        "return set(self.of(frame).moved)",
        ("by_value_floating", "by_value_through"),
        condition="copies of structs",
    ),
    Bug(
        "a function may change its copy",
        _BY_ADDRESS,
        "                    if isinstance(instr, ins.Load):\n",
        "                    if isinstance(instr, ins.Load | ins.Store):\n",
        ("by_value_set", "by_value_pointer"),
        condition="copies of structs",
    ),
    Bug(
        "a copy is made before anything else is passed",
        _BY_ADDRESS,
        "if any(has_effect(other) for other in call.args):",
        "if False:",
        ("by_value_argument",),
        condition="copies of structs",
    ),
    Bug(
        "a library calls nothing back while a function has a copy",
        _BY_ADDRESS,
        "        work = [frame, *self.always]\n",
        "        work = [frame]\n",
        ("by_value_callback",),
        also=Bug(
            "a library calls nothing back",
            _BY_ADDRESS,
            "return effect is not None and not effect.calls",
            "return effect is not None",
            (),
        ),
        condition="copies of structs",
    ),
    Bug(
        "a call after the declaration means the same names",
        _BY_RESULT,
        "if not names.isdisjoint(_WORD.findall(data, opened, e.span.end)):",
        "if False:",
        ("by_result_argument",),
        condition="copies of structs",
    ),
    Bug(
        "the name of the struct means nothing else in its function",
        _BY_RESULT,
        "if file != function.span.file or name in _WORD.findall(data, function.span.begin, d.statement.begin):",
        "if file != function.span.file:",
        ("by_result_word",),
        condition="copies of structs",
    ),
    Bug(
        "a number of a struct is the same in all copies",
        "opi_xform.values.evaluate",
        "                self.read_cell(node, base, lo + offset - at, type_)\n",
        "                same = self.symbols.of('opaque', (base, offset), frozenset())\n"
        "                self.set_cell(base, lo + offset - at, same, node, type_)\n",
        ("value_sizes_twice",),
        condition="packed",
    ),
    Bug(
        "the array sizes in a cast read nothing",
        "opi_xform.frontend.lower.array_sizes",
        "        value = Comma(value.type, value.span, e, value)\n",
        "        value = value\n",
        ("sized_cast_message", "sized_cast_row"),
        condition="read after send",
    ),
)
