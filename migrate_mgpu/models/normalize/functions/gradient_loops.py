"""Loops that change each gradient, as the comprehensions that they are.

    noisy = []
    for grad, var in grads:
        noise = tf.random_normal(grad.get_shape(), stddev=0.1)
        noisy.append((grad + noise, var))

becomes `noisy = [(grad + tf.random_normal(grad.get_shape(), stddev=0.1), var) for grad, var in
grads]`. So does a loop that puts each into its place, `grads[i] = (grad + noise, var)`. What has no
gradient, which a loop goes past, is left out: nothing is applied for it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.source.source import Edit

_APPLIES = "apply_gradients"


@fact_of_text
def without_none(module: Module) -> list[Edit]:
    """`(2 * g, v) if g is not None else (g, v)`: what has no gradient is left out."""
    if _APPLIES not in module.names.attributes:
        return []
    for node in walk(module.tree):
        if not isinstance(node, ast.ListComp) or len(node.generators) != 1:
            continue
        loop, choice = node.generators[0], node.elt
        gradient = _gradient(loop.target)
        if not isinstance(choice, ast.IfExp) or not isinstance(loop.target, ast.Tuple):
            continue
        if loop.ifs or ast.unparse(choice.test) != f"{gradient} is not None":
            continue
        if ast.unparse(choice.orelse) != ast.unparse(loop.target):
            continue
        end, source = module.source.span(loop.iter)[1], module.source
        return [
            Edit(*source.span(choice), source.code(choice.body)),
            Edit(end, end, f" if {gradient} is not None"),
        ]
    return []


@fact_of_text
def chosen(module: Module) -> list[Edit]:
    """Gradients that are chosen by the names of their variables are computed for these alone.

    `[(g, v) for g, v in grads if "fc" in v.name]` becomes `grads`, whose `compute_gradients` gets
    `var_list=[v for v in tf.trainable_variables() if "fc" in v.name]`.
    """
    if _APPLIES not in module.names.attributes:
        return []
    for node in walk(module.tree):
        if not isinstance(node, ast.ListComp) or len(node.generators) != 1:
            continue
        loop = node.generators[0]
        if ast.unparse(node.elt) != ast.unparse(loop.target) or len(loop.ifs) != 1:
            continue
        target, over, test = loop.target, loop.iter, loop.ifs[0]
        if not isinstance(target, ast.Tuple) or not isinstance(target.elts[-1], ast.Name):
            continue
        variable = target.elts[-1].id
        if not _asks_name(test, variable):
            continue
        calls = [*_computing(module, over, 3)]
        if not calls or any(
            len(one.args) > 1 or any(k.arg in ("var_list", None) for k in one.keywords)
            for one in calls
        ):
            continue
        source = module.source
        tf = style_at(module, node).tensorflow
        every = f"[{variable} for {variable} in {tf}.trainable_variables()"
        listed = f", var_list={every} if {source.code(test)}]"
        ends = (source.span(one)[1] - 1 for one in dict.fromkeys(calls))
        edits = [Edit(end, end, listed) for end in ends]
        return [*edits, Edit(*source.span(node), source.code(over))]
    return []


def _computing(module: Module, node: ast.expr, depth: int) -> Iterator[ast.Call]:
    """The calls of `compute_gradients` that give an expression, and nothing else on their way."""
    names = module.names
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr == "compute_gradients":
            yield node
        elif depth and len(node.args) == 1 and not node.keywords:  # what averages them
            yield from _computing(module, node.args[0], depth - 1)
        return
    if not isinstance(node, ast.Name) or not depth:
        return
    home = names.defining_scope(node.id, names.scope_of_name[node])
    mentions = names.mentions(node.id, home) if home is not None else []
    reads = [one for one in mentions if isinstance(one.ctx, ast.Load)]
    value = names.only_value(node)
    statement = names.statement(node)
    if value is None and _names(statement) == node.id:  # `pairs = [... for ... in pairs ...]`
        block = names.block(statement)
        above = [one for one in block[: block.index(statement)] if _names(one) == node.id]
        stored = [one for one in mentions if not isinstance(one.ctx, ast.Load)]
        if len(above) != 1 or len(stored) != 2 or not isinstance(above[0], ast.Assign):
            return
        value = above[0].value
        reads = [one for one in reads if one.lineno <= statement.lineno]
    filled = [_append_of(names.statement(one)) for one in reads if one is not node]
    if any(one is None or one[0] != node.id for one in filled):
        return  # all of them are read elsewhere
    if filled:
        for one in filled:
            if one is not None:
                yield from _computing(module, one[1], depth - 1)
        return
    if value is not None:
        yield from _computing(module, value, depth - 1)


def _names(statement: ast.stmt) -> str:
    """The one name that a statement gives a value."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        return target.id if isinstance(target, ast.Name) else ""
    return ""


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one such loop; none where there is none."""
    if _APPLIES not in module.names.attributes:
        return []
    for loop in walk(module.tree):
        if isinstance(loop, ast.For) and not loop.orelse:
            edits = _appended(module, loop) or _in_place(module, loop)
            if edits:
                return edits
    return []


def _appended(module: Module, loop: ast.For) -> list[Edit]:
    """A loop that fills a list, which is made right above it, or further up in its block."""
    gradient = _gradient(loop.target)
    body, test = _chosen(module, loop) or _unless_none(loop.body, gradient)
    last = body[-1] if body else None
    if isinstance(last, ast.If) and len(last.body) == 1 and len(last.orelse) == 1:
        return _in_two_arms(module, loop, gradient, body, test)
    filled = _append_of(last) if last is not None else None
    if not gradient or filled is None:
        return []
    listed, value = filled
    made = _empty_above(module, loop, listed)
    text = _written(module, loop, gradient, body[:-1], value)
    changes = _is_of_gradients(module, loop, value, gradient, bool(test))
    if made is None or not text or not changes:
        return []
    source = module.source
    over = f"for {source.code(loop.target)} in {source.code(loop.iter)}{test}"
    shown = f"{listed} = [{text} {over}]"
    return [_gone(module, made), Edit(*source.span(loop), shown)]


def _in_two_arms(
    module: Module, loop: ast.For, gradient: str, body: list[ast.stmt], test: str
) -> list[Edit]:
    """`if "bias" in var.name: out.append((2 * grad, var))`, and something else for the others."""
    (choice,) = body if len(body) == 1 else (None,)
    if not isinstance(choice, ast.If):
        return []
    arms = [_append_of(one) for one in (choice.body[0], choice.orelse[0])]
    if arms[0] is None or arms[1] is None or arms[0][0] != arms[1][0]:
        return []
    listed, values = arms[0][0], [arms[0][1], arms[1][1]]
    made = _empty_above(module, loop, listed)
    if made is None or not any(_is_of_gradients(module, loop, one, gradient) for one in values):
        return []
    if len({type(one) for one in values}) > 1 and ast.Tuple in map(type, values):
        return []
    if isinstance(values[0], ast.Tuple) and isinstance(values[1], ast.Tuple):
        if [ast.unparse(n) for n in values[0].elts[1:]] != [
            ast.unparse(n) for n in values[1].elts[1:]
        ]:
            return []
    if not _written(module, loop, gradient, [], values[0]):
        return []
    source = module.source
    first, other = (one.elts[0] if isinstance(one, ast.Tuple) else one for one in values)
    asked = source.code(choice.test)
    chosen = f"({source.code(first)}) if {asked} else ({source.code(other)})"
    if isinstance(values[0], ast.Tuple):
        chosen = f"({chosen}, {source.code(values[0].elts[1])})"
    over = f"for {source.code(loop.target)} in {source.code(loop.iter)}{test}"
    shown = f"{listed} = [{chosen} {over}]"
    return [_gone(module, made), Edit(*source.span(loop), shown)]


def _append_of(statement: ast.stmt) -> tuple[str, ast.expr] | None:
    """`out.append(value)`"""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or len(call.args) != 1 or call.keywords:
        return None
    func = call.func
    if not isinstance(func, ast.Attribute) or func.attr != "append":
        return None
    return (func.value.id, call.args[0]) if isinstance(func.value, ast.Name) else None


def _in_place(module: Module, loop: ast.For) -> list[Edit]:
    """`for i, (grad, var) in enumerate(grads): grads[i] = (grad + noise, var)`"""
    over, target = loop.iter, loop.target
    if not isinstance(over, ast.Call) or not isinstance(target, ast.Tuple) or len(over.args) != 1:
        return []
    if module.names.qualname(over.func) != "builtins.enumerate" or len(target.elts) != 2:
        return []
    index, pair = target.elts
    listed, gradient = over.args[0], _gradient(pair)
    body, test = _unless_none(loop.body, gradient)
    last = body[-1] if body else None
    if not gradient or not isinstance(last, ast.Assign) or not isinstance(pair, ast.Tuple):
        return []
    if not isinstance(listed, ast.Name) or not isinstance(index, ast.Name):
        return []
    if [ast.unparse(one) for one in last.targets] != [f"{listed.id}[{index.id}]"]:
        return []
    inside = [n for n in walk(loop) if isinstance(n, ast.Name) and n.id in (index.id, listed.id)]
    text = _written(module, loop, gradient, body[:-1], last.value)
    if len(inside) != 4 or not text or not isinstance(last.value, ast.Tuple):
        return []
    if not _is_of_gradients(module, loop, last.value, gradient):
        return []
    shown = f"{listed.id} = [{text} for {module.source.code(pair)} in {listed.id}{test}]"
    return [Edit(*module.source.span(loop), shown)]


def _gradient(target: ast.expr) -> str:
    """`grad`, where a loop goes through gradients, alone or with their variables."""
    if isinstance(target, ast.Tuple) and len(target.elts) == 2:
        first, second = target.elts
        if isinstance(first, ast.Name) and isinstance(second, ast.Name):
            return first.id
    return target.id if isinstance(target, ast.Name) else ""


def _chosen(module: Module, loop: ast.For) -> tuple[list[ast.stmt], str] | None:
    """What is done with a gradient alone whose variable has a word in its name."""
    target, (first, *more) = loop.target, loop.body
    if more or not isinstance(first, ast.If) or first.orelse or len(first.body) != 1:
        return None
    if not isinstance(target, ast.Tuple) or not isinstance(target.elts[-1], ast.Name):
        return None
    if not _asks_name(first.test, target.elts[-1].id):
        return None
    return first.body, f" if {module.source.code(first.test)}"


def _asks_name(test: ast.expr, variable: str) -> bool:
    """`"bias" in var.name`, and nothing of anything else."""
    names = [part for part in walk(test) if isinstance(part, ast.Name)]
    parts = [part for part in walk(test) if isinstance(part, ast.Attribute)]
    asks = any(one.attr == "name" for one in parts)
    return asks and bool(names) and all(one.id == variable for one in names)


def _unless_none(body: list[ast.stmt], gradient: str) -> tuple[list[ast.stmt], str]:
    """What is done with a gradient, where there is one, and the comprehension's condition."""
    test = f" if {gradient} is not None"
    first = body[0]
    if not isinstance(first, ast.If) or first.orelse or not isinstance(first.test, ast.Compare):
        return body, ""
    asked = first.test
    if not isinstance(asked.left, ast.Name) or asked.left.id != gradient:
        return body, ""
    if not is_none(asked.comparators[0]) or len(asked.ops) != 1:
        return [], ""
    if isinstance(asked.ops[0], ast.IsNot) and len(body) == 1:
        return first.body, test
    skips = len(first.body) == 1 and isinstance(first.body[0], ast.Continue)
    return (body[1:], test) if isinstance(asked.ops[0], ast.Is) and skips else ([], "")


def _empty_above(module: Module, loop: ast.For, name: str) -> ast.Assign | None:
    """`noisy = []`, above the loop in its block, where nothing else is done with it before."""
    block = module.names.block(loop)
    place = block.index(loop)
    for statement in reversed(block[:place]):
        if not any(isinstance(n, ast.Name) and n.id == name for n in walk(statement)):
            continue
        empty = (
            isinstance(statement, ast.Assign)
            and len(statement.targets) == 1
            and isinstance(statement.targets[0], ast.Name)
            and isinstance(statement.value, ast.List)
            and not statement.value.elts
        )
        return statement if empty else None  # type: ignore[return-value]
    return None


def _written(
    module: Module, loop: ast.For, gradient: str, body: list[ast.stmt], value: ast.expr
) -> str:
    """The value, with what has a name in the loop in its place; nothing where that is more."""
    texts: dict[str, str] = {}
    for place, statement in enumerate(body):
        given = _assigned(module, statement, gradient, texts)
        if given is None:
            return ""
        name, text = given
        later = [*body[place + 1 :], value]
        read = [n for one in later for n in walk(one) if isinstance(n, ast.Name) and n.id == name]
        if len(read) != 1 and "(" in text:
            return ""  # it would be computed, or drawn, more than once
        texts[name] = text
    own = {*texts, *(n.id for n in walk(loop.target) if isinstance(n, ast.Name))}
    inside = {*walk(loop)}
    for name in own:
        read = [n for n in module.names.by_id.get(name, ()) if isinstance(n.ctx, ast.Load)]
        here = [n for n in read if n in inside]
        home = module.names.scope_of_name[here[0]] if here else None
        if any(n not in inside and module.names.scope_of_name[n] is home for n in read):
            if name in texts or not _is_bound_again(module, loop, name, home):
                return ""  # what the loop leaves is read, or a name that others have as well
    return _with(module, value, texts)


def _is_bound_again(module: Module, loop: ast.For, name: str, home: object) -> bool:
    """Whether all else that reads a name is in another loop, which has it for its own."""
    names = module.names
    for node in names.by_id.get(name, ()):
        if names.scope_of_name[node] is not home or not isinstance(node.ctx, ast.Load):
            continue
        around = (one for one in names.ancestors(node) if isinstance(one, ast.For))
        if not any(
            one is loop or name in [n.id for n in walk(one.target) if isinstance(n, ast.Name)]
            for one in around
        ):
            return False
    return True


def _assigned(
    module: Module, statement: ast.stmt, gradient: str, texts: dict[str, str]
) -> tuple[str, str] | None:
    """A name that a statement gives a value, and its text; None where it does something else.

    `if "bias" in var.name: grad = 2 * grad` gives the gradient one of two.
    """
    if isinstance(statement, ast.If) and len(statement.body) == 1 and not statement.orelse:
        given = _assigned(module, statement.body[0], gradient, texts)
        if given is None or given[0] != gradient:
            return None
        test = _with(module, statement.test, texts)
        other = texts.get(gradient, gradient)
        return gradient, f"({_bare(given[1])} if {test} else {_bare(other)})"
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        operator = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}.get(type(statement.op))
        name = statement.target.id
        if operator is None or name != gradient:
            return None
        value = _with(module, statement.value, texts)
        return name, f"({texts.get(name, name)} {operator} ({value}))"
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    if not isinstance(target, ast.Name) or (target.id in texts and target.id != gradient):
        return None
    text = _with(module, statement.value, texts)
    whole = isinstance(statement.value, (ast.Call, ast.Name, ast.Attribute, ast.Subscript))
    return target.id, text if whole else f"({text})"


def _bare(text: str) -> str:
    """An expression without brackets around all of it."""
    inner = text[1:-1]
    if not text.startswith("("):
        return text
    try:
        same = ast.dump(ast.parse(inner, mode="eval")) == ast.dump(ast.parse(text, mode="eval"))
    except SyntaxError:
        return text
    return inner if same else text


def _with(module: Module, node: ast.expr, texts: dict[str, str]) -> str:
    """An expression's text, with the texts of names in their place."""
    start, end = module.source.span(node)
    text = module.source.text[start:end]
    parts = [n for n in walk(node) if isinstance(n, ast.Name) and n.id in texts]
    for part in sorted(parts, key=lambda one: module.source.span(one), reverse=True):
        first, last = module.source.span(part)
        text = f"{text[: first - start]}{texts[part.id]}{text[last - start :]}"
    return " ".join(text.split())


def _is_of_gradients(
    module: Module, loop: ast.For, value: ast.expr, gradient: str, some: bool = False
) -> bool:
    """Whether something is computed of each: not only pairs, or names, put together anew.

    ``some``: of some of them alone, which may be the same.
    """
    pairs = isinstance(value, ast.Tuple)
    target = loop.target
    if isinstance(target, ast.Tuple) and isinstance(target.elts[1], ast.Tuple):
        target = target.elts[1]
    if pairs != isinstance(target, ast.Tuple):
        return False
    if isinstance(value, ast.Tuple):
        assert isinstance(target, ast.Tuple)
        if len(value.elts) != 2 or ast.unparse(value.elts[1]) != ast.unparse(target.elts[1]):
            return False
        value = value.elts[0]
    changed = isinstance(value, (ast.Call, ast.BinOp, ast.IfExp)) or len(loop.body) > 1 or some
    return changed and bool(gradient)


def _gone(module: Module, statement: ast.stmt) -> Edit:
    """A statement with the end of its line."""
    start, end = module.source.span(statement)
    text = module.source.text
    start = text.rfind("\n", 0, start) + 1
    after = text.find("\n", end)
    return Edit(start, len(text) if after < 0 else after + 1, "")
