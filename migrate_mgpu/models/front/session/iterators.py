"""Datasets of a session's program, and the iterators that its steps draw from.

One of `tf.data.Iterator.from_structure` begins with any of several datasets, each by a run.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from migrate_mgpu.analysis.call_graph import Function
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.host_objects import Dataset, Iterator, IteratorStart
from migrate_mgpu.models.front.session.pipelines import (
    PipelineFunctions,
    gives_dataset,
    is_dataset,
)
from migrate_mgpu.models.front.session.program import GRAPH
from migrate_mgpu.models.front.session.state import Reading, StatementReader

ITERATOR_MAKERS = ("make_one_shot_iterator", "make_initializable_iterator")
_STRUCTURE = ("output_types", "output_shapes")  # what `from_structure` is given


class IteratorReader(StatementReader):
    """Reads datasets of Python's own arrays, iterators, and what they give."""

    def __init__(self, state: Reading, takes: dict[ast.Call, tuple[ast.expr, ...]]) -> None:
        """``takes`` is told which calls only compute, and of what."""
        super().__init__(state)
        self.takes = takes
        self.pipelines = PipelineFunctions(state.expressions)
        self._started: set[Iterator] = set()
        self._below_layers: dict[ast.stmt, ast.expr] = {}  # what draws, and stands below layers

    # -- datasets --------------------------------------------------------------------

    def made(self, statement: ast.Assign, target: ast.Name) -> Dataset | Iterator | None:
        """A dataset or an iterator that an assignment makes; None where it is another one.

        Raises:
            Refused: it is made in a way that is not understood.
        """
        value = statement.value
        each = self.found.scope.towers is not None and _one_for_each(value)
        if isinstance(value, ast.ListComp):
            if not each:
                return None
            value = value.elt
        whole = self._is_dataset(value) or self.pipelines.of(self.module, value) is not None
        if whole and not each:
            self._check(value)
            made = Dataset(target.id, statement)
            self.found.datasets.append(made)
            return made
        source = self.iterated(value)
        if source is None:
            return None
        if not self._is_dataset(source) and not self._is_given(source):
            raise Refused(self.module, source, "this cannot be recognized as a dataset")
        self._check_builtin(value)
        self._check(source)
        assert isinstance(value, ast.Call)
        if each and "one_shot" not in ast.unparse(value.func):
            raise Refused(self.module, value, "each tower has an iterator that runs begin")
        iterator = Iterator(target.id, statement, source, value, each)
        self.found.iterators.append(iterator)
        return iterator

    def several(self, statement: ast.Assign, target: ast.expr) -> list[Dataset]:
        """The datasets that a function gives back together: `train, test = datasets(8)`.

        Raises:
            Refused: one is made in a way that is not understood.
        """
        parts = target.elts if isinstance(target, ast.Tuple) else []
        names = [one for one in parts if isinstance(one, ast.Name)]
        found = self.pipelines.of(self.module, statement.value, len(parts)) if names else None
        if found is None or len(names) != len(parts) or len(names) < 2:
            return []
        call = statement.value
        assert isinstance(call, ast.Call)
        for one in (*call.args, *(keyword.value for keyword in call.keywords)):
            self._check(one)
        self._uses(self.pipelines.read(found))
        made = [Dataset(one.id, statement) for one in names]
        self.found.datasets += made
        return made

    def _check_builtin(self, node: ast.expr) -> None:
        """Python's `iter` is what makes an iterator there.

        Raises:
            Refused: the program means something else by that name.
        """
        if self.names.defining_scope("iter", self.names.scope_at(node)) is not None:
            text = "`iter`, which makes an iterator in TF2, is a name of the program's"
            raise Refused(self.module, node, text, "give it another one")

    def _is_named(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and isinstance(self.runs.meaning(node), Dataset)

    def _is_dataset(self, node: ast.expr) -> bool:
        """Whether an expression makes a dataset."""
        return is_dataset(self.module, node, self._is_given)

    def _is_given(self, node: ast.expr) -> bool:
        """Whether an expression is a dataset that was made elsewhere."""
        known = self._is_named(node) or self.pipelines.of(self.module, node) is not None
        return known or bool(self._handed(node))

    def _handed(self, node: ast.expr) -> list[ast.expr]:
        """The datasets that calls hand to the scope that builds, where an expression is theirs.

        It is a parameter, or an attribute in which the object keeps one.
        """
        home, name = self.scope.node, node.id if isinstance(node, ast.Name) else ""
        if isinstance(node, ast.Attribute) and isinstance(home, ast.FunctionDef):
            kept = (one for one in home.body if isinstance(one, ast.Assign))
            values = [one.value for one in kept if _gives(one, node.attr)]
            own = node.attr in self.origins.given and len(values) == 1
            name = values[0].id if own and isinstance(values[0], ast.Name) else ""
        bindings = self.names.scopes[home].bindings.get(name, [])
        if [one.kind for one in bindings] != ["parameter"]:
            return []
        found = list(self.origins.arguments_for(home, name))
        handed = [one for one in found if one is not None and self._is_made(one)]
        return handed if len(handed) == len(found) else []

    def _is_made(self, node: ast.expr) -> bool:
        """Whether other code makes a dataset there, or by an only name."""
        made = self.names.only_value(node) if isinstance(node, ast.Name) else node
        if made is None:
            return False
        known = self.pipelines.of(self.module, made) is not None
        return known or is_dataset(self.module, made, self._is_made)

    def _take(self, node: ast.expr) -> None:
        """Takes in how other code makes a dataset, which it goes on to do."""
        made = self.names.only_value(node) if isinstance(node, ast.Name) else node
        if made is None or made in self.found.handed:
            return
        self.found.handed.add(made)
        self._check(made)
        for part in walk(made):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                value = self.names.only_value(part)
                if value is not None and self._is_made(value):
                    self._take(part)

    def makes_dataset(self, node: ast.expr, is_named: Callable[[ast.expr], bool]) -> bool:
        """Whether an expression makes a dataset by itself; ``is_named`` tells of names."""
        return is_dataset(self.module, node, is_named)

    def iterated(self, node: ast.expr) -> ast.expr | None:
        """What an iterator goes through."""
        if not isinstance(node, ast.Call):
            return None
        name = name_of(self.module, node)
        if name == "data.Iterator.from_structure":
            return self._structured(node)
        if name in [f"data.{maker}" for maker in ITERATOR_MAKERS]:
            return node.args[0] if len(node.args) == 1 and not node.keywords else None
        func = node.func
        if isinstance(func, ast.Attribute) and func.attr in ITERATOR_MAKERS:
            if not node.args and not node.keywords:
                return func.value
        return None

    def _structured(self, call: ast.Call) -> ast.expr | None:
        """The dataset whose structure an iterator is given, with all that it has.

        Raises:
            Refused: it is given another one.
        """
        given = by_parameter(call, _STRUCTURE)
        sources = [self._asked(value, key) for key, value in given.items()]
        names = [one for one in sources if one is not None and self._is_named(one)]
        if given.keys() != {*_STRUCTURE} or len(names) != len(given):
            text = "an iterator is made of a structure that is not a dataset's"
            advice = "give it `dataset.output_types` and `dataset.output_shapes`"
            raise Refused(self.module, call, text, advice)
        if len({ast.dump(one) for one in names}) > 1:
            raise Refused(self.module, call, "an iterator is given the structure of two datasets")
        self.runs.known |= {*names}
        return names[0]

    def _asked(self, node: ast.expr, key: str) -> ast.expr | None:
        """What `dataset.output_types`, or `tf.data.get_output_types(dataset)`, is asked of."""
        if isinstance(node, ast.Attribute):
            return node.value if node.attr == key else None
        if not isinstance(node, ast.Call) or name_of(self.module, node) != f"data.get_{key}":
            return None
        return by_parameter(node, ("dataset_or_iterator",)).get("dataset_or_iterator")

    def _check(self, node: ast.expr) -> None:
        """A dataset is made of Python's own values, and of functions that only compute."""
        for part in walk(node):
            if isinstance(part, (ast.Name, ast.Attribute)) and isinstance(part.ctx, ast.Load):
                meaning = self.runs.meaning(part) if isinstance(part, ast.Name) else None
                if isinstance(part, ast.Name) and isinstance(meaning, GRAPH):
                    text = f"a dataset is made of `{part.id}`, a part of the graph"
                    raise Refused(self.module, part, text, "make it of the arrays themselves")
                if isinstance(part, ast.Name) and isinstance(meaning, Dataset):
                    self.runs.known.add(part)
                for handed in self._handed(part):
                    self._take(handed)
                target = self.expressions.graph.target(self.module, part) or self._method(part)
                made = self.names.parents.get(part)
                if target is not None and self.pipelines.of(self.module, made) is target:
                    self._uses(self.pipelines.read(target))
                elif target is not None and self.expressions.touches_graph(target):
                    self._uses(self.expressions.of_function(target).builders)
                    self._uses({target.node: target})
            elif isinstance(part, ast.Lambda) and not gives_dataset(self.module, part):
                self._uses(self.expressions.read(part).builders)

    def _method(self, node: ast.expr) -> Function | None:
        """`images.decode`, of an object that the name is given, and nothing else."""
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
            return None
        made = self.names.only_value(node.value)
        graph = self.expressions.graph
        owner = graph.class_of(self.module, made.func) if isinstance(made, ast.Call) else None
        if owner is None:
            return None
        module, body = owner[0], owner[1].body
        functions = (one for one in body if isinstance(one, ast.FunctionDef))
        methods = [one for one in functions if one.name == node.attr]
        plain = len(methods) == 1 and not methods[0].decorator_list
        return Function(module, methods[0]) if plain else None

    def _uses(self, functions: dict[ast.AST, Function]) -> None:
        """Functions that a dataset is made by, or that make its elements."""
        self.found.pipelines |= functions.keys() - self.found.builders.keys()
        self.found.builders.update(functions)

    # -- what steps draw ---------------------------------------------------------------

    def draws(self, statement: ast.Assign) -> bool:
        """Whether a statement takes the next element of an iterator, of which it is told then.

        Raises:
            Refused: it is drawn in a way that is not understood.
        """
        node = statement.value
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return False
        if node.func.attr != "get_next":
            return False
        receiver = node.func.value
        towers = self.found.scope.towers
        each = (
            isinstance(receiver, ast.Subscript)
            and isinstance(receiver.slice, ast.Name)
            and towers is not None
            and receiver.slice.id == towers.index
        )
        if each and isinstance(receiver, ast.Subscript):
            receiver = receiver.value
        if isinstance(receiver, ast.Name):
            iterator = self.runs.meaning(receiver)
            self.runs.known.add(receiver)
            if isinstance(iterator, Iterator) and iterator.each != each:
                text = "which of the towers' iterators this is cannot be determined"
                raise Refused(self.module, receiver, text)
        else:
            iterator = self._unnamed(statement, receiver)
        if not isinstance(iterator, Iterator):
            return False
        if node.args or node.keywords:
            raise Refused(self.module, node, "the arguments of `get_next` cannot be analyzed")
        if self.found.layers and self.scope.towers is None:
            self._below_layers[statement] = node
        self.found.drawn[statement] = iterator
        self.takes[node] = ()
        return True

    def _unnamed(self, statement: ast.Assign, node: ast.expr) -> Iterator | None:
        """`dataset.make_one_shot_iterator()`, in the statement that takes its next element.

        Raises:
            Refused: it is another iterator.
        """
        source = self.iterated(node)
        known = source is not None and (self._is_dataset(source) or self._is_given(source))
        begun = isinstance(node, ast.Call) and "initializable" in ast.unparse(node.func)
        if not known or begun or self.scope.towers is not None:
            text = "the iterator that this comes from has no name"
            raise Refused(self.module, node, text, "give it one")
        assert source is not None and isinstance(node, ast.Call)
        self._check_builtin(node)
        self._check(source)
        iterator = Iterator("", statement, source, node)
        self.found.iterators.append(iterator)
        return iterator

    def begins(self, statement: ast.stmt) -> bool:
        """Whether a statement only begins iterators at first: `sess.run(iterator.initializer)`.

        Or it only names what begins one. One that begins anew between steps is told, and stays.

        Raises:
            Refused: how it begins is not understood.
        """
        if isinstance(statement, ast.Assign) and self._named_start(statement):
            return True
        for node in list(walk(statement)):
            start = self.started_by(node)
            if start is None:
                continue
            iterator = start.iterator
            own = self.names.statement(node)
            call = own.value if isinstance(own, ast.Expr) else None
            func = call.func if isinstance(call, ast.Call) else None
            if (
                not isinstance(call, ast.Call)
                or not isinstance(func, ast.Attribute)
                or call.args != [node]
                or call.keywords
                or not self.runs.is_session(func.value)
            ):
                text = "an iterator may be initialized with fed values, or with something else"
                raise Refused(self.module, node, text, "initialize it in a statement of its own")
            assert isinstance(own, ast.Expr)
            self.runs.known |= set(walk(own))
            same = ast.dump(start.source) == ast.dump(iterator.source)
            first = not self.found.runs and iterator not in self._started
            self._started.add(iterator)
            if own is statement and first and same:
                return True
            self._restarts(own, start)
            self.runs.assigned.add(call)
        return False

    def _named_start(self, statement: ast.Assign) -> bool:
        """`train_init = iterator.make_initializer(train_data)`"""
        start, target = self.started_by(statement.value), statement.targets[0]
        if start is None or len(statement.targets) > 1 or not isinstance(target, ast.Name):
            return False
        self.state.only_binding(target)
        self.meanings[target.id] = start
        self.found.named_starts.add(statement)
        self.runs.known |= set(walk(statement.value))
        return True

    def started_by(self, node: ast.AST) -> IteratorStart | None:
        """What begins an iterator: by its name, `iterator.initializer` or `make_initializer`.

        Raises:
            Refused: the name of the dataset gets another one below.
        """
        if isinstance(node, (ast.Name, ast.Attribute)):
            meaning = self.runs.meaning(node) if isinstance(node.ctx, ast.Load) else None
            if isinstance(node, ast.Name) or isinstance(meaning, IteratorStart):
                return meaning if isinstance(meaning, IteratorStart) else None
        call = node if isinstance(node, ast.Call) else None
        func = node if call is None else call.func
        if not isinstance(func, ast.Attribute):
            return None
        iterator = self.runs.meaning(func.value)
        if not isinstance(iterator, Iterator):
            return None
        if call is None:
            return self._start(iterator, iterator.source) if func.attr == "initializer" else None
        given = by_parameter(call, ("dataset",)) if func.attr == "make_initializer" else {}
        return self._start(iterator, given["dataset"]) if given.keys() == {"dataset"} else None

    def _start(self, iterator: Iterator, source: ast.expr) -> IteratorStart:
        if isinstance(source, ast.Name):
            later = [one.node for one in self.names.bindings_of(source)]
            if any(position(node) > position(source) for node in later):
                text = (
                    f"`{source.id}` is another dataset below, and an iterator begins with this one"
                )
                raise Refused(self.module, source, text, "give the two different names")
        return IteratorStart(iterator, source)

    def _restarts(self, statement: ast.Expr, start: IteratorStart) -> None:
        """An iterator begins anew: steps are given it.

        Raises:
            Refused: it is made of something that cannot be written twice, or not begun there.
        """
        if not isinstance(start.source, ast.Name) or not self._is_given(start.source):
            text = "an iterator begins anew, and its dataset has no name"
            raise Refused(self.module, statement, text, "give the dataset a name")
        if not self.runs.is_home(statement) or self.scope.owner is not None:
            text = "an iterator is initialized in another function than the one that makes it"
            raise Refused(self.module, statement, text, "initialize it where it is made")
        self.found.restarts[statement] = start

    def finish(self) -> None:
        """Steps that draw from an iterator which begins anew run where that is known.

        Raises:
            Refused: one runs elsewhere, or in a later session, which has iterators of its own.
        """
        for run in self.found.runs:
            nodes = {unit.node for unit in run.step.units}
            for statement, node in self._below_layers.items():
                if statement in nodes and len(nodes) > 1:  # what is drawn is more than fetched
                    raise Refused(self.module, node, "layers are fed by an iterator")
        makers = (*self.scope.again, *self.scope.apart)
        later = {one for maker in makers for one in self.scope.inside(maker)}
        for run in self.found.runs:
            draws = any(unit.node in self.found.drawn for unit in run.step.units)
            if draws and is_inside(self.module, run.call, later):
                text = "a later session begins its iterators anew"
                raise Refused(self.module, run.call, text, "give the program one session")
            anew = self.found.restarted(run.step.units)
            kept = all(one.name in self.found.attributes for one in anew)
            if anew and not kept and not self.runs.is_home(run.call):
                text = "it draws from an iterator that begins anew in another function"
                raise Refused(self.module, run.call, text, "run it where the iterator is made")


def _gives(statement: ast.Assign, attribute: str) -> bool:
    """`self.dataset = dataset`"""
    target = statement.targets[0]
    return isinstance(target, ast.Attribute) and target.attr == attribute


def _one_for_each(node: ast.expr) -> bool:
    """`[dataset.make_one_shot_iterator() for _ in range(num_gpus)]`

    Or `[rows(i).make_one_shot_iterator() for i in range(num_gpus)]`, of the number of each.
    """
    loop = node.generators[0] if isinstance(node, ast.ListComp) else None
    if not isinstance(node, ast.ListComp) or loop is None or len(node.generators) > 1 or loop.ifs:
        return False
    return isinstance(loop.target, ast.Name)
