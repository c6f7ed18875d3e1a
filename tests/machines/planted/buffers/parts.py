"""Bugs in what is known of the parts of one buffer."""

from tests.machines.planted.bug import Bug

_CHECK = "opi_xform.divide.check"
_FLOW = "opi_xform.divide.flow"
_NAMED = "opi_xform.divide.named.proof"
_NAMED_SPELL = "opi_xform.divide.named.spell"
_SPELL = "opi_xform.divide.spell"
_WORDS = "opi_xform.divide.size_text"

BUGS = (
    Bug(
        "a statement can be put before any condition",
        _SPELL,
        "if not any(info.stmt is m.stmt and info.in_block for info in self.statements(m.function)):",
        "if False:",
        ("parts_made_in_else",),
        condition="rows and parts",
    ),
    Bug(
        "no name of a variable is a macro elsewhere",
        "opi_xform.divide.size_text",
        "if not names.isdisjoint(self.defined):",
        "if False:",
        ("parts_named_redefined",),
        condition="rows and parts",
    ),
    Bug(
        "a subscript's variable is still worth what it was set to",
        "opi_xform.divide.find",
        "return whole if value_of(whole, reading.known) == value_of(e, reading.known) else e",
        "return whole",
        ("parts_sum_changed",),
        condition="rows and parts",
    ),
    Bug(
        "what a subscript's variable was set to means the same everywhere",
        "opi_xform.divide.named_sums",
        "if words.words and words.moves(word, Spot(n, frame, stmt)) else None",
        "if words.words else None",
        ("parts_sum_shadowed",),
        condition="rows and parts",
    ),
    Bug(
        "a jump leaves out nothing but what frees",
        "opi_xform.divide.mentions",
        "inside = bool(guarded) and all(any(s is f for f in freed) for one in guarded for s in _plainly(one))",
        "inside = bool(guarded)",
        ("parts_guarded_jump",),
        condition="rows and parts",
    ),
    Bug(
        "an assertion is the system's, whoever defines it",
        "opi_xform.divide.asserted",
        " or any(_DEFINED.search(read(f)) for f in files)",
        "",
        ("parts_asserted_told",),
        condition="rows and parts",
    ),
    Bug(
        "a function that asks for memory may do something besides, and be called for each part",
        "opi_xform.divide.wrapped",
        "return graph.nodes[at] if only_allocates(program, tables(program).flow, frame, n) else None",
        "return graph.nodes[at]",
        ("parts_wrapper_counts",),
        condition="rows and parts",
    ),
    Bug(
        "an access may go on in the next part",
        _CHECK,
        "if all(prover.proves(p) or nested_at(program, n).proves(p) for p in (start, rest)):",
        "if True:",
        ("parts_named_spans", "parts_named_cleared", "parts_named_one_more", "parts_span_loop"),
        condition="rows and parts",
    ),
    Bug(
        "parts may be compared and subtracted",
        _FLOW,
        "                raise Trouble(node_span(self.program, node.number), what)\n",
        "                return None\n",
        ("parts_named_difference", "parts_named_comparison", "parts_difference"),
        condition="rows and parts",
    ),
    Bug(
        "a part may be named in each turn",
        _NAMED,
        '                    self.never(program, n, (n,), setting[key], made, "may name a part a second time")\n',
        "",
        ("parts_named_set_in_turns",),
        condition="rows and parts",
    ),
    Bug(
        "what frees the memory finds each part named",
        _NAMED,
        "                    self.never(program, n, made, {n}, setting[key], "
        '"frees it where a part may not have been named")\n',
        "                    pass\n",
        ("parts_named_in_branch",),
        condition="rows and parts",
    ),
    Bug(
        "text that another system compiles names no part",
        "opi_xform.divide.left_out",
        "if strict or not skipped.own or not everywhere(mentions_of(units), skipped.span, name):",
        "if strict:",
        ("parts_named_other_neighbour",),
        condition="rows and parts",
    ),
    Bug(
        "text that a macro leaves out names no part",
        _SPELL,
        "(file, a) not in known and not elsewhere:",
        "False:",
        ("parts_named_other_argument",),
        also=Bug(
            "what calls of macros leave out is nothing in any configuration",
            "opi_xform.frontend.macros.skipped",
            "        if not wanted:\n            return set()\n",
            "        if True:\n            return set()\n",
            ("g_left_out_dropped",),
        ),
        condition="rows and parts",
    ),
    Bug(
        "a part's name is the part's everywhere",
        _NAMED_SPELL,
        "if not all(visible(self.program, key, m.function, m.stmt) for key in self.naming.owners):",
        "if False:",
        ("parts_named_freed_elsewhere",),
        condition="rows and parts",
    ),
    Bug(
        "a size is written with any variable's name",
        _WORDS,
        "return all(visible(self.program, key, function, spot.stmt) for key in keys)",
        "return True",
        ("parts_named_size_shadowed",),
        condition="rows and parts",
    ),
    Bug(
        "constants and types have one meaning",
        _WORDS,
        "if body is None or not self.undefined.isdisjoint(others) or not declares_none(body, self.read):",
        "if False:",
        ("parts_named_size_constant",),
        condition="rows and parts",
    ),
    Bug(
        "a size is worth what it was",
        _NAMED,
        "(w, worth[spot.node, numbers[id(w)]])",
        "(w, worth[w.node, numbers[id(w)]])",
        ("parts_named_size_changed",),
        condition="rows and parts",
    ),
    Bug(
        "a part's name leads to the part until the memory goes",
        "opi_xform.divide.named.proof",
        """self.never(program, n, nulls, {n}, setting[key], "frees it where a part's name may be NULL")""",
        "pass",
        ("parts_named_null",),
        condition="rows and parts",
    ),
)
