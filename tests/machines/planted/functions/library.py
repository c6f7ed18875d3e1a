"""Bugs in what is known of library functions: what they return, the library's own variables, and formats."""

from tests.machines.planted.bug import Bug

_CONSTRAINTS = "opi_xform.pointsto.constraints"
_EVALUATE = "opi_xform.values.evaluate"
_FORMATS = "opi_xform.effects.formats"
_INTERP = "opi_xform.values.interp"
_LOWER = "opi_xform.ir.lowering.expressions"
_OUTSIDE = "opi_xform.effects.outside"
_STEPS = "opi_xform.values.steps"

BUGS = (
    Bug(
        "a library function does not read the bytes of a struct that it is given by value",
        _STEPS,
        '            if written.type.kind == "record":\n                size = None',
        "            if False:\n                size = None",
        ("struct_printed_after",),
        condition="library functions",
    ),
    Bug(
        "what a call returns is no address that was put away",
        _CONSTRAINTS,
        "if effect.returns_retained or not known:",
        "if not known:",
        ("odd_tss_stored", "odd_strtok_rest", "odd_getenv_putenv"),
        also=Bug(
            "what was put away keeps what it holds",
            _INTERP,
            "        calls.objects.foreign.update(calls.foreign)\n",
            "",
            (),
        ),
        condition="library functions",
    ),
    Bug(
        "what a call returns was not stored where it was told to look",
        _CONSTRAINTS,
        "self.system.load(self.pointer(frame, call.args[effect.returns_stored]), target)",
        "pass",
        ("odd_strsep_stored",),
        also=Bug(
            "an address of which nothing is known touches nothing",
            _CONSTRAINTS,
            "        return self.anything\n",
            "        return found\n",
            ("odd_strsep_stored",),
        ),
        condition="library functions",
    ),
    Bug(
        "a call that may allocate returns nothing else",
        _STEPS,
        "            if not effect.returns:\n",
        "            if True:\n",
        ("odd_realpath_given", "odd_getcwd_given"),
        condition="library functions",
    ),
    Bug(
        "the variables of the C library keep what they hold",
        _EVALUATE,
        "if o in self.objects.foreign:",
        "if False:",
        ("odd_signgam", "odd_optind", "odd_timezone"),
        also=Bug(
            "what is stored in a variable of the C library stays there",
            _EVALUATE,
            "        if o not in self.objects.foreign:\n            self.out.put((o, offset), value)\n",
            "        self.out.put((o, offset), value)\n",
            (),
        ),
        condition="library functions",
    ),
    Bug(
        "a definition of the program's is not the C library's variable",
        _OUTSIDE,
        "(key in LIBRARY_VARIABLES or (",
        "((",
        ("odd_optind_own",),
        condition="library functions",
    ),
    Bug(
        "what the library returned keeps what it holds",
        _STEPS,
        "elif not self.objects.foreign.isdisjoint(targets):",
        "elif False:",
        ("odd_localtime_same", "odd_locale_point"),
        Bug("", "opi_xform.values.versions", "if o in self.objects.foreign:\n", "if False:\n", ()),
        condition="library functions",
    ),
    Bug(
        "errno is a constant",
        _LOWER,
        "if operand is not None and not is_fixed(operand):",
        "if False:",
        ("odd_errno",),
        condition="library functions",
    ),
    Bug(
        "formats write nothing",
        _FORMATS,
        "if texts is not None and not moving:",
        "if True:",
        ("odd_percent_n", "odd_percent_n_variable", "odd_percent_p"),
        condition="library functions",
    ),
    Bug(
        "a format that is not a literal has no %n",
        _FORMATS,
        "if texts is not None and not moving:",
        "if texts is None or not moving:",
        ("odd_percent_n_variable", "odd_percent_n_read", "odd_percent_n_list"),
        condition="library functions",
    ),
    Bug(
        "functions of the program's own by the MPI's names are the MPI's",
        "opi_xform.ownership.conditions.calls.own_mpi",
        "if key.startswith(_MINE) and key in effects:",
        "if False:",
        ("g_own_mpi_init",),
        condition="form of the call",
    ),
    Bug(
        "a message by a profiling name meets the receives of libopi",
        "opi_xform.ownership.conditions.calls.own_mpi",
        'return name.startswith("PMPI_") and (kind := _kind(name, effects)) != "" and kind not in _APART',
        "return False",
        ("g_profiling_send", "g_profiling_pointer"),
        condition="form of the call",
    ),
)
