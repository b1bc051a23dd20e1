"""Branches of code that builds a graph which a setting of the program's chooses.

`if METHOD['name'] == 'clip': self.loss = ... else: ...`, where nothing changes the setting: with
each of its values the program is one without the branch. `Choice` is such a condition, `resolved`
writes the program as it is where that holds, or does not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.core.records import record
from migrate_mgpu.source.blocks import Block
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, comments


@record(frozen=True)
class Choice:
    """A condition that has one value as long as the program runs."""

    test: str  # as it is written
    names: tuple[str, ...]  # of the module, that it asks

    def holds_for(self, node: ast.expr) -> bool:
        """Whether an expression is this condition."""
        return ast.dump(node) == ast.dump(ast.parse(self.test, mode="eval").body)


def choices(module: Module, modules: Sequence[Module]) -> list[Choice]:
    """The conditions in a module's functions that choose what TensorFlow is told.

    ``modules`` are all that the program has.
    """
    found: dict[str, Choice] = {}
    for node in walk(module.tree):
        if not isinstance(node, ast.If) or not _is_of_function(module, node):
            continue
        arms = {*node.body, *node.orelse}
        if any(is_inside(module, use.node, arms) for use in module.uses):
            names = settings(module, node.test, modules)
            if names:
                found.setdefault(
                    ast.dump(node.test), Choice(module.source.code(node.test), tuple(names))
                )
    return list(found.values())


def _is_of_function(module: Module, node: ast.AST) -> bool:
    return any(isinstance(one, ast.FunctionDef) for one in module.names.ancestors(node))


def settings(module: Module, test: ast.expr, modules: Sequence[Module]) -> list[str]:
    """The names of the module's that a condition asks, if nothing changes what it does; or none."""
    plain = (ast.Name, ast.Constant, ast.Attribute, ast.Subscript, ast.Compare, ast.BoolOp,
             ast.UnaryOp)  # fmt: skip
    found: list[str] = []
    for part in walk(test):
        if isinstance(part, ast.expr) and not isinstance(part, plain):
            return []
        if isinstance(part, ast.Name):
            if not is_fixed(module, part, modules):
                return []
            found.append(part.id)
    return found


def is_fixed(module: Module, name: ast.Name, modules: Sequence[Module]) -> bool:
    """Whether what an expression asks of a name of the module's is always the same."""
    names = module.names
    if names.defining_scope(name.id, names.scope_of_name[name]) is not names.module_scope:
        return False
    bindings = names.module_scope.bindings[name.id]
    statement = names.statement(bindings[0].node)
    if len(bindings) != 1 or not isinstance(statement, ast.Assign):
        return False
    if statement not in module.tree.body or statement.targets != [bindings[0].node]:
        return False
    asked = names.parents[name]
    others = (one.names.attributes.get(name.id, ()) for one in modules if one is not module)
    mentions = [mention for some in others for mention in some]
    # Another module reads the same flags: what it may store is asked below.
    read = isinstance(asked, ast.Attribute) and all(isinstance(o.ctx, ast.Load) for o in mentions)
    if mentions and not read:
        return False
    if isinstance(asked, ast.Attribute):
        every = (one for other in modules for one in other.names.attributes.get(asked.attr, ()))
        kept = all(isinstance(one.ctx, ast.Load) for one in every)
        return kept and _are_flags(module, statement.value)
    if not isinstance(asked, ast.Subscript):
        return isinstance(statement.value, ast.Constant)
    key = constant(asked.slice)
    if not isinstance(key, str):
        return False
    for mention in names.mentions(name.id, names.module_scope):
        item = names.parents[mention]
        if mention is bindings[0].node:
            continue
        if not isinstance(item, ast.Subscript) or item.value is not mention:
            return False
        other = constant(item.slice)
        stored = not isinstance(item.ctx, ast.Load)
        if other is None or (stored and other == key):
            return False
    return True


def _are_flags(module: Module, value: ast.expr) -> bool:
    """Whether a value is what the command line says."""
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Attribute) and value.func.attr == "parse_args"
    return (module.names.qualname(value) or "").endswith("flags.FLAGS")


def resolved(module: Module, choice: Choice, value: bool) -> list[Edit]:
    """The edits for a program in which a condition has one value."""
    found: list[Edit] = []
    gone: list[ast.If] = []
    for node in walk(module.tree):
        if isinstance(node, ast.If) and choice.holds_for(node.test):
            if is_inside(module, node, set(gone)):
                return []
            edit = taken_arm(module, node, value)
            if edit is None:
                return []
            gone.append(node)
            found.append(edit)
    return found


def taken_arm(module: Module, node: ast.If, value: bool) -> Edit | None:
    """What stands for a condition that has one value; None where that cannot be written."""
    layout = Layout(module.source, node)
    if not layout.owns_lines or module.source.code(node).startswith("elif"):
        return None
    block = Block(module.source, module.source.indent_of(node))
    for line in _told(module, node, value):
        block.line(line)
    taken = node.body if value else node.orelse
    for statement in taken:
        changes = []
        if module.source.code(statement).startswith("elif"):
            start, _ = module.source.span(statement)
            changes.append(Edit(start, start + len("elif"), "if"))
        block.statement(statement, changes)
    if not taken and len(module.names.block(node)) == 1:
        block.line("pass")
    text, end = block.text() if block.lines else "", layout.next_line
    if taken and isinstance(taken[-1], (ast.Return, ast.Raise)):
        last = module.names.block(node)[-1]  # what stands behind it is never reached
        end = Layout(module.source, last).next_line
    return Edit(layout.line_start, end, text)


def tried_arm(module: Module, node: ast.Try, arm: Sequence[ast.stmt]) -> Edit | None:
    """What stands for a `try` of which one arm runs; None where that cannot be written."""
    layout = Layout(module.source, node)
    if not layout.owns_lines:
        return None
    block = Block(module.source, module.source.indent_of(node))
    for statement in arm:
        block.statement(statement, [])
    return Edit(layout.line_start, layout.next_line, block.text())


def _told(module: Module, node: ast.If, value: bool) -> Iterator[str]:
    """What is said of a branch behind its `if`, or its `else`."""
    above = node.lineno if value else node.body[-1].end_lineno or 0
    for statement in (node.body if value else node.orelse)[:1]:
        for line in range(above, statement.lineno):
            text = module.source.line_text(line)
            if text.lstrip().startswith(("if ", "if(", "else")):
                yield from (one.text for one in comments(text))
