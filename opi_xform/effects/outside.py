"""Variables that belong to others than the program: those of the C library and of the MPI.

No table says which call changes `signgam`, `optind` or `environ`, and any may.  So whoever reads one reads a new
unknown, as with `volatile`, and what it holds is what is known outside.  A variable belongs to others when the program
uses it and none of its files defines it; and when it has the name of one of the C library's own, wherever it is
defined: the linker makes the two one.
"""

from __future__ import annotations

from collections.abc import Mapping

from opi_xform.ir import ast

_NAMES = """
signgam optarg optind opterr optopt optreset suboptarg errno h_errno sys_nerr _sys_nerr sys_errlist _sys_errlist
sys_siglist _sys_siglist environ __environ program_invocation_name program_invocation_short_name __progname
__progname_full timezone daylight tzname __timezone __daylight __tzname getdate_err stdin stdout stderr loc1
loc2 locs re_syntax_options rpc_createerr svc_fdset svc_pollfd svc_max_pollfd obstack_alloc_failed_handler
obstack_exit_failure error_message_count error_one_per_line error_print_progname argp_err_exit_status
argp_program_version argp_program_bug_address argp_program_version_hook mallwatch __malloc_hook __free_hook
__realloc_hook __memalign_hook __malloc_initialize_hook __after_morecore_hook __morecore _IO_2_1_stdin_
_IO_2_1_stdout_ _IO_2_1_stderr_ __libc_single_threaded _obstack_newchunk _res h_nerr in6addr_any
in6addr_loopback _nl_msg_cat_cntr _nl_domain_bindings __fpu_control _LIB_VERSION __check_rhosts_file
__rcmd_errstr rexecoptions _null_auth _dl_argv
""".split()  # noqa: SIM905
"""The C library's and POSIX's, and glibc's (the data that its libraries export)."""

LIBRARY_VARIABLES = frozenset(_NAMES)


def foreign(variables: Mapping[str, ast.Variable], complete: bool) -> frozenset[str]:
    """The keys of variables that belong to others.

    complete: the files are a whole program.  If not, what they do not define is the rest's of the program: unknown
    functions may change that, library functions cannot.
    """
    return frozenset(
        key
        for key, variable in variables.items()
        if variable.kind == "extern"
        and (key in LIBRARY_VARIABLES or ((complete or not variable.declarators) and not _defined(variable)))
    )


def _defined(variable: ast.Variable) -> bool:
    return variable.init is not None or any(d.definition or d.tentative for d in variable.declarators)
