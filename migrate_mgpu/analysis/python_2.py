"""What Python 2 had by other names, and what Python 3 reads with another meaning."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.diagnostics import Diagnostic, Place
from migrate_mgpu.analysis.import_edits import remove_imports
from migrate_mgpu.analysis.module import Module, fact
from migrate_mgpu.analysis.scopes import line_of, position, statement_value, walk
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

# Python 2's builtins by those of Python 3 that do the same.
_RENAMED = {
    "basestring": "str",
    "long": "int",
    "raw_input": "input",
    "unichr": "chr",
    "unicode": "str",
    "xrange": "range",
}
_UTF8 = {"utf8", "utf-8", "utf_8"}
_INTEGERS = {"int", "len"}
# Calls that give floating-point numbers, whatever they get.
_FLOATS = {
    "float", "time.time", "time.clock", "random.random", "random.uniform", "numpy.random.rand",
    "numpy.random.randn", "numpy.random.random", "numpy.random.uniform", "numpy.random.normal",
    "numpy.mean", "numpy.std", "numpy.var", "numpy.sqrt", "numpy.exp", "numpy.log",
    "numpy.float32", "numpy.float64", "numpy.linalg.norm", "math.sqrt", "math.log", "math.exp",
    "math.ceil", "math.floor", "math.pow", "math.sin", "math.cos", "math.log10",
    "tensorflow.sqrt", "tensorflow.exp", "tensorflow.log", "tensorflow.to_float",
    "tensorflow.random_normal", "tensorflow.random_uniform", "tensorflow.truncated_normal",
    "tensorflow.sigmoid", "tensorflow.tanh", "tensorflow.nn.softmax", "tensorflow.nn.sigmoid",
}  # fmt: skip


def renames(module: Module) -> list[Edit]:
    """Edits to Python 3's builtins, and to the division that Python 2 made of integers."""
    names, source = module.names, module.source
    edits: list[Edit] = []
    needs_reduce = False
    for node in names.scope_of_name:
        if not isinstance(node.ctx, ast.Load) or module.is_guarded(node):
            continue
        if names.defining_scope(node.id, names.scope_of_name[node]) is not None:
            continue
        parent = names.parents.get(node)
        call = parent if isinstance(parent, ast.Call) and parent.func is node else None
        if node.id == "unicode" and call and len(call.args) + len(call.keywords) != 1:
            continue  # decodes bytes, which str() does not do of text
        if node.id in _RENAMED:
            edits.append(Edit(*source.span(node), _RENAMED[node.id]))
        elif node.id == "file" and call and not names.star_imports:
            edits.append(Edit(*source.span(node), "open"))
        elif node.id == "input" and call:
            start, end = source.span(call)
            edits += [Edit(start, start, "eval("), Edit(end, end, ")")]
        needs_reduce |= node.id == "reduce"
    edits += _without_default_encoding(module)
    for method in old_iterators(module):
        layout = Layout(source, method)
        if layout.owns_lines:
            edits.append(layout.insert_after(["", "__next__ = next"]))
    if needs_reduce:
        edits.append(_import(module, "from functools import reduce"))
    for division, operator in _divisions(module):
        if all(_is_integer(module, side) for side in _sides(division)):
            edits.append(Edit(operator, operator + 1, "//"))
    return edits


def old_iterators(module: Module) -> list[ast.FunctionDef]:
    """The methods `next` of classes whose objects Python 3 does not go through.

    They give themselves to a loop, `def __iter__(self): return self`, and have no `__next__`.
    """
    found: list[ast.FunctionDef] = []
    for owner in walk(module.tree):
        if not isinstance(owner, ast.ClassDef) or not all(_is_plain(one) for one in owner.bases):
            continue
        methods = {one.name: one for one in owner.body if isinstance(one, ast.FunctionDef)}
        given = {
            target.id
            for one in owner.body
            if isinstance(one, ast.Assign)
            for target in one.targets
            if isinstance(target, ast.Name)
        }
        goes, gives = methods.get("next"), methods.get("__iter__")
        if goes is None or gives is None or "__next__" in {*methods, *given}:
            continue
        last, me = gives.body[-1], [one.arg for one in gives.args.args[:1]]
        value = last.value if isinstance(last, ast.Return) else None
        if isinstance(value, ast.Name) and me == [value.id]:
            found.append(goes)
    return found


def _is_plain(base: ast.expr) -> bool:
    return isinstance(base, ast.Name) and base.id == "object"


def _import(module: Module, line: str) -> Edit:
    """A new import above the file's own, below its docstring and what it imports of the future."""
    body = module.tree.body
    for statement in body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            continue
        return Layout(module.source, statement).insert_before([line])
    return Layout(module.source, body[-1]).insert_after([line])


def _without_default_encoding(module: Module) -> list[Edit]:
    """`reload(sys)` and `sys.setdefaultencoding('utf-8')` go: text is Unicode in Python 3."""
    names, source = module.names, module.source
    encoding = [s for s in _statements(module) if _sets_encoding(module, s)]
    if not encoding:
        return []
    gone = {*encoding, *(s for s in _statements(module) if _reloads_sys(module, s))}
    edits: list[Edit] = []
    done: set[ast.stmt] = set()
    for statement in sorted(gone, key=position):
        if statement in done:
            continue
        block = names.block(statement)
        line = [s for s in block if s.lineno == statement.lineno]
        stay = [source.code(s) for s in line if s not in gone]
        done.update(line)
        if not stay and all(s in gone for s in block):
            stay = ["pass"] if statement is line[0] and block[0] in line else []
        layout = Layout(source, line[0])
        last = Layout(source, line[-1])
        if stay or not layout.owns_start or last.rest.strip(" \t;"):
            edits.append(
                Edit(layout.start, last.line_end, "; ".join(stay or ["pass"]) + _comment(last))
            )
        else:
            edits.append(Edit(layout.line_start, last.next_line, ""))
    if not any(
        line_of(s) == e.lineno for s in module.tree.body for e in gone if isinstance(s, ast.Import)
    ):
        edits += remove_imports(module, set(gone), edits)
    return edits


def _comment(layout: Layout) -> str:
    comment = layout.trailing_comment
    return f"  {comment}" if comment else ""


def _statements(module: Module) -> Iterator[ast.Expr]:
    for node in walk(module.tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            if not module.is_guarded(node):
                yield node


def _sets_encoding(module: Module, statement: ast.Expr) -> bool:
    call = statement.value
    return (
        isinstance(call, ast.Call)
        and module.names.qualname(call.func) == "sys.setdefaultencoding"
        and len(call.args) == 1
        and isinstance(call.args[0], ast.Constant)
        and str(call.args[0].value).lower() in _UTF8
    )


def _reloads_sys(module: Module, statement: ast.Expr) -> bool:
    call = statement.value
    if not isinstance(call, ast.Call) or len(call.args) != 1:
        return False
    function = call.func
    plain = isinstance(function, ast.Name) and function.id == "reload"
    known = module.names.qualname(function) in ("imp.reload", "importlib.reload")
    return (plain or known) and module.names.qualname(call.args[0]) == "sys"


# -- what has another meaning ----------------------------------------------------


@fact
def value_changes(module: Module) -> list[Diagnostic]:
    """What Python 3 computes otherwise than Python 2 did, and nothing can decide here."""
    found: list[Diagnostic] = []
    for division, _ in _divisions(module):
        sides = _sides(division)
        if any(_is_float(module, side) for side in sides):
            continue
        if all(_is_integer(module, side) for side in sides):
            continue  # where the file is written, this becomes `//`
        text = "Python 2 divided integers to an integer here, if both sides are integers"
        advice = "write // if they are"
        found.append(Diagnostic("integer-division", Place(module, division), text, advice))
    seen: set[str] = set()
    for node in walk(module.tree):
        if isinstance(node, ast.Call):
            for what, text, advice in _otherwise(module, node):
                if what not in seen:
                    seen.add(what)
                    found.append(Diagnostic(what, Place(module, node), text, advice))
    return found


def _otherwise(module: Module, call: ast.Call) -> Iterator[tuple[str, str, str]]:
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else ""
    if name in ("encode", "decode"):
        text = f"`{name}` is between text and bytes, which were one in Python 2"
        yield "text-and-bytes", text, "see that each side gets what it takes"
    if name == "next" and not call.args and not call.keywords:
        text = "an iterator of Python 3 has no `.next()`"
        yield "next-method", text, "write next(x), if this is an iterator"
    if name in ("sort",) or (isinstance(function, ast.Name) and function.id == "sorted"):
        if any(keyword.arg == "cmp" for keyword in call.keywords):
            yield "cmp-argument", "`cmp=` is gone in Python 3", "use key=functools.cmp_to_key"
    known = module.names.qualname(function)
    if known in ("pickle.load", "cPickle.load") and len(call.args) == 1 and not call.keywords:
        text = "a pickle that Python 2 wrote holds strings that Python 3 does not read as ASCII"
        yield "pickle", text, "pass encoding='latin1', and open the file as bytes"


def _divisions(module: Module) -> Iterator[tuple[ast.BinOp | ast.AugAssign, int]]:
    """Every `/` that was Python 2's own, with its place."""
    for statement in module.names.imports:
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            if any(alias.name == "division" for alias in statement.names):
                return
    source = module.source
    for node in walk(module.tree):
        if isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.Div):
            left, right = _sides(node)
            start, end = source.span(left)[1], source.span(right)[0]
            place = source.text.find("/", start, end)
            if place >= 0:
                yield node, place


def _sides(node: ast.BinOp | ast.AugAssign) -> tuple[ast.expr, ast.expr]:
    return (node.left, node.right) if isinstance(node, ast.BinOp) else (node.target, node.value)


def _is_builtin(module: Module, node: ast.expr, known: set[str]) -> bool:
    if not isinstance(node, ast.Name) or node.id not in known:
        return False
    scope = module.names.scope_of_name.get(node)
    return scope is not None and module.names.defining_scope(node.id, scope) is None


def _is_integer(module: Module, node: ast.expr) -> bool:
    """Whether an expression is an integer, whatever its names are."""
    if isinstance(node, ast.Constant):
        return type(node.value) is int
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _is_integer(module, node.operand)
    if isinstance(node, ast.Call):
        return _is_builtin(module, node.func, _INTEGERS)
    if isinstance(node, ast.BinOp):
        operators = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)
        both = _is_integer(module, node.left) and _is_integer(module, node.right)
        return isinstance(node.op, operators) and both
    return False


def _is_float(module: Module, node: ast.expr, depth: int = 0) -> bool:
    """Whether an expression is a floating-point number, or an array or tensor of them."""
    names = module.names
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (float, complex))
    if isinstance(node, ast.UnaryOp):
        return _is_float(module, node.operand, depth)
    if isinstance(node, ast.BinOp):
        arithmetic = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)
        either = _is_float(module, node.left, depth) or _is_float(module, node.right, depth)
        return isinstance(node.op, arithmetic) and either
    if isinstance(node, ast.Call):
        if _is_builtin(module, node.func, {"float"}):
            return True
        known = names.qualname(node.func)
        if known == "tensorflow.cast" and len(node.args) == 2:
            return names.qualname(node.args[1]) in ("tensorflow.float32", "tensorflow.float64")
        return known in _FLOATS - {"float"}
    if isinstance(node, ast.Name) and depth < 4:
        values = [statement_value(names.parents.get(one)) for one in _bound(module, node)]
        return bool(values) and all(
            isinstance(value, ast.expr) and _is_float(module, value, depth + 1) for value in values
        )
    return False


def _bound(module: Module, node: ast.Name) -> list[ast.AST]:
    """Where a variable gets its values; nothing where one of them is not a plain assignment."""
    names = module.names
    scope = names.scope_of_name.get(node)
    home = names.defining_scope(node.id, scope) if scope is not None else None
    if home is None:
        return []
    stores = [one for one in names.mentions(node.id, home) if isinstance(one.ctx, ast.Store)]
    plain = all(
        isinstance(parent := names.parents.get(one), ast.Assign) and parent.targets == [one]
        for one in stores
    )
    return list(stores) if plain and len(stores) == len(home.bindings[node.id]) else []
