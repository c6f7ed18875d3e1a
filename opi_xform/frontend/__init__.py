"""The front end: C source -> IR.  The only package that knows libclang; no clang object leaves it."""

from opi_xform.frontend.errors import FrontendError
from opi_xform.frontend.parse import parse_once, parse_outline, parse_unit

__all__ = ["FrontendError", "parse_once", "parse_outline", "parse_unit"]
