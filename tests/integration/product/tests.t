#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The tests themselves: what one takes from tests/lib is there. Python would say
so only where a script comes to the line, which may be after many minutes."""
import ast
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parents[3]
LIB = TOP / "tests/lib"
sys.path.insert(0, str(LIB))
from tap import case, check, equal, run


def sources():
    """Every file of Python among the tests, parsed."""
    for path in sorted((TOP / "tests").rglob("*")):
        if path.suffix in (".py", ".t") or path.parent.name in ("bench", "fuzz"):
            text = path.read_text(errors="replace") if path.is_file() else ""
            if path.suffix == ".py" or text.startswith("#!/usr/bin/env python3"):
                yield path, ast.parse(text, str(path))


def bound(tree):
    """The names that a module has once it is loaded."""
    names = {"__doc__", "__file__", "__name__"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).split(".")[0])
    return names


def missing(trees):
    """FILE:LINE: MODULE.NAME of each use of a name that a module of tests/lib
    does not have."""
    has = {path.stem: bound(tree) for path, tree in trees if path.parent == LIB}
    for path, tree in trees:
        called = {}  # as this file calls the module
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                called |= {a.asname or a.name: a.name for a in node.names
                           if a.name in has}
        hidden = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)
                  and isinstance(node.ctx, ast.Store)}
        hidden |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
        for node in ast.walk(tree):
            where = f"{path.relative_to(TOP)}:{getattr(node, 'lineno', 0)}: "
            if isinstance(node, ast.ImportFrom) and node.module in has:
                for alias in node.names:
                    if alias.name not in has[node.module]:
                        yield f"{where}{node.module}.{alias.name}"
            elif (isinstance(node, ast.Attribute)
                  and isinstance(node.value, ast.Name)
                  and node.value.id in called and node.value.id not in hidden
                  and node.attr not in has[called[node.value.id]]):
                yield f"{where}{called[node.value.id]}.{node.attr}"


@case
def names():
    """each name that a test takes from tests/lib is there"""
    trees = list(sources())
    check(len(trees) > 100, f"only {len(trees)} files")
    equal(list(missing(trees)), [], "names")


@case
def a_wrong_name():
    """a name that is not there is found, whichever way it is asked for"""
    wrong = ast.parse("import tap\nimport bed as b\nfrom tap import never, nothing\n"
                      "tap.run()\ntap.walk()\nb.frobnicate()\n")
    said = missing(list(sources()) + [(TOP / "tests/wrong.py", wrong)])
    equal([where for where in said if "wrong.py" in where],
          ["tests/wrong.py:3: tap.nothing", "tests/wrong.py:5: tap.walk",
           "tests/wrong.py:6: bed.frobnicate"], "found")


run()
