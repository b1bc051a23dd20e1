"""Variables as eager programs and their functions create them: order, names, first values.

Runs in the interpreter under test: Python 3.7, standard library and numpy only.
"""

from __future__ import annotations

import functools
import threading
import zlib
from typing import Any

tools: Any = None  # eager_tools, which has no name to be imported by
_CLOSE = 1e-4  # of a variable's scale: what is assigned may be computed from other variables


class Beginning:
    """How a variable of the target began."""

    def __init__(self) -> None:
        self.partner: int | None = None  # whose value of the reference it was given
        self.own: Any = None  # the program's own value, where one was seen
        self.checksum: int | None = None  # of its value when it was made


def _checksum(value: Any) -> int:
    return zlib.crc32(value.tobytes())


class Creation:
    """Gives new variables the reference's initial values, and knows all that were made."""

    def __init__(self, recorder: Any, eager_tools: Any) -> None:
        global tools
        tools = eager_tools
        self.recorder = recorder
        self._order: dict[int, int] = {}  # id of a variable -> place in creation order
        self._made: list[Any] = []  # kept: an id is of one variable only while that lives
        self._trainable: list[Any] = []
        self._frozen: list[Any] = []
        self._local = threading.local()
        self._read: set[int] = set()  # ids of variables whose values something has taken
        self._beginnings: dict[int, Beginning] = {}  # by the ids of variables
        self._carried = False
        self._watching = False

    def begin(self) -> None:
        """Watch from now on, or from when a program of TensorFlow 1 becomes eager: it may do
        that only while there is no default graph."""
        if tools.tf("eager.context").executing_eagerly():
            self._watch()

    def patch_ops(self, module: Any) -> None:
        original = module.enable_eager_execution

        @functools.wraps(original)
        def enable_eager_execution(*args: Any, **options: Any) -> None:
            original(*args, **options)
            self._watch()

        module.enable_eager_execution = enable_eager_execution

    def _watch(self) -> None:
        """Every variable that the program makes passes here, replicated ones once."""
        if self._watching:
            return
        self._watching = True
        graph = tools.tf("framework.ops").get_default_graph()
        stack = graph._variable_creator_stack
        graph._variable_creator_stack = [*stack, (10**6, self._create)]

    def patch_keras(self, module: Any) -> None:
        """Keras 3 names TensorFlow's variable ``kernel``, and its own ``dense/kernel``."""
        cls = module.Variable
        original = cls.__dict__["_initialize"]

        @functools.wraps(original)
        def _initialize(variable: Any, value: Any) -> None:
            self._local.path = variable.path
            try:
                original(variable, value)
            finally:
                self._local.path = None
            tools.variable(variable)

        cls._initialize = _initialize

    def patch_layer(self, cls: Any) -> None:
        """The variables of a layer that is not trained are made as trainable ones."""
        original = cls.__dict__["add_weight"]

        @functools.wraps(original)
        def add_weight(layer: Any, *args: Any, **options: Any) -> Any:
            before = getattr(self._local, "frozen", False)
            self._local.frozen = not layer.trainable
            try:
                return original(layer, *args, **options)
            finally:
                self._local.frozen = before

        cls.add_weight = add_weight

    def patch_reads(self, module: Any) -> None:
        """``tensorflow.python.ops.resource_variable_ops``"""
        original = module.variable_accessed

        @functools.wraps(original)
        def variable_accessed(variable: Any) -> None:
            if not getattr(self._local, "knowing", False):
                self._read.add(id(variable))
            original(variable)

        module.variable_accessed = variable_accessed

    def place(self, variable: Any) -> int:
        """Its place in creation order; the last for one that was not seen."""
        return self._order.get(id(variable), len(self._order))

    def same_name(self, variable: Any, plain: Any) -> int:
        """How many trainable variables of its name were made before it: TF1 numbers them so."""
        name, place = plain(tools.name(variable)), self.place(variable)
        earlier = [one for one in self._trainable if self.place(one) < place]
        return sum(plain(tools.name(one)) == name for one in earlier)

    def _create(self, next_creator: Any, **options: Any) -> Any:
        if not tools.in_tf2():
            return next_creator(**options)
        frozen = getattr(self._local, "frozen", False)
        trainable = options.get("trainable") is not False and not frozen
        beginning = Beginning()
        if self.recorder.carries and trainable:
            self._replace(options, beginning)
        variable = next_creator(**options)
        for part in [variable, *tools.parts(variable)]:
            self._order.setdefault(id(part), len(self._order))
        self._made.append(variable)
        if trainable:
            self._trainable.append(variable)
            if self.recorder.carries:
                self._begin_with(variable, beginning)
        else:
            self._frozen.append(variable)
        return variable

    def _begin_with(self, variable: Any, beginning: Beginning) -> None:
        if not tools.tf("eager.context").executing_eagerly():
            return  # made in a function: it has no value yet
        self._local.knowing = True
        try:
            value = tools.value(variable)
        except Exception:
            return  # Keras gives it one later
        finally:
            self._local.knowing = False
        beginning.checksum = _checksum(value)
        self._beginnings[id(variable)] = beginning

    def _replace(self, options: dict[str, Any], beginning: Beginning) -> None:
        own = options.get("initial_value")
        name = getattr(self._local, "path", None) or str(options.get("name") or "Variable")
        cache: list[Any] = []
        functions = tools.tf("framework.constant_op")

        def initial_value(*args: Any, **more: Any) -> Any:
            value = own(*args, **more) if callable(own) else own
            value = tools.tf("framework.ops").convert_to_tensor(value, dtype=options.get("dtype"))
            if not value.shape.is_fully_defined() or not value.dtype.is_floating:
                return value
            if not cache:
                shape = value.shape.as_list()
                cache.append(self.recorder.reference()["carrier"].choose(name, shape))
            if cache[0] is None:
                return value
            reference = self.recorder.reference()
            beginning.partner = cache[0]
            if reference["begun"] and hasattr(value, "numpy"):
                beginning.own = value.numpy()
            # What was assigned before the first step, the target has to assign as well.
            stored = reference["begun"].get(cache[0], reference["values"][cache[0]])
            return functions.constant(stored, dtype=value.dtype)

        if own is not None:
            options["initial_value"] = initial_value if callable(own) else initial_value()

    # All at once ----------------------------------------------------------------------------

    def known(self) -> list[tuple[dict[str, Any], Any]]:
        """Trainable variables that have a value, in creation order, with name and shape."""
        return [(entry, variable) for entry, variable, _ in self._known()]

    def known_values(self) -> list[tuple[dict[str, Any], Any]]:
        """The same with their values."""
        return [(entry, value) for entry, _, value in self._known()]

    def _known(self, made: list[Any] | None = None) -> list[tuple[dict[str, Any], Any, Any]]:
        found = []
        for variable in self._trainable if made is None else made:
            self._local.knowing = True  # what takes its value is not the program
            try:
                value = tools.value(variable)
            except Exception:
                continue  # it is made in a function, and has none yet
            finally:
                self._local.knowing = False
            if value.dtype.kind == "f":
                entry = {"name": tools.name(variable), "shape": [int(n) for n in value.shape]}
                found.append((entry, variable, value))
        return found

    def carry(self, trained: list[tuple[dict[str, Any], Any]], tracing: bool) -> None:
        """Before the first step: creation may have chosen otherwise than the whole lists,
        now known, say.

        Args:
          trained: what the first step trains. A program may have made, and left, another
            model before: what found no partner for that gets its value all the same.
        """
        if self._carried:
            return
        self._carried = True
        reference, known = self.recorder.reference(), self.known()
        matching = self.recorder._matching
        pair, ids = matching.pair, {id(variable) for _, variable in trained}
        partners = reference["variables"]
        pairs, _, left = pair(partners, [entry for entry, _ in known])
        if any(partners[i].get("untrained") and id(known[j][1]) in ids for i, j in pairs):
            # One side has not made what the other only uses: what is trained is paired alone.
            partners = matching.trained(partners)
            pairs, _, left = pair(partners, [entry for entry, _ in known])
        if {id(known[j][1]) for j in left} & ids:
            # What nothing has used may have the partner of one that is trained.
            known = self._used(known, ids)
            pairs, _, left = pair(partners, [entry for entry, _ in known])
        chosen = [(i, known[j][1]) for i, j in pairs]
        lacking = {id(known[j][1]) for j in left}
        lacking |= ids - {id(variable) for _, variable in known}
        alone = [(entry, variable) for entry, variable in trained if id(variable) in lacking]
        pairs, _, _ = pair(matching.trained(partners), [entry for entry, _ in alone])
        chosen += [(i, alone[j][1]) for i, j in pairs]
        for i, variable in chosen:
            self._check_first(i, variable)
        self.give([(reference["values"][i], variable) for i, variable in chosen], tracing)
        self._carry_frozen(ids, tracing)

    def _check_first(self, partner: int, variable: Any) -> None:
        """Keep that a variable has another value before the first step than an assignment gave
        the reference's, or that an assignment of the target alone gave it another one.

        Args:
          partner: the index of the reference's variable.
        """
        beginning = self._beginnings.get(id(variable))
        if beginning is None:
            return
        reference, value = self.recorder.reference(), tools.value(variable)
        wanted, expected = reference["values"][partner], partner in reference["begun"]
        assigned = beginning.checksum != _checksum(value)
        if not (assigned or expected) or _close(value, wanted) or _close(beginning.own, wanted):
            return
        if assigned and beginning.partner != partner:
            return  # what it was assigned may have been computed from another one's value
        name = self.recorder._matching.plain(tools.name(variable))
        self.recorder.first_values.append(
            {"name": name, "reference_assigned": expected, "target_assigned": assigned}
        )

    def _carry_frozen(self, trained: set[int], tracing: bool) -> None:
        """What is never trained begins as the reference's: a slow copy that chance chose.

        Args:
          trained: ids of variables.
        """
        import numpy

        known = [
            (entry, variable, value)
            for entry, variable, value in self._known(self._frozen)
            if value.size > 1 and numpy.ptp(value) and id(variable) not in trained
        ]
        chosen = self.recorder.frozen_values([(entry, value) for entry, _, value in known])
        self.give([(value, known[j][1]) for j, value in chosen], tracing)

    def _used(
        self, known: list[tuple[dict[str, Any], Any]], trained: set[int]
    ) -> list[tuple[dict[str, Any], Any]]:
        """Those that are trained, by their ids, or whose values something has taken."""
        used = self._read | trained
        return [
            (entry, variable)
            for entry, variable in known
            if used & {id(part) for part in [variable, *tools.parts(variable)]}
        ]

    def unused(self, trained: set[int]) -> list[dict[str, Any]]:
        """Those that could be trained, and that nothing uses.

        Args:
          trained: ids of variables.
        """
        plain, known = self.recorder._matching.plain, self.known()
        used = {id(variable) for _, variable in self._used(known, trained)}
        return [
            {**entry, "name": plain(entry["name"])}
            for entry, variable in known
            if id(variable) not in used
        ]

    def carry_later(self, model: int, new: dict[int, Any], tracing: bool) -> None:
        """Before the first step of a model that is trained after another: the reference has
        its values when it trains it. What has partners has its values: a second optimizer of
        one graph.

        Args:
          model: its number.
          new: its variables, by their index.
        """
        recorder = self.recorder
        reference = recorder.reference()
        if not any(j in new for _, j in recorder.carried["pairs"]):
            reference = recorder.reference_with(model)
            if reference is None:
                return
            recorder.carry(recorder.variables)
        if any(entry.get("model", 0) for entry in reference["variables"]):
            pairs = recorder.carried["pairs"]
            self.give([(reference["values"][i], new[j]) for i, j in pairs if j in new], tracing)

    def restored(self, trained: list[Any], variables: list[Any]) -> list[tuple[Any, Any]]:
        """Pairs in creation order, when all variables have the trained ones' values; else none."""
        import numpy

        one, other = (sorted(side, key=self.place) for side in (trained, variables))
        pairs = list(zip(one, other)) if len(one) == len(other) else []
        same = all(numpy.array_equal(tools.value(a), tools.value(b)) for a, b in pairs)
        return pairs if same else []

    def give(self, chosen: list[tuple[Any, Any]], tracing: bool) -> None:
        """Assign values to variables, where they have others."""
        import numpy

        for value, variable in chosen:
            if numpy.array_equal(tools.value(variable), value):
                continue
            # A replicated variable's own assign changes, within a replica, that replica's part.
            for part in self._parts(variable):
                part.assign(value.astype(part.dtype.as_numpy_dtype))
            if not tracing:
                self.recorder.note("initial values were carried after the first forward pass")

    def _parts(self, variable: Any) -> list[Any]:
        """The variables on all replicas that are one with a variable; itself without replicas."""
        for made in (variable, *self._made):
            found: list[Any] = tools.parts(made)
            if found and (made is variable or any(part is variable for part in found)):
                return found
        return [variable]


def _close(value: Any, wanted: Any) -> bool:
    import numpy

    if value is None or value.shape != wanted.shape:
        return False
    scale = float(numpy.abs(wanted).max()) if wanted.size else 0.0
    return bool(numpy.allclose(value, wanted, rtol=0, atol=_CLOSE * scale))
