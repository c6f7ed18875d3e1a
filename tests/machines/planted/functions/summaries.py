"""Functions that are summarised, in small programs too; and calls that leave arguments out."""

from dataclasses import replace

from tests.machines.planted.bug import Bug

_ALWAYS = Bug(
    "every function that may be is summarised",
    "opi_xform.graph.summaries",
    "            if total[MAIN] <= (limit if cut else max(most, limit)):\n                break\n",
    "            return self.functions() - {MAIN}\n",
    (),
)

_MUTE = Bug(
    "every function that may be is summarised, also where it uses messages' buffers",
    "opi_xform.graph.summaries",
    "            if total[MAIN] <= (limit if cut else max(most, limit)):\n                break\n",
    "            return (self.mute() | self.functions()) - {MAIN}\n",
    (),
)

BUGS = (
    Bug(
        "a buffer that a summary uses is not given up",
        "opi_xform.values.steps",
        "        for o in sorted(self.calls.handled(node)):\n            self.values.escape(o, node.number, SUMMARY)\n",
        "",
        ("summary_null",),
        also=_MUTE,
        condition="calls that are not followed",
    ),
    Bug(
        "what a summary's expressions lead to is not asked",
        "opi_xform.calls.summarised",
        "            hold(given, (pts.operand(given, part) for part in leaves))\n",
        "",
        ("summary_null",),
        also=_MUTE,
        condition="calls that are not followed",
    ),
    Bug(
        "what a summary does before it ends the program matters to nobody",
        "opi_xform.graph.copies",
        "                        self.summary(frame, at, instr)\n                        ended = True\n",
        "                        self.followed.add(self.add(frame, at, instr))\n                        ended = True\n",
        ("summary_ended",),
        also=_MUTE,
        condition="calls that are not followed",
    ),
    Bug(
        "nobody reads a struct that a summary returns",
        "opi_xform.calls.summarised",
        "written = writes(calls, node) - mine | self.returned(node)",
        "written = writes(calls, node) - mine",
        ("summary_struct",),
        also=_MUTE,
        condition="calls that are not followed",
    ),
    Bug(
        "sizes that functions which are summarised set are not negative",
        "opi_xform.regions.signs",
        "if graph.background.negative or values.owners:",
        "if False:",
        ("summary_signs",),
        also=_ALWAYS,
        condition="packed",
    ),
    Bug(
        "functions that touch a message's buffer are summarised",
        "opi_xform.ownership.relevance",
        "one.touched.isdisjoint(interesting) and ",
        "",
        ("summary_null",),
        also=_ALWAYS,
        condition="calls that are not followed",
    ),
    Bug(
        "a summary changes nothing",
        "opi_xform.values.steps",
        "        self.escape(changed, node, SUMMARY)\n",
        "",
        ("summary_count",),
        also=_ALWAYS,
        condition="calls that are not followed",
    ),
    Bug(
        "a summary changes nothing in a loop",
        "opi_xform.calls.modified",
        "self.modify_all(self.calls.changed(node), cells)",
        "self.modify_all(frozenset(), cells)",
        ("summary_loop",),
        also=_ALWAYS,
        condition="calls that are not followed",
    ),
    Bug(
        "what is read by an address of which no row is known is none of the table's rows",
        "opi_xform.values.touches",
        "self.family_of = {h: family for family in families.values() for h in calls.objects.table[family].members}",
        "self.family_of: dict[int, int] = {}",
        ("rows_walked", "rows_by_address"),
        condition="read after send",
    ),
    Bug(
        "arrays of pointers that a summary uses own their memory alone",
        "opi_xform.pointsto.families",
        " | set(touched)",
        "",
        ("summary_table",),
        also=replace(
            _ALWAYS,
            also=Bug(
                "",
                "opi_xform.values.versions",
                "        if self.kin:\n            objects",
                "        if False:\n            objects",
                (),
            ),
        ),
        condition="calls that are not followed",
    ),
    Bug(
        "structs that are given by value are not read",
        "opi_xform.values.steps",
        "            self.by_value(node, call, given)\n            return\n",
        "            return\n",
        ("send_read_by_value", "element_by_value_after", "element_by_value_beside", "element_by_value_pending"),
        condition="read after send",
    ),
    Bug(
        "a call may leave out a pointer",
        "opi_xform.graph.graph",
        "bool(left) and all(_any_number(function, key) for key in left)",
        "bool(left)",
        ("left_out_pointer",),
        condition="calls that are not followed",
    ),
    Bug(
        "a number that a call leaves out is 0",
        "opi_xform.graph.graph",
        'ins.Nondet(f"argument {i} is left out")',
        "ins.Const(0)",
        ("left_out_decides",),
        condition="calls that are not followed",
    ),
    Bug(
        "all numbers that a call leaves out are the same one",
        "opi_xform.graph.graph",
        'tuple(ins.Nondet(f"argument {i} is left out") for i in left)',
        '(ins.Nondet("an argument that is left out"),) * len(left)',
        ("left_out_two",),
        condition="calls that are not followed",
    ),
)
