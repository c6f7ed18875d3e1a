"""Bugs in what is known of counters, pointers, tables and allocations."""

from tests.machines.planted.bug import Bug

_ENDS = "opi_xform.ownership.conditions.contents.ends"
_ALLOCATIONS = "opi_xform.ownership.allocation.allocations"
_EVENTS = "opi_xform.ownership.liveness.buffer_events"
_TELESCOPE = "opi_xform.regions.telescope"
_PARAMETERS = "opi_xform.ownership.spelling.parameters"
_STMTS = "opi_xform.frontend.lower.stmts"
_REQUESTS = "opi_xform.ownership.conditions.calls.pending_requests"
_ADDRESSES = "opi_xform.ownership.model.addresses"
_COUNTED = "opi_xform.ownership.buffers.counted"
_LOCKSTEP = "opi_xform.values.lockstep"
_FIXED = "opi_xform.program.fixed"
_NUMBERS = "opi_xform.ownership.buffers.number_tables"
_LAZY_TESTS = "opi_xform.ownership.allocation.lazy_tests"
_NULL_TESTS = "opi_xform.ownership.allocation.null_tests"
_INTERP = "opi_xform.values.interp"
_STEPS = "opi_xform.values.steps"
_CALLED = "opi_xform.program.pointers"
_CAME = "opi_xform.values.arithmetic.came"

BUGS = (
    Bug(
        "a count of bytes is one of elements",
        _CAME,
        'return a.name == b.name != ""',
        "return True",
        ("come_bytes",),
        condition="read after receive",
    ),
    Bug(
        "each status of an array tells of the message that came last",
        _CAME,
        " or given[op.status] != values[_STATUS]",
        "",
        ("come_element",),
        condition="read after receive",
    ),
    Bug(
        "no program casts pointers to functions",
        _CALLED,
        "return bool(self.untyped or self.left or self.made or self.named)",
        "return bool(self.untyped)",
        ("hook_cast",),
        condition="calls that are not followed",
    ),
    Bug(
        "a union holds pointers to functions of one type",
        _CALLED,
        "self.untyped = any(r.union and any(_leads(f.type, records) for f in r.fields) for r in records.values())",
        "self.untyped = False",
        ("hook_union",),
        condition="calls that are not followed",
    ),
    Bug(
        "counters write as far as they step",
        _TELESCOPE,
        "        if not up and at(hi, following) != lo:\n            return\n",
        "        up = up or at(hi, following) != lo\n",
        ("pack_counter_by_two", "pack_strided"),
        condition="packed",
    ),
    Bug(
        "of the ways that a counter takes one is looked at",
        _TELESCOPE,
        "return list(zip(values, self.merged(at), strict=True))",
        "return list(zip(values, self.merged(at), strict=True))[:1]",
        ("pack_counter_skips_else", "pack_counter_skips_then"),
        condition="packed",
    ),
    Bug(
        "a write may end anywhere",
        _TELESCOPE,
        "if interval.hi == end and self.t.nest",
        "if interval.lo != end and self.t.nest",
        ("pack_columns_partial", "pack_counter_by_two"),
        condition="packed",
    ),
    Bug(
        "no operation is pending at a site",
        _REQUESTS,
        "            if use.node in late:",
        "            if False:",
        ("d_two_isends", "d_isend_unwaited_path"),
        Bug(
            "",
            _REQUESTS,
            "        if late:\n            at = late[0].node",
            "        if False:\n            at = late[0].node",
            (),
        ),
        condition="pending requests",
    ),
    Bug(
        "unknown functions are given nothing",
        _STEPS,
        "            self.values.escape(o, node.number, reason)\n"
        "        self.gone |= objects  # what is outside is one large set, and comes again and again\n"
        '        self.anywhere(node, objects, "R", reason)\n'
        '        self.anywhere(node, objects, "W", reason)\n',
        "            pass\n",
        ("g_unknown_callee", "g_unknown_callee_heap"),
        Bug(
            "",
            _ADDRESSES,
            "            if effect is None:\n                name = call",
            "            if effect is None:\n                continue\n"
            "            if False:\n                name = call",
            (),
            Bug("what is outside does not count by itself", _INTERP, "        self.outside_too()\n", "", ()),
        ),
        condition="escape",
    ),
    Bug(
        "library functions keep no address",
        _STEPS,
        "if i < len(call.args) and (effect.mpi is None or effect.mpi.request is None):",
        "if False:",
        ("a_setvbuf", "a_setvbuf_heap"),
        Bug(
            "",
            _ADDRESSES,
            "    if i in effect.retains and (effect.mpi is None",
            "    if False and (effect.mpi is None",
            (),
            Bug("what is outside does not count by itself", _INTERP, "        self.outside_too()\n", "", ()),
        ),
        condition="escape",
    ),
    Bug(
        "a counter need not be zero again after a send",
        _COUNTED,
        "return self.reset_behind(use.node, counter)",
        "return True",
        ("filled_twice", "filled_reset_late"),
        condition="counters",
    ),
    Bug(
        "what a counter counts is written",
        _COUNTED,
        "return end >= more.value * self.size",
        "return True",
        ("filled_reserved", "filled_other_row"),
        condition="counters",
    ),
    Bug(
        "a counter may be set to anything",
        _COUNTED,
        "writes is not None and all(self.is_zero(n) or self.is_append(n) for n in writes)",
        "writes is not None",
        ("filled_set_back",),
        condition="counters",
    ),
    Bug(
        "counters that advance together once do so always",
        _LOCKSTEP,
        "if found is None or ratio not in (None, found):",
        "if found is None:",
        ("pack_out_of_step",),
        condition="counters",
    ),
    Bug(
        "a parameter is what the call passes, whatever the function does with it",
        _FIXED,
        "if key in assigned or",
        "if False and key in assigned or",
        ("flag_changed", "flag_address"),
        condition="values",
    ),
    Bug(
        "numbers in a struct change only where the program stores them",
        _NUMBERS,
        "if not given or place or not (whole or shape.stride == shape.width):\n                    return None\n",
        "continue\n",
        ("recv_handle_neighbours_copied", "recv_handle_neighbours_by_mpi", "recv_handle_neighbours_element"),
        condition="real source",
    ),
    Bug(
        "a row of a table is always there",
        _NULL_TESTS,
        'table[base].kind == "family" or symbols.resolve(symbols.offset(v)).constant is None',
        "False",
        ("c_null_rows", "c_null_member_rows"),
        also=Bug("what follows a test need not know of memory", _NULL_TESTS, "if n in unproved[base]", "if False", ()),
        condition="comparison with NULL",
    ),
    Bug(
        "a pointer that may be NULL is compared with NULL as before",
        _NULL_TESTS,
        "    if not any(base is not None for base in bases):\n        return False\n",
        "    if not any(base is not None for base in bases):\n        return bool(found)\n",
        ("c_null_freed_on_some", "c_null_other_name", "c_null_surely"),
        condition="comparison with NULL",
    ),
    Bug(
        "what is made of a comparison with NULL is no matter",
        _NULL_TESTS,
        "if not isinstance(program.graph.nodes[n].action, ins.Branch):\n        return False",
        "if not isinstance(program.graph.nodes[n].action, ins.Branch):\n        return True",
        ("c_null_in_expression",),
        condition="comparison with NULL",
    ),
    Bug(
        "memory of an earlier turn is as large as what this turn would ask for",
        _EVENTS,
        "if lasting and",
        "if False and",
        ("grow_receive_old",),
        condition="capacity",
    ),
    Bug(
        "a test that makes the buffer may do more",
        _LAZY_TESTS,
        "                return {}\n            out.update",
        "                continue\n            out.update",
        ("lazy_counts",),
        condition="comparison with NULL",
    ),
    Bug(
        "a test that makes the buffer may ask for another size each time",
        _LAZY_TESTS,
        " or any(values.symbols.scope(v) for given in asked for v in given):",
        ":",
        ("lazy_first_size",),
        condition="comparison with NULL",
    ),
    Bug(
        "a buffer that is made where it is not there is as large in every place",
        _LAZY_TESTS,
        "if len(asked) != 1 or ",
        "if ",
        ("lazy_size_elsewhere",),
        condition="comparison with NULL",
    ),
    Bug(
        "a number may be reckoned again, whatever it is divided by",
        _LAZY_TESTS,
        "if not _always_defined(program, node.number, value):",
        "if False:",
        ("lazy_number_divided",),
        condition="comparison with NULL",
    ),
    Bug(
        "the condition under which memory is made may do anything",
        _ALLOCATIONS,
        "    if has_effect(condition):",
        "    if False:",
        ("null_choice_counts",),
        condition="allocation and free",
    ),
    Bug(
        "a pointer to a row of a table is one to the first row",
        "opi_xform.ownership.buffers.tables",
        'bytes_ = ins.Op("ptrdiff", (action.address, first), LONG)',
        "bytes_: ins.Operand = ins.Const(0)",
        ("nested_read", "nested_held"),
        condition="members and tables",
    ),
    Bug(
        "rows of another length are the same rows",
        _PARAMETERS,
        "return a.count is not None and a.count == b.count",
        "return a.count is not None",
        ("matrix_param_other",),
        condition="carrier",
    ),
    Bug(
        "of a statement expression only the value counts",
        _STMTS,
        "            out = Comma(out.type, self._places.span(i), part, out)\n",
        "            pass\n",
        ("statement_read", "statement_branch", "statement_counter", "statement_alias"),
        condition="read after send",
    ),
    Bug(
        "branches in a statement expression do nothing",
        _STMTS,
        "            out = Comma(_INT, part.span, part, out)\n",
        "            pass\n",
        ("statement_if_read", "statement_else_read"),
        condition="read after send",
    ),
    Bug(
        "lengths of arrays name no parameter",
        _PARAMETERS,
        "        if not means_variable(self.program, function, variable, Texts(), self.program.left_out):\n",
        "        if False:\n",
        ("b_param_length", "matrix_param_length"),
        condition="carrier",
    ),
    Bug(
        "nobody ends a text with zeros that are there before",
        _ENDS,
        "filled = _zeros_before(program, buffer)\n",
        "filled = None\n",
        ("f_text_calloc", "f_text_memset", "f_text_static"),
        condition="first contents",
    ),
    Bug(
        "a call through a pointer gives what is written there, whatever the pointer's type says",
        "opi_xform.program.pointers",
        "        params = (type_.params if type_ is not None else None) or ()\n",
        "        params: tuple[Type, ...] = ()\n",
        ("hook_null",),
        condition="calls that are not followed",
    ),
    Bug(
        "no file that is not given sets a pointer to a function",
        "opi_xform.program.pointers",
        "            and not any(_brings(key, variables[key].type, records) for key in foreign(variables, complete))\n",
        "",
        ("hook_left_out",),
        condition="calls that are not followed",
    ),
)
