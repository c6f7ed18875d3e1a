"""Bugs in what stores of floating numbers leave as it is, and in the names of one block of memory."""

from tests.machines.planted.bug import Bug

_TYPED = "opi_xform.ir.typed"
_VERSIONS = "opi_xform.values.versions"

BUGS = (
    Bug(
        "flags and attributes do not change which types may be read",
        "opi_xform.graph.around",
        "return not whole.loose and floats_apart(",
        "return floats_apart(",
        ("typed_flag", "typed_may_alias"),
        condition="packed",
    ),
    Bug(
        "a member of a union is read as it was written",
        _TYPED,
        "    if any(r.union and _mixed(kinds(f.type, records) for f in r.fields) for r in records.values()):\n"
        "        return False\n",
        "",
        ("typed_union", "typed_union_inner"),
        condition="packed",
    ),
    Bug(
        "no cast makes an int of a float",
        _TYPED,
        "if any(_meets(to, of.type, records) or _of_anything(to, of) for to, of in _views(function, known)):",
        "if any(_of_anything(to, of) for to, of in _views(function, known)):",
        ("typed_cast", "typed_cast_argument"),
        condition="packed",
    ),
    Bug(
        "what is given as a pointer to anything is what it is taken for",
        _TYPED,
        "    return anything and (to.elem",
        "    return False and (to.elem",
        ("typed_anything",),
        condition="packed",
    ),
    Bug(
        "a character is read as it was written",
        _TYPED,
        '(type_.kind == "int" and type_.size != 1)',
        '(type_.kind == "int")',
        ("typed_character_count",),
        condition="packed",
    ),
    Bug(
        "any store leaves the integers as they are",
        _TYPED,
        'return type_.kind == "float" and bool(type_.size)',
        "return bool(type_.size)",
        ("typed_int", "typed_characters", "typed_reused", "typed_callee", "typed_pointer"),
        condition="packed",
    ),
    Bug(
        "floating numbers are not changed by stores of floating numbers",
        _VERSIONS,
        "if type_ is not None and is_whole(type_):\n            versions",
        "if type_ is not None:\n            versions",
        ("typed_float_count",),
        condition="packed",
    ),
    Bug(
        "where paths meet, integers are as on the last of them",
        _VERSIONS,
        "        elif whole != incoming:\n",
        "        else:\n            self.whole[s] = whole[-1]\n        if False:\n",
        ("typed_branch", "typed_branch_after"),
        condition="packed",
    ),
    Bug(
        "a loop that stores floating numbers changes no integer",
        _VERSIONS,
        'if modified.whole is None or cell in modified.whole.cells:\n            return self.symbols.of("phi"',
        'if modified.whole is None:\n            return self.symbols.of("phi"',
        ("typed_loop", "typed_loop_inner"),
        condition="packed",
    ),
    Bug(
        "what a table of pointers owns has no other name",
        _VERSIONS,
        "                self.kin.setdefault(family, set()).add(o)\n"
        "                self.kin.setdefault(o, set()).add(family)\n",
        "                pass\n",
        ("table_count_named", "table_count_loop"),
        condition="packed",
    ),
    Bug(
        "a loop does not change what a table of pointers owns",
        _VERSIONS,
        '                            one.cells.setdefault(("v", other), False)\n',
        "",
        ("table_count_loop",),
        condition="packed",
    ),
)
