"""A model_fn that is a method: `Estimator(self.model_fn)`, `Estimator(model.model_fn)`.

The method, and those that it calls through ``self``, become functions above their class;
what they read of ``self`` they take as parameters, which a lambda gives them. What the class
inherits from classes of its module, of which it is the only subclass, is its own.
"""

from __future__ import annotations

import ast
import re

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.core.records import field, record
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.source.blocks import Block
from migrate_mgpu.source.header_edit import read_header
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, start_with_comments

# What an Estimator gives its model_fn.
ROLES = ("features", "labels", "mode", "params", "config")


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits; none where the model_fn is no method, or uses ``self`` for more than values."""
    given = flow.arguments.get("model_fn")
    if not isinstance(given, ast.Attribute) or not isinstance(given.value, ast.Name):
        return {}
    owner = _class_of(flow.module, given.value, graph)
    if owner is None or not owner[0].writable:
        return {}
    return _Methods(flow, given, *owner, graph).edits()


def _class_of(
    module: Module, receiver: ast.Name, graph: CallGraph
) -> tuple[Module, ast.ClassDef] | None:
    """The class of the run that an object is of."""
    names = module.names
    if receiver.id == "self":
        found = names.class_around(receiver)
        return None if found is None else (module, found)
    made = module.names.assigned(receiver)
    return graph.class_of(module, made.func) if isinstance(made, ast.Call) else None


def inherited(module: Module, owner: ast.ClassDef) -> list[ast.ClassDef]:
    """A class and the classes of its module that it inherits from, one from another."""
    found = [owner]
    while len(found[-1].bases) == 1 and isinstance(found[-1].bases[0], ast.Name):
        base = module.names.only_definition(found[-1].bases[0])
        if not isinstance(base, ast.ClassDef) or base in found:
            break
        found.append(base)
    return found


@record()
class _Method:
    """A method that becomes a function of a name, with the attributes that it reads."""

    node: ast.FunctionDef
    name: str
    reads: set[str] = field(default_factory=set)
    mentions: list[ast.Attribute] = field(default_factory=list)
    calls: list[tuple[ast.Call, str]] = field(default_factory=list)


class _Methods:
    def __init__(
        self,
        flow: EstimatorFlow,
        given: ast.Attribute,
        home: Module,
        owner: ast.ClassDef,
        graph: CallGraph,
    ) -> None:
        self.flow = flow
        self.given = given
        self.home = home
        self.owner = owner
        self.graph = graph
        self.chain = inherited(home, owner)
        self.defined = {
            s.name: s for c in self.chain[::-1] for s in c.body if isinstance(s, ast.FunctionDef)
        }
        self.moved: dict[str, _Method] = {}

    def edits(self) -> dict[Module, list[Edit]]:
        """All edits, or none."""
        bases = [self.home.names.qualname(base) for base in self.chain[-1].bases]
        plain = all(base in ("object", "builtins.object") for base in bases)
        for one in self.chain:
            top = isinstance(self.home.names.parents[one], ast.Module)
            if not plain or one.decorator_list or one.keywords or not top:
                return {}
        if len(self.chain) > 1 and self._has_others():
            return {}
        if not self._move(self.given.attr) or not self._only_here() or not self._constant():
            return {}
        self._spread()
        if any(self._clashes(method) for method in self.moved.values()):
            return {}
        head = self._spelled()
        if head is None:
            return {}
        found = {self.home: self._functions()}
        found.setdefault(self.flow.module, []).append(self._bound_method(head))
        return found

    def _has_others(self) -> bool:
        """Whether other classes inherit from these."""
        names = {one.name for one in self.chain}
        return any(
            isinstance(part, (ast.Name, ast.Attribute))
            and (part.id if isinstance(part, ast.Name) else part.attr) in names
            for module in self.graph.project.modules.values()
            for node in module.names.scopes
            if isinstance(node, ast.ClassDef) and node not in self.chain
            for base in node.bases
            for part in walk(base)
        )

    # -- what they use of self -------------------------------------------------

    def _move(self, name: str) -> bool:
        """Takes a method and those that it calls; False where that cannot be done."""
        if name in self.moved:
            return True
        node = self.defined.get(name)
        if node is None or node.decorator_list or not node.args.args:
            return False
        arguments = node.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults:
            return False
        if arguments.args[0].arg != "self" or len(self._named(name)) != 1:
            return False
        scopes = [self.home.names.scopes[method] for method in self.defined.values()]
        scopes.append(self.home.names.module_scope)
        wished = "" if any(name in scope.bindings for scope in scopes) else name
        wished = wished or f"{_snake(self.owner.name)}_{name.strip('_')}"
        if wished in self.home.names.module_scope.bindings:
            return False
        method = self.moved[name] = _Method(node, wished)
        parents = self.home.names.parents
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and part.id == "super":
                return False
            if not isinstance(part, ast.Name) or part.id != "self":
                continue
            mention = parents[part]
            if not isinstance(mention, ast.Attribute) or not isinstance(mention.ctx, ast.Load):
                return False
            call = parents[mention]
            if mention.attr in self.defined:
                if not (isinstance(call, ast.Call) and call.func is mention):
                    return False
                if any(isinstance(a, ast.Starred) for a in call.args):
                    return False
                if any(k.arg is None for k in call.keywords) or not self._move(mention.attr):
                    return False
                method.calls.append((call, mention.attr))
            elif _parameter(mention.attr) in ROLES:
                return False
            else:
                method.reads.add(mention.attr)
            method.mentions.append(mention)
        return True

    def _named(self, name: str) -> list[ast.stmt]:
        """The statements of the class it comes from that give a name a value."""
        home = self.home.names.parents[self.defined[name]]
        scope = self.home.names.scopes[home]
        return [b.node for b in scope.bindings.get(name, [])]  # type: ignore[misc]

    def _only_here(self) -> bool:
        """Whether nothing else of the run calls the methods."""
        known = {mention for method in self.moved.values() for mention in method.mentions}
        known.add(self.given)
        modules = self.graph.project.modules.values()
        return all(
            mention in known
            for module in modules
            for name in self.moved
            for mention in module.names.attributes.get(name, ())
        )

    def _constant(self) -> bool:
        """Whether the values that they read are given once: by ``__init__``, or the class."""
        reads = {name for method in self.moved.values() for name in method.reads}
        first = [
            s
            for one in self.chain
            for s in one.body
            if isinstance(s, ast.FunctionDef) and s.name == "__init__"
        ]
        for module in self.graph.project.modules.values():
            for name in reads:
                for mention in module.names.attributes.get(name, ()):
                    if isinstance(mention.ctx, ast.Load):
                        continue
                    if module is not self.home:
                        return False
                    if not any(one in module.names.ancestors(mention) for one in first):
                        return False
                    around = self.flow.module.names.ancestors(self.given)
                    early = any(one in around for one in first)
                    if early and (mention.lineno >= self.given.lineno or len(self.chain) > 1):
                        return False
        return True

    def _spread(self) -> None:
        """A function takes what those take that it calls."""
        size = -1
        while size != (size := sum(len(m.reads) for m in self.moved.values())):
            for method in self.moved.values():
                for _, name in method.calls:
                    method.reads |= self.moved[name].reads

    def _ordered(self, method: _Method) -> list[str]:
        """What a function takes, in the order in which the class names it first."""
        attributes = self.home.names.attributes
        first = {
            name: min((n.lineno, n.col_offset) for n in attributes[name]) for name in method.reads
        }
        return sorted(method.reads, key=lambda name: first[name])

    def _clashes(self, method: _Method) -> bool:
        """Whether a parameter's name already means something in the function."""
        names = self.home.names
        own = names.scopes[method.node].bindings
        nodes = list(ast.walk(method.node))
        used = {n.id for n in nodes if isinstance(n, ast.Name)} | set(own)
        used |= {n.arg for n in nodes if isinstance(n, ast.arg)}
        parameters = [_parameter(name) for name in method.reads]
        return bool(used & set(parameters)) or len(set(parameters)) < len(parameters)

    # -- what is written -----------------------------------------------------

    def _functions(self) -> list[Edit]:
        source = self.home.source
        methods = sorted(self.moved.values(), key=lambda m: m.node.lineno)
        texts = []
        for method in methods:
            block = Block(source, "")
            block.statement(method.node, self._inside(method))
            texts.append(block.text().rstrip())
        newline = source.newline
        highest = min(self.chain, key=lambda one: one.lineno)
        place = start_with_comments(source.text, Layout(source, highest).line_start)
        gap = newline * 3
        found = [Edit(place, place, gap.join(texts) + gap)]
        gone: list[ast.stmt] = [m.node for m in methods]
        for method in methods:
            layout = Layout(source, method.node)
            start = start_with_comments(source.text, layout.line_start)
            start = len(source.text[:start].rstrip()) + len(newline)
            found.append(Edit(start, layout.next_line, ""))
        for one in self.chain:
            if all(s in gone for s in one.body):
                last = found[1 + gone.index(one.body[-1])]
                text = f"{source.indent_of(one.body[-1])}pass{newline}"
                found[1 + gone.index(one.body[-1])] = Edit(last.start, last.end, text)
        return found

    def _inside(self, method: _Method) -> list[Edit]:
        source, node = self.home.source, method.node
        parameters = [_parameter(name) for name in self._ordered(method)]
        arguments = node.args.args
        start, end = source.span(arguments[0])
        if len(arguments) > 1:
            found = [Edit(start, source.span(arguments[1])[0], "")]
            last = source.span(arguments[-1])[1]
            if parameters:
                found.append(Edit(last, last, ", " + ", ".join(parameters)))
        else:
            found = [Edit(start, end, ", ".join(parameters))]
        found.append(Edit(*read_header(source, node).name, method.name))
        called = {id(call.func): name for call, name in method.calls}
        for mention in method.mentions:
            inner = called.get(id(mention))
            text = self.moved[inner].name if inner else _parameter(mention.attr)
            found.append(Edit(*source.span(mention), text))
        for call, inner in method.calls:
            more = ", ".join(f"{p}={p}" for p in map(_parameter, self._ordered(self.moved[inner])))
            if more:
                ends = [source.span(a)[1] for a in (*call.args, *(k.value for k in call.keywords))]
                place = max(ends) if ends else source.span(call)[1] - 1
                found.append(Edit(place, place, (", " if ends else "") + more))
        return found

    def _spelled(self) -> str | None:
        """How the Estimator's module names the function."""
        method = self.moved[self.given.attr]
        if self.flow.module is self.home:
            return method.name
        receiver = self.given.value
        assert isinstance(receiver, ast.Name)
        made = self.flow.module.names.assigned(receiver)
        assert isinstance(made, ast.Call)
        if isinstance(made.func, ast.Attribute):  # models.Model(...)
            return f"{self.flow.module.source.code(made.func.value)}.{method.name}"
        return None

    def _bound_method(self, head: str) -> Edit:
        method = self.moved[self.given.attr]
        source = self.flow.module.source
        receiver = source.code(self.given.value)
        own = [a.arg for a in method.node.args.args[1:]]
        more = [f"{_parameter(name)}={receiver}.{name}" for name in self._ordered(method)]
        text = head
        if more:
            text = f"lambda {', '.join(own)}: {head}({', '.join([*own, *more])})"
        return Edit(*source.span(self.given), text)


def _parameter(attribute: str) -> str:
    """`self._rate` as a parameter: `rate`."""
    return attribute.lstrip("_").lower() if attribute.isupper() else attribute.lstrip("_")


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()
