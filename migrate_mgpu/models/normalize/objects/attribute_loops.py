"""Loops over constants that give an object attributes by names: the attributes, one by one.

    for i in range(1, 3):
        setattr(self, f'w{i}', tf.get_variable(name=f'w{i}', shape=[4, 3]))

becomes `self.w1 = tf.get_variable(name='w1', shape=[4, 3])` and `self.w2 = ...`.
"""

from __future__ import annotations

import ast
import keyword
from collections.abc import Callable

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.source.source import Edit, splice
from migrate_mgpu.source.statements import Layout
from migrate_mgpu.source.style import FileStyle

_MOST = 32  # attributes: more are no code that somebody reads


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one such loop; none where there is none."""
    for name in module.names.by_id.get("setattr", ()):
        call = module.names.parents.get(name)
        statement = module.names.parents.get(call) if isinstance(call, ast.Call) else None
        loop = module.names.parents.get(statement) if isinstance(statement, ast.Expr) else None
        if not isinstance(loop, ast.For) or not isinstance(call, ast.Call):
            continue
        if module.names.qualname(name) != "builtins.setattr" or call.func is not name:
            continue
        edit = _edit(module, loop, call)
        if edit is not None:
            return [edit]
    return []


def _edit(module: Module, loop: ast.For, call: ast.Call) -> Edit | None:
    names, source, target = module.names, module.source, loop.target
    values = _values(module, loop.iter)
    if loop.orelse or len(loop.body) != 1 or not isinstance(target, ast.Name) or not values:
        return None
    if len(call.args) != 3 or call.keywords or not isinstance(call.args[0], ast.Name):
        return None
    owner, told, value = call.args
    home = names.scope_of_name[target]
    if home.is_module or target.id in home.outer or not Layout(source, loop).owns_lines:
        return None
    for mention in names.mentions(target.id, home):
        loops = [one for one in names.ancestors(mention) if isinstance(one, ast.For)]
        if not any(isinstance(o.target, ast.Name) and o.target.id == target.id for o in loops):
            return None  # the last value is read below the loop
    if any(isinstance(one, (ast.Lambda, ast.NamedExpr, ast.Await)) for one in walk(value)):
        return None
    if any(isinstance(one, ast.Name) and one.id == target.id and isinstance(one.ctx, ast.Store)
           for one in walk(value)):  # fmt: skip
        return None
    if "#" in source.code(loop):
        return None
    style = style_at(module, loop)
    lines: list[str] = []
    known: set[str] = set()
    for one in values:
        attribute = _text(told, target.id, one)
        code = _written(module, value, target, one, style)
        if attribute is None or not attribute.isidentifier() or keyword.iskeyword(attribute):
            return None
        if attribute.startswith("__") or attribute in known:
            return None
        known.add(attribute)
        lines.append(f"{source.code(owner)}.{attribute} = {code}")
    between = source.newline + source.indent_of(loop)
    return Edit(*source.span(loop), between.join(lines))


def _values(module: Module, node: ast.expr) -> list[int | str]:
    """The constants that a loop goes through; none where they are not known, or many."""
    found: list[object] = []
    if isinstance(node, (ast.List, ast.Tuple)):
        found = [constant(one) for one in node.elts]
    elif isinstance(node, ast.Call) and module.names.qualname(node.func) == "builtins.range":
        told = [constant(one) for one in node.args]
        if node.keywords or not all(type(one) is int for one in told) or not 1 <= len(told) <= 3:
            return []
        numbers = [one for one in told if isinstance(one, int)]
        if len(numbers) == 3 and numbers[2] == 0:
            return []
        steps = range(*numbers)
        found = [*steps] if len(steps) <= _MOST else []
    if len(found) > _MOST or not all(type(one) in (int, str) for one in found):
        return []
    return [one for one in found if isinstance(one, (int, str))]


def _text(node: ast.expr, name: str, value: int | str) -> str | None:
    """What a text is in a turn of the loop; None where more than that decides."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.Name):
        return value if node.id == name and isinstance(value, str) else None
    if isinstance(node, ast.JoinedStr):
        parts = [_part(one, name, value) for one in node.values]
        return None if None in parts else "".join(one for one in parts if one is not None)
    if isinstance(node, ast.Call):
        func = node.func
        if node.keywords or not all(_is_turn(one, name) for one in node.args) or not node.args:
            return None
        if isinstance(func, ast.Name) and func.id == "str" and len(node.args) == 1:
            return str(value)
        shown = constant(func.value) if isinstance(func, ast.Attribute) else None
        if isinstance(func, ast.Attribute) and func.attr == "format" and isinstance(shown, str):
            return _formatted(lambda: shown.format(*[value] * len(node.args)))
        return None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _text(node.left, name, value), _text(node.right, name, value)
        return None if left is None or right is None else left + right
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        told = constant(node.left)
        if isinstance(told, str) and _is_turn(node.right, name):
            return _formatted(lambda: told % value)
    return None


def _is_turn(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _part(node: ast.expr, name: str, value: int | str) -> str | None:
    """A part of an f-string in a turn of the loop."""
    if isinstance(node, ast.FormattedValue):
        plain = node.conversion == -1 and node.format_spec is None
        return str(value) if plain and _is_turn(node.value, name) else None
    return _text(node, name, value)


def _formatted(make: Callable[[], str]) -> str | None:
    try:
        return make()
    except (TypeError, ValueError, IndexError, KeyError):
        return None


def _written(
    module: Module, node: ast.expr, target: ast.Name, value: int | str, style: FileStyle
) -> str:
    """What an attribute is given, as code, in a turn of the loop."""
    source, edits = module.source, list[Edit]()
    begin, end = source.span(node)
    shown = style.string(value) if isinstance(value, str) else str(value)

    def read(part: ast.AST) -> None:
        if isinstance(part, ast.expr) and not isinstance(part, ast.Constant):
            text = _text(part, target.id, value)
            if text is not None and not {"'", '"', "\\", "\n"} & {*text}:
                edits.append(Edit(*source.span(part), style.string(text)))
                return
        if isinstance(part, ast.Name) and part.id == target.id:
            edits.append(Edit(*source.span(part), shown))
        for inner in ast.iter_child_nodes(part):
            read(inner)

    read(node)
    return splice(source.text, edits, begin, end)
