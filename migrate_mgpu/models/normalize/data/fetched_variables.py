"""All trained variables, fetched at once: those that the program has, by their names.

    variables = tf.trainable_variables()
    ...
    values = sess.run(variables)

becomes `values = sess.run([w, b])`, where each has a name and they are all made above.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import position
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.models.front.session.scope import session_calls
from migrate_mgpu.source.source import Edit

_MAKERS = ("Variable", "get_variable")
# What makes variables otherwise.
_OTHERS = ("layers", "contrib", "keras", "nn.rnn_cell", "nn.dynamic_rnn", "nn.static_rnn")
_NUMBERS = ("initializer", "regularizer")
_IN_TURN = (ast.For, ast.While, ast.If, ast.ListComp, ast.GeneratorExp, ast.Try)


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one such run; none where there is none."""
    names = module.names
    if "trainable_variables" not in module.source.text or not session_calls(module):
        return []
    for call in names.calls:
        if not isinstance(call.func, ast.Attribute) or call.func.attr != "run" or not call.args:
            continue
        fetches = call.args[0]
        listed = fetches.elts if isinstance(fetches, (ast.List, ast.Tuple)) else [fetches]
        for one in listed:
            value = names.only_value(one) if isinstance(one, ast.Name) else one
            if not isinstance(value, ast.Call) or value.args or value.keywords:
                continue
            if name_of(module, value) == "trainable_variables":
                variables = trained_names(module, value)
                if variables:
                    return [Edit(*module.source.span(one), f"[{', '.join(variables)}]")]
    return []


def trained_names(module: Module, asked: ast.Call) -> list[str]:
    """The names of all variables that a program trains, in the order in which it makes them.

    ``asked`` is where the program asks for them: it makes others later. None where one has no name,
    is made in turn, or perhaps elsewhere.
    """
    names = module.names
    known = calls_of_names(module)
    made = sorted((call for name in _MAKERS for call in known.get(name, ())), key=position)
    others = [name for name in known if name.startswith(_OTHERS) and not name.endswith(_NUMBERS)]
    if module.imported or others:
        return []  # they may make one
    if any(isinstance(one, (ast.For, ast.While)) for one in names.ancestors(asked)):
        return []
    found = []
    for call in made:
        if names.scope_at(call) is not names.scope_at(asked):
            return []
        if position(call) > position(asked):
            continue
        statement = names.parents[call]
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        given = {one.arg: one.value for one in call.keywords}
        trains = given.get("trainable")
        if trains is not None and constant(trains) is False:
            continue
        plain = None not in given and (trains is None or constant(trains) is True)
        alone = isinstance(target, ast.Name) and names.only_binding(target) is not None
        in_turn = any(isinstance(one, _IN_TURN) for one in names.ancestors(call))
        if not plain or not alone or in_turn or len(call.args) > 1 + _sized(call):
            return []
        assert isinstance(target, ast.Name)
        found.append(target.id)
    return found


def _sized(call: ast.Call) -> bool:
    """Whether its second argument is a shape: a variable's own says whether it is trained."""
    func = call.func
    name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
    return name == "get_variable"
