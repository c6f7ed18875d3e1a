"""Planted bugs of unsigned numbers near the end of their type, and of numbers that are cut off."""

from tests.planted.bug import Bug

_SYMBOLS = "opi_xform.memory.symbols"
_EVALUATE = "opi_xform.memory.evaluate"

NUMBERS = (
    Bug(
        "unsigned sums with numbers near the end of the type do not wrap",
        _SYMBOLS,
        "if any(abs(c) >= WRAPS for p in sums for _, c in p.terms):",
        "if False:",
        ("odd_unsigned_near_end",),
        condition="numbers that wrap",
    ),
    Bug(
        "unsigned sums of one number that are compared do not wrap",
        _SYMBOLS,
        'return bool(sums) and any(self.table[s].kind != "count" for s in both)',
        "return False",
        ("odd_unsigned_read", "odd_unsigned_read_last"),
        condition="numbers that wrap",
    ),
    Bug(
        "a number of 64 bits keeps its value in 32",
        _EVALUATE,
        "        if any(abs(c) >= WRAPS for _, c in value.terms):\n            return True\n",
        "",
        ("odd_long_cut", "odd_long_cut_assigned"),
        condition="numbers that wrap",
    ),
    Bug(
        "a number chosen from some near the end of the type does not wrap",
        _EVALUATE,
        "return any(c.constant is not None and abs(c.constant) >= WRAPS for c in arms)",
        "return False",
        ("odd_unsigned_arm",),
        condition="numbers that wrap",
    ),
    Bug(
        "a quotient of what was multiplied is what it was",
        _EVALUATE,
        "((op.type.size or 0) < 8 or self.computed(values[0]))",
        "((op.type.size or 0) < 8)",
        ("odd_wrapped_quotient_wide",),
        condition="numbers that wrap",
    ),
    Bug(
        "rows of variable length are as long as their number is now",
        "opi_xform.ir.lower",
        "counts.append(value if isinstance(value, ins.Const) else self.defined(var, value, e.type))",
        "counts.append(value)",
        ("vla_changed",),
        condition="values",
    ),
    Bug(
        "what typeof is asked is a length",
        "opi_xform.frontend.bounds",
        "behind = e.span.file == name.file and e.span.begin >= name.end",
        "behind = True",
        ("vla_typeof",),
        Bug(
            "",
            "opi_xform.frontend.bounds",
            "    if len(found) != len(counts):\n        return ()\n",
            "    found = found[len(found) - len(counts) :]\n",
            (),
        ),
        condition="values",
    ),
    Bug(
        "a declaration names nothing of a length again",
        "opi_xform.ownership.edits",
        "if not words(size).isdisjoint(self.program.variables[key].name for key in later):",
        "if False:",
        ("vla_shadowed",),
        condition="declaration",
    ),
    Bug(
        "the first size of a parameter is that of its rows",
        "opi_xform.frontend.bounds",
        "    found = found[1:] if parameter else found\n",
        "    found = found[:-1] if parameter else found\n",
        ("vla_fewer_rows",),
        condition="values",
    ),
    Bug(
        "calls among conditions joined by & change nothing",
        "opi_xform.ir.truths",
        "    if any(isinstance(x, ast.Call | ast.Opaque) for truth in out for x in within(truth)):\n",
        "    if False:\n",
        ("order_and",),
        condition="values",
    ),
)
