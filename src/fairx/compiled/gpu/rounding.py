"""Kernels that are a processor's to the last bit, where their source asks for it (`fairx.compiled.exactness`).

Functions are compiled once, for all kernels of a process. Whether a kernel is exact is told from the names of the
functions it is made of, and written into its code when all of that is at hand.
"""

from __future__ import annotations

import re

MARKS = re.compile(r"compiled9exactness(?:9last_bits|7exactly)")  # as the compiler writes names
QUESTION = "fairx.is_exact $0;"  # no instruction: an answer stands in its place
ASKED = re.compile(r'call i64 asm\s+"fairx\.is_exact \$0;", "=l"\s*\(\)')


PRODUCT = re.compile(r"= fmul double (\S+), (\S+)$", re.MULTILINE)
ALONE = "llvm.nvvm.mul.rn.d"  # a product that no compiler behind this one fuses, when it is linked either


def rounded(code: list[str]) -> tuple[list[str], dict[str, bool]]:
    """Return the parts of a kernel's intermediate code with the answer in them, and how to compile them.

    Examples
    --------
    >>> asked = '%1 = call i64 asm "fairx.is_exact $0;", "=l"()'
    >>> rounded([asked])
    (['%1 = add i64 0, 0'], {})
    >>> rounded([asked, "define void @_ZN5fairx8compiled9exactness7exactlyB2v1E()"])
    (['%1 = add i64 1, 0', 'define void @_ZN5fairx8compiled9exactness7exactlyB2v1E()'], {'fma': False})
    """
    exact = any(map(MARKS.search, code))
    answered = [ASKED.sub(f"add i64 {int(exact)}, 0", part) for part in code]
    return (list(map(_alone, answered)), {"fma": False}) if exact else (answered, {})


def _alone(part: str) -> str:
    """Return code with each product rounded by itself.

    Examples
    --------
    >>> print(_alone("%1 = fmul double %2, 0x3FF0000000000000"))
    %1 = call double @llvm.nvvm.mul.rn.d(double %2, double 0x3FF0000000000000)
    declare double @llvm.nvvm.mul.rn.d(double, double)
    """
    found, count = PRODUCT.subn(rf"= call double @{ALONE}(double \1, double \2)", part)
    return f"{found}\ndeclare double @{ALONE}(double, double)" if count else found
