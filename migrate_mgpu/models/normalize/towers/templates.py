"""`tf.make_template`: a function whose calls share their variables, as calls in a scope.

`model = tf.make_template("model", network)` goes, and `output = model(x)` becomes
`output = network(x)` in `with tf.variable_scope("model", reuse=tf.AUTO_REUSE):`, which gives the
variables the same names.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import COMPREHENSIONS, position, walk
from migrate_mgpu.analysis.style import root
from migrate_mgpu.api.graph import SETTINGS
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.source.new_code import deeper
from migrate_mgpu.source.source import Edit, splice
from migrate_mgpu.source.statements import Layout

_MAKES = "make_template"
# What makes no variables: the scope of a template around it changes nothing.
_BUILTINS = "builtins."


def normalize(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits for one template; none where there is none that only shares variables."""
    for call in calls_of_names(module).get(_MAKES, ()):
        edits = _Template(module, graph, call).edits()
        if edits:
            return edits
    return []


class _Template:
    def __init__(self, module: Module, graph: CallGraph, call: ast.Call) -> None:
        self.module = module
        self.names = module.names
        self.source = module.source
        self.graph = graph
        self.call = call

    def edits(self) -> list[Edit]:
        statement = self.names.statement(self.call)
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        layout = Layout(self.source, statement)
        if not isinstance(target, ast.Name) or not layout.owns_lines:
            return []
        assert isinstance(statement, ast.Assign)
        if statement.value is not self.call or self.names.only_binding(target) is None:
            return []
        if len(self.call.args) != 2 or len(statement.targets) > 1:
            return []
        name, function = self.call.args
        # Arguments that end with an underscore are the template's own.
        given = [k for k in self.call.keywords if k.arg is not None and not k.arg.endswith("_")]
        if len(given) != len(self.call.keywords) or not isinstance(constant(name), str):
            return []
        if self.graph.target(self.module, function) is None or len(self._uses(name)) > 1:
            return []
        home = self.names.scope_of_name[target]
        mentions = [n for n in self.names.mentions(target.id, home) if n is not target]
        found = [Edit(layout.line_start, layout.next_line, "")]
        wrapped: set[ast.stmt] = set()
        loops = (ast.For, ast.While, *COMPREHENSIONS)
        once = len(mentions) == 1 and not any(
            isinstance(one, loops) for one in self.names.ancestors(mentions[0])
        )
        again = "" if once else ", reuse={}.AUTO_REUSE"
        for mention in mentions:
            call = self.names.parents[mention]
            if not isinstance(call, ast.Call) or call.func is not mention:
                return []
            where = self.names.statement(mention)
            plain = isinstance(where, (ast.Assign, ast.Expr, ast.AugAssign))
            code = self.source.code(where)
            own = Layout(self.source, where)
            if not plain or where in wrapped or not own.owns_lines or '"""' in code:
                return []
            if position(mention) < position(statement) or not self._is_alone(where, call):
                return []
            wrapped.add(where)
            changes = [Edit(*self.source.span(mention), self.source.code(function))]
            if given:
                end = self.source.span(call)[1] - 1
                comma = ", " if call.args or call.keywords else ""
                texts = ", ".join(self.source.code(keyword) for keyword in given)
                changes.append(Edit(end, end, f"{comma}{texts}"))
            newline, indent = self.source.newline, self.source.indent_of(where)
            lines = splice(self.source.text, changes, *self.source.span(where)).split(newline)
            tf, unit = root(self.module, self.call), self.source.indent_unit
            scope = f"{tf}.variable_scope({self.source.code(name)}{again.format(tf)})"
            first, *rest = deeper(lines, unit)
            text = newline.join([f"with {scope}:", f"{indent}{first}", *rest])
            found.append(Edit(*self.source.span(where), text))
        return found if mentions else []

    def _uses(self, name: ast.expr) -> list[ast.AST]:
        """What gives TensorFlow the name of a scope as well: TF1 would number one of them."""
        word = constant(name)
        return [
            given
            for call in self.names.calls
            if (known := name_of(self.module, call)) and not known.startswith(SETTINGS)
            for given in (*call.args, *(keyword.value for keyword in call.keywords))
            if constant(given) == word
        ]

    def _is_alone(self, statement: ast.stmt, call: ast.Call) -> bool:
        """Whether nothing else in a statement may make variables."""
        for other in (node for node in walk(statement) if isinstance(node, ast.Call)):
            if other is call or name_of(self.module, other):
                continue
            func = other.func
            if (self.names.qualname(func) or "").startswith(_BUILTINS):
                continue
            if not isinstance(func, ast.Attribute) or func.attr not in ("append", "get_shape"):
                return False
        return True
