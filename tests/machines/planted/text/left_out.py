"""Planted bugs of text that a false `#if` leaves out."""

from tests.machines.planted.bug import Bug

BUGS = (
    Bug(
        "functions that text left out names use no buffer",
        "opi_xform.ownership.spelling.configurations",
        "[*_names(flow), *_using(program, flow.buffer, words)]",
        "[*_names(flow)]",
        ("g_left_out_function",),
        condition="whole program",
    ),
    Bug(
        "text left out by the preprocessor names no buffer",
        "opi_xform.ownership.spelling.configurations",
        "if name not in skipped.identifiers or not means(unit, program, skipped, name, variable):",
        "if True:",
        ("g_skipped_code", "addressed_skipped"),
        condition="whole program",
    ),
    Bug(
        "functions that text left out names call none that uses the buffer",
        "opi_xform.ownership.spelling.configurations",
        "sorted(_leading_to(program, frozenset(using)))",
        "sorted(using)",
        ("g_left_out_caller", "g_left_out_table"),
        condition="whole program",
    ),
    Bug(
        "what text left out includes names no buffer",
        "opi_xform.frontend.macros.skipped",
        " | _included(file.path, inside)",
        "",
        ("g_left_out_file",),
        condition="whole program",
    ),
    Bug(
        "what macros paste together names no buffer",
        "opi_xform.frontend.macros.deciding",
        "new |= names(parts, self.names) - out",
        "pass",
        ("g_left_out_pasted",),
        condition="whole program",
    ),
    Bug(
        "what a macro is in text left out is nothing where the macro is used",
        "opi_xform.ownership.spelling.configurations",
        " or (name in text.bodies and function.key in unit.functions)",
        "",
        ("g_left_out_macro",),
        condition="whole program",
    ),
    Bug(
        "a definition in text left out is one word and a body",
        "opi_xform.frontend.macros.skipped",
        "for words, begin, end in directives:",
        'for words, begin, end in (x for x in directives if b"/*" not in data[x[1] : x[2]]):',
        ("g_left_out_macro_comment",),
        condition="whole program",
    ),
    Bug(
        "what calls of macros leave out is nothing in any configuration",
        "opi_xform.frontend.macros.skipped",
        "        if not wanted:\n            return set()\n",
        "        if True:\n            return set()\n",
        ("g_left_out_dropped",),
        condition="whole program",
    ),
    Bug(
        "only the program's own macros decide what is compiled",
        "opi_xform.ownership.spelling.configurations",
        "if strict or not skipped.own or not everywhere(index, skipped.span, name):",
        "if strict or not everywhere(index, skipped.span, name):",
        ("g_skipped_code",),
        condition="whole program",
    ),
)
