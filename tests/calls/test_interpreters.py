"""Subinterpreters: what runs NumPy in one, as servers under mod_wsgi do, has gradients there too.

NumPy refuses to be imported into isolated ones, which have a lock of their own, and from version
2.5 on into a second interpreter of a process.
"""

from __future__ import annotations

import os
import subprocess
import sys

from tests.docs.pages import ROOT

PROGRAM = '''
import sys
if sys.version_info >= (3, 13):
    import _interpreters as interpreters
    one = interpreters.create("legacy")
else:
    import _xxsubinterpreters as interpreters
    one = interpreters.create(isolated=False)

TEXT = """
import linecache, warnings
warnings.simplefilter("ignore")  # NumPy says that it is not made for this
import stcompile as st
text = "def f(x): return x * x"
linecache.cache["<f>"] = len(text), None, [text], "<f>"
exec(compile(text, "<f>", "exec"))
print(st.grad(f)(3.0), flush=True)
"""
failed = interpreters.run_string(one, TEXT)
assert failed is None, failed
interpreters.destroy(one)
'''


def test_a_gradient_in_a_subinterpreter() -> None:
    here = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=here, capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["6.0"]
