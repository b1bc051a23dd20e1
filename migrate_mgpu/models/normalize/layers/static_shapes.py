"""Sizes of variables that are products of a tensor's dimensions, where these can be computed.

    pool_shape = pool2.get_shape().as_list()
    nodes = pool_shape[1] * pool_shape[2] * pool_shape[3]
    weights = tf.get_variable('weights', [nodes, 512])

becomes `nodes = 7 * 7 * 64`: what is fed says its sizes, and convolutions and pools say how they
change them. In TF2 weights are made before there is a tensor.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from math import prod

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.reaching_definitions import reaching
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.layers import LAYERS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import FIRST_VALUES, VARIABLES
from migrate_mgpu.models.front.session.placeholders import PLACEHOLDERS
from migrate_mgpu.models.normalize.layers.element_shapes import At, Dimensions, Elements
from migrate_mgpu.models.normalize.layers.static_sizes import (
    ALIKE,
    LAYERS_ALIKE,
    OF_TWO,
    asked_of,
    elements_of,
    made_of,
    shape_of_variable,
)
from migrate_mgpu.source.source import Edit

_DEEP = 200  # expressions and calls within each other
_CONV = ("input", "filter", "strides", "padding")
_POOL = ("value", "ksize", "strides", "padding")
_POOLS = ("nn.max_pool", "nn.avg_pool")
_REDUCES = ("reduce_mean", "reduce_sum", "reduce_max", "reduce_min")
_FLATTENS = ("layers.flatten", "contrib.layers.flatten", "contrib.slim.flatten")
# What makes an image of as many pixels, and of as many channels.
_IMAGES_ALIKE = {
    f"image.{name}"
    for name in (
        "per_image_standardization", "random_brightness", "random_contrast",
        "random_flip_left_right", "random_flip_up_down", "random_hue", "random_saturation",
        "flip_left_right", "flip_up_down",
    )
}  # fmt: skip
_CROPS = ("image.resize_image_with_crop_or_pad", "image.resize_with_crop_or_pad")
_SPACE = (1, 2)  # height and width, where channels come last


def normalize(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits; none where no such product is a variable's size, or none is seen."""
    found: dict[ast.expr, Edit] = {}
    for call in module.names.calls:
        if not _makes(module, graph, call):
            continue
        given = (*call.args, *(keyword.value for keyword in call.keywords))
        listed = (one for one in given if isinstance(one, (ast.List, ast.Tuple)))
        for element in (part for one in listed for part in one.elts):
            size = _whole(module, element)
            if size is not None and size not in found:
                shapes = Shapes(module, graph)
                factors = shapes.factors(size)
                # What a function is given says its own sizes where its layers are built.
                if factors is not None and (shapes.told or not _is_asked(module, size, True)):
                    text = " * ".join(map(str, factors))
                    found[size] = Edit(*module.source.span(size), text)
    return list(found.values())


def is_sized_by_tensor(module: Module, call: ast.Call) -> bool:
    """Whether a call is given a list with a size that is asked of a tensor: `[dim, 384]`.

    What its function is given is none of these: a layer knows the shape that it is built for.
    """
    given = (*call.args, *(keyword.value for keyword in call.keywords))
    listed = (one for one in given if isinstance(one, (ast.List, ast.Tuple)))
    sizes = (_whole(module, part) for one in listed for part in one.elts)
    return any(
        _is_asked(module, factor) and not _is_of_parameter(module, factor)
        for size in sizes
        if size is not None
        for factor in _factors(size)
    )


def _is_of_parameter(module: Module, element: ast.expr) -> bool:
    """Whether a size is asked of what a function is given."""
    asked = _within(module, element)
    tensor = asked_of(asked.value) if isinstance(asked, ast.Subscript) else None
    return isinstance(tensor, ast.Name) and module.names.is_parameter(tensor)


def _makes(module: Module, graph: CallGraph, call: ast.Call) -> bool:
    """Whether a call may make a variable, or what it begins with."""
    name = name_of(module, call)
    if name:
        return name in VARIABLES.by_name or name in FIRST_VALUES
    return graph.target(module, call.func) is not None


def _whole(module: Module, element: ast.expr) -> ast.expr | None:
    """The product that a size is, or that its name stands for everywhere.

    Or what is asked of a tensor where the size stands: `[x.shape[1], 10]`.
    """
    if _is_asked(module, element, True):
        return element
    if isinstance(element, ast.Name):
        value = module.names.only_value(element)
        own = module.names.only_binding(element) is not None
        return _whole(module, value) if own and value is not None else None
    product = isinstance(element, ast.BinOp) and isinstance(element.op, ast.Mult)
    return element if product else None


def _is_asked(module: Module, element: ast.expr, named: bool = False) -> bool:
    """Whether a size is one of a tensor's shape; ``named``: the shape may have a name."""
    asked = _within(module, element)
    if not isinstance(asked, ast.Subscript):
        return False
    shape = asked.value
    made = module.names.only_value(shape) if named and isinstance(shape, ast.Name) else None
    return asked_of(shape if made is None else made) is not None


class Shapes:
    """The dimensions of tensors, with the numbers that the program has for them."""

    deepest: int = _DEEP

    def __init__(self, module: Module, graph: CallGraph) -> None:
        self.module = module
        self.graph = graph
        self.known: dict[tuple[int, int], Dimensions | None] = {}
        self.kept: list[At] = []  # whose identities are keys
        self.entered = False  # whether a function of the program says a part of them
        self.given = False  # whether they are of what a function is given

    @property
    def told(self) -> bool:
        """Whether no layer knows them, where a function of the program makes it."""
        return self.entered or not self.given

    def factors(self, node: ast.expr) -> list[int] | None:
        """The numbers of a product, of which one at least is asked of a tensor."""
        parts = [At(self.module, part, {}) for part in _factors(node)]
        numbers = [self.asked(part) for part in parts]
        if all(number is None for number in numbers):
            return None
        known = [
            number if number is not None else _number(part) for part, number in zip(parts, numbers)
        ]
        found = [one for one in known if one is not None]
        return found if len(found) == len(parts) else None

    def asked(self, at: At) -> int | None:
        """`shape[1]`, `x.get_shape()[1].value`, `int(x.shape[1])`"""
        node = _within(at.module, at.node)
        index = constant(node.slice) if isinstance(node, ast.Subscript) else None
        if not isinstance(node, ast.Subscript) or not isinstance(index, int):
            return None
        known = self.shape(at.part(node.value))
        return known[index] if known is not None and -len(known) <= index < len(known) else None

    def shape(self, at: At) -> Dimensions | None:
        """`x.get_shape()`, or a name of it that nothing changes."""
        listed = at.node
        if isinstance(listed, ast.Name):
            made = made_of(self.module, listed)
            if made is None or self._is_changed(listed):
                return None
            listed = made
        tensor = asked_of(listed)
        return self.of(at.part(tensor), 0) if tensor is not None else None

    def _is_changed(self, name: ast.Name) -> bool:
        """Whether a list of sizes may get others: it does more than to be read by its indices."""
        names = self.module.names
        home = names.defining_scope(name.id, names.scope_of_name[name])
        return home is None or any(
            isinstance(one.ctx, ast.Load)
            and not (
                isinstance(parent := names.parents.get(one), ast.Subscript)
                and isinstance(parent.ctx, ast.Load)
            )
            and not (isinstance(parent, ast.Call) and names.qualname(parent.func) == "builtins.len")
            for one in names.mentions(name.id, home)
        )

    def of(self, at: At, deep: int) -> Dimensions | None:
        """The dimensions of a tensor."""
        key = id(at.node), id(at.given)
        if key not in self.known and deep <= _DEEP:
            self.kept.append(at)
            self.known[key] = None  # what is made of itself is not known
            self.known[key] = self._of(at, deep)
        return self.known.get(key)

    def _of(self, at: At, deep: int) -> Dimensions | None:
        node, names = at.node, at.module.names
        if isinstance(node, ast.Name):
            made = made_of(at.module, node)
            if made is not None:
                return self.of(at.part(made), deep + 1)
            if not names.is_parameter(node):
                drawn = Elements(self).drawn(at, node, deep)
                return drawn if drawn is not None else self._of_several(at, node, deep)
            if node.id in at.given:
                return self.of(at.given[node.id], deep + 1)
            return self._of_parameter(at.module, node, deep)
        if isinstance(node, ast.BinOp):
            return self._of_two(at, node.left, node.right, deep)
        return self._of_call(at, node, deep) if isinstance(node, ast.Call) else None

    def _of_several(self, at: At, name: ast.Name, deep: int) -> Dimensions | None:
        """What a name is in each case: what conditions give it has the same dimensions."""
        names = at.module.names
        home = names.defining_scope(name.id, names.scope_of_name[name])
        found: list[Dimensions] = []
        for binding in reaching(names, name, home) if home is not None else ():
            if binding.kind != "assign" or binding.value is None:
                return None
            known = self.of(at.part(binding.value), deep + 1)
            if known is None:
                return None
            found.append(known)
        return found[0] if found and all(one == found[0] for one in found) else None

    def only_value(self, at: At) -> At | None:
        """What a name stands for, where that is one expression."""
        assert isinstance(at.node, ast.Name)
        if at.module.names.is_parameter(at.node):
            return at.given.get(at.node.id)
        made = made_of(at.module, at.node)
        return at.part(made) if made is not None else None

    def number(self, at: At) -> int | None:
        """A number of the program's, or the one that all calls of a function give it."""
        node, names = at.node, at.module.names
        if not isinstance(node, ast.Name) or not names.is_parameter(node) or node.id in at.given:
            return _number(at)
        home = names.defining_scope(node.id, names.scope_of_name[node])
        function = home.node if home is not None else None
        if not isinstance(function, ast.FunctionDef) or function not in at.module.tree.body:
            return None
        if home is None or len(home.bindings[node.id]) != 1:
            return None
        known = Function(at.module, function)
        found: set[int | None] = set()
        for reference in self.graph.references(known):
            bound = bind(reference.call, known) if reference.call is not None else None
            value = bound.value(node.id) if bound is not None else None
            found.add(_number(At(reference.module, value, {})) if value is not None else None)
        return found.pop() if len(found) == 1 else None

    def inside(self, function: Function, node: ast.expr, deep: int) -> Dimensions | None:
        """The dimensions of an expression of a function, whatever that is given."""
        return self.of(At(function.module, node, {}), deep)

    def _of_two(self, at: At, left: ast.expr, right: ast.expr, deep: int) -> Dimensions | None:
        pair = [self.of(at.part(one), deep + 1) for one in (left, right)]
        known = [one for one in pair if one is not None]
        return _broadcast(*known) if len(known) == 2 else None

    def _of_parameter(self, module: Module, name: ast.Name, deep: int) -> Dimensions | None:
        """What all calls of a function give its parameter, which is never another tensor."""
        home = module.names.defining_scope(name.id, module.names.scope_of_name[name])
        node = home.node if home is not None else None
        if home is None or not isinstance(node, ast.FunctionDef) or node not in module.tree.body:
            return None
        if len(home.bindings[name.id]) != 1:
            return None
        self.given = True
        function = Function(module, node)
        found: list[Dimensions] = []
        for reference in self.graph.references(function):
            value = (
                bind(reference.call, function).value(name.id)
                if reference.call is not None
                else None
            )
            at = At(reference.module, value, {}) if value is not None else None
            known = self.of(at, deep + 1) if at is not None else None
            if known is None:
                return None
            found.append(known)
        alike = bool(found) and all(one[1:] == found[0][1:] for one in found)
        if not alike or not found[0]:
            return None
        first = found[0][0] if all(one[0] == found[0][0] for one in found) else None
        return [first, *found[0][1:]]

    def _of_call(self, at: At, call: ast.Call, deep: int) -> Dimensions | None:
        name = name_of(at.module, call)
        if not name:
            return self._of_own(at, call, deep)
        if any(keyword.arg in ("data_format", None) for keyword in call.keywords):
            return None
        if name in PLACEHOLDERS and name != "sparse_placeholder":
            return _listed(at, by_parameter(call, ("dtype", "shape")).get("shape"))
        if name in VARIABLES.by_name:
            return _listed(at, shape_of_variable(at.module, call))
        row = LAYERS.by_name.get(name)
        if name in ALIKE or (row is not None and row.keras in LAYERS_ALIKE):
            return self._part(at, _first(call), deep)
        if name in OF_TWO and len(call.args) == 2:
            return self._of_two(at, call.args[0], call.args[1], deep)
        if name == "matmul" and len(call.args) == 2:
            return self._multiplied(at, call, deep)
        if name in _REDUCES:
            return self._reduced(at, call, deep)
        if name in _FLATTENS:
            whole = self._part(at, _first(call), deep)
            return [whole[0], _product(whole[1:])] if whole else None
        if name == "nn.conv2d" and len(call.args) < 5:
            told = by_parameter(call, _CONV)
            return self._slid(at, told, self._part(at, told.get("filter"), deep), deep)
        if name in _POOLS and len(call.args) < 5:
            told = by_parameter(call, _POOL)
            image = told.get("value") or told.get("input")
            told = {**told, "input": image} if image is not None else told
            sizes = _listed(at, told.get("ksize"))
            if sizes is None or len(sizes) != 4 or sizes[0] != 1 or sizes[3] != 1:
                return None
            return self._slid(at, told, [sizes[1], sizes[2], None, None], deep, True)
        if name in _IMAGES_ALIKE:
            return self._part(at, call.args[0] if call.args else None, deep)
        if name in _CROPS and len(call.args) == 3:
            whole = self._part(at, call.args[0], deep)
            if whole is None or len(whole) not in (3, 4):
                return None
            pixels = [_number(at.part(one)) for one in call.args[1:]]
            return [*whole[:-3], *pixels, whole[-1]]
        if name == "transpose":
            told = by_parameter(call, ("a", "perm"))
            return self._turned(at, told.get("a"), told.get("perm"), deep)
        if name == "reshape":
            return self._reshaped(at, by_parameter(call, ("tensor", "shape")), deep)
        return None

    def _multiplied(self, at: At, call: ast.Call, deep: int) -> Dimensions | None:
        """`tf.matmul(x, weights)`, of matrices that are not turned."""
        if any(keyword.arg != "name" for keyword in call.keywords):
            return None
        left, right = (self._part(at, one, deep) for one in call.args)
        if right is None or len(right) != 2 or (left is not None and len(left) != 2):
            return None
        return [left[0] if left is not None else None, right[1]]

    def _of_own(self, at: At, call: ast.Call, deep: int) -> Dimensions | None:
        inside = self.returned(at, call)
        return self.of(inside, deep + 1) if inside is not None else None

    def returned(self, at: At, call: ast.Call) -> At | None:
        """What a function of the program returns at its only end."""
        target = self.graph.target(at.module, call.func)
        node = target.node if target is not None else None
        if target is None or not isinstance(node, ast.FunctionDef) or node.decorator_list:
            return None
        ends = [one for one in walk(node) if isinstance(one, ast.Return)]
        if len(ends) != 1 or ends[0] is not node.body[-1] or ends[0].value is None:
            return None
        bound, bindings = bind(call, target), target.module.names.scopes[node].bindings
        written = bound.written()
        inside: dict[str, At] = {}
        for name in target.parameters():
            value = bound.value(name) if len(bindings[name]) == 1 else None
            if value is not None:  # a default stands in the function's own module
                inside[name] = at.part(value) if name in written else At(target.module, value, {})
        self.entered = True
        return At(target.module, ends[0].value, inside)

    def _part(self, at: At, node: ast.expr | None, deep: int) -> Dimensions | None:
        return self.of(at.part(node), deep + 1) if node is not None else None

    def _reduced(self, at: At, call: ast.Call, deep: int) -> Dimensions | None:
        """`tf.reduce_mean(x, axis=[1, 2])`, whose dimensions go."""
        told = by_parameter(call, ("input_tensor", "axis"))
        whole = self._part(at, told.get("input_tensor"), deep)
        axes = constant(told["axis"]) if "axis" in told else None
        axes = [axes] if isinstance(axes, int) else axes
        if len(told) != 2 or set(told) - {"name"} != {"input_tensor", "axis"} or whole is None:
            return None
        if not isinstance(axes, (list, tuple)) or len(call.args) > 2:
            return None
        gone = {axis % len(whole) for axis in axes if isinstance(axis, int)}
        return [one for axis, one in enumerate(whole) if axis not in gone]

    def _slid(
        self,
        at: At,
        told: Mapping[str, ast.expr | None],
        kernel: Dimensions | None,
        deep: int,
        pools: bool = False,
    ) -> Dimensions | None:
        """What a convolution or a pool leaves of an image."""
        image = self._part(at, told.get("input"), deep)
        strides, padding = _listed(at, told.get("strides")), _text(at, told.get("padding"))
        if image is None and not pools:
            image = [None] * 4  # it leaves as many channels as its kernel says
        if image is None or kernel is None or strides is None:
            return None
        if [len(image), len(kernel), len(strides)] != [4, 4, 4]:
            return None
        if strides[0] != 1 or strides[3] != 1:
            return None
        found: Dimensions = [image[0], None, None, image[3] if pools else kernel[3]]
        for axis in _SPACE:
            size, width, stride = image[axis], kernel[axis - 1], strides[axis]
            if size is None or width is None or not stride:
                continue
            if padding == "SAME":
                found[axis] = -(-size // stride)
            elif padding == "VALID":
                found[axis] = -(-(size - width + 1) // stride)
        return found

    def _turned(
        self, at: At, tensor: ast.expr | None, order: ast.expr | None, deep: int
    ) -> Dimensions | None:
        """`tf.transpose(x, [1, 2, 0])`"""
        whole, axes = self._part(at, tensor, deep), _listed(at, order)
        if (
            whole is None
            or axes is None
            or sorted(a for a in axes if a is not None) != [*range(len(whole))]
        ):
            return None
        return [whole[axis] for axis in axes if axis is not None]

    def _reshaped(self, at: At, told: Mapping[str, ast.expr], deep: int) -> Dimensions | None:
        shape = told.get("shape")
        if not isinstance(shape, (ast.List, ast.Tuple)):
            return None
        sizes = [self.number(at.part(one)) for one in shape.elts]
        if -1 not in sizes:
            return list(sizes)
        whole = self._part(at, told.get("tensor"), deep)
        rest = [one for one in sizes if one != -1]
        if whole is None or None in whole or None in rest or sizes.count(-1) > 1:
            return [None if one == -1 else one for one in sizes]
        known = prod(one or 0 for one in rest)
        total = prod(one or 0 for one in whole)
        return [total // known if one == -1 and known else one for one in sizes]


def _broadcast(one: Dimensions, other: Dimensions) -> Dimensions | None:
    """The dimensions of what two tensors make together, element by element."""
    long, short = (one, other) if len(one) >= len(other) else (other, one)
    found = long[: len(long) - len(short)]
    for pair in zip(long[len(found) :], short):
        known = {size for size in pair if size not in (None, 1)}
        if len(known) > 1:
            return None
        found.append(1 if pair == (1, 1) else None if None in pair else max(known, default=1))
    return found


def _product(sizes: Dimensions) -> int | None:
    return None if None in sizes else prod(one or 0 for one in sizes)


def _within(module: Module, node: ast.expr) -> ast.expr:
    """What a number is taken of: `x.get_shape()[1].value`, `int(x.get_shape()[1])`."""
    if isinstance(node, ast.Attribute) and node.attr == "value":
        node = node.value
    if isinstance(node, ast.Call) and len(node.args) == 1:
        if module.names.qualname(node.func) == "builtins.int":
            return _within(module, node.args[0])
    return node


def _text(at: At, node: ast.expr | None) -> object:
    """A constant, or the one that a function's parameter is given."""
    while isinstance(node, ast.Name) and node.id in at.given and at.module.names.is_parameter(node):
        at = at.given[node.id]
        node = at.node
    return constant(node)


def _factors(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return [*_factors(node.left), *_factors(node.right)]
    return [node]


def _first(call: ast.Call) -> ast.expr | None:
    named = (
        k.value for k in call.keywords if k.arg in ("x", "value", "features", "input", "inputs")
    )
    return call.args[0] if call.args else next(named, None)


def _listed(at: At, node: ast.expr | None) -> Dimensions | None:
    """The numbers of a list; None for each one that is not known."""
    items = _items(at.part(node)) if node is not None else None
    return [_number(one) for one in items] if items is not None else None


def _items(at: At) -> list[At] | None:
    """The elements of a list that is written out, perhaps where a function is called."""
    node = at.node
    if isinstance(node, ast.Name) and node.id in at.given and at.module.names.is_parameter(node):
        return _items(at.given[node.id])
    if isinstance(node, ast.Name):
        elements = elements_of(at.module, node)
        return [at.part(one) for one in elements] if elements is not None else None
    if not isinstance(node, (ast.List, ast.Tuple)):
        return None
    return None if _has_star(node.elts) else [at.part(one) for one in node.elts]


def _has_star(nodes: Sequence[ast.expr]) -> bool:
    return any(isinstance(one, ast.Starred) for one in nodes)


def known_number(module: Module, node: ast.expr) -> int | None:
    """A whole number that the program has by an only name, its module's or another one's."""
    return _number(At(module, node, {}))


def _number(at: At, deep: int = 0) -> int | None:
    """A number that the program has by an only name.

    It is its module's, or another's that it imports, or what a function is given.
    """
    module, node = at.module, at.node
    if is_none(node) or deep > _DEEP:
        return None
    value = constant(node)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(node, ast.Name):
        home = module.names.defining_scope(node.id, module.names.scope_at(node))
        only = home is not None and len(home.bindings.get(node.id, ())) == 1
        if only and module.names.is_parameter(node):
            return _number(at.given[node.id], deep + 1) if node.id in at.given else None
        item = _unpacked(at, node) if only else None
        if item is not None:
            return _number(item, deep + 1)
        given = module.names.only_value(node) if only else None
        if given is not None:
            return _number(at.part(given), deep + 1)
        return _of_import(module, node, deep)
    if isinstance(node, ast.Attribute):
        return _of_import(module, node, deep)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        pair = [_number(at.part(one), deep + 1) for one in (node.left, node.right)]
        known = [one for one in pair if one is not None]
        return known[0] * known[1] if len(known) == 2 else None
    return None


def _unpacked(at: At, name: ast.Name) -> At | None:
    """The element that a name is of a list: `f1, f2, f3 = filters`."""
    binding = at.module.names.only_binding(name)
    target = at.module.names.parents.get(binding.node) if binding is not None else None
    statement = at.module.names.parents.get(target) if target is not None else None
    if binding is None or not isinstance(target, ast.Tuple):
        return None
    if not isinstance(statement, ast.Assign) or statement.targets != [target]:
        return None
    items = _items(at.part(statement.value)) or []
    places = [index for index, one in enumerate(target.elts) if one is binding.node]
    return items[places[0]] if places and len(items) == len(target.elts) else None


def _of_import(module: Module, node: ast.expr, deep: int) -> int | None:
    """`network.IMAGE_SIZE`, a constant that nothing else of the run gives a value."""
    head, _, last = (module.names.qualname(node) or "").rpartition(".")
    for other in module.imported if head else ():
        bindings = other.names.module_scope.bindings.get(last, [])
        if f".{other.name}".endswith(f".{head}") and len(bindings) == 1:
            users = (*other.importers, other)
            changed = any(
                not isinstance(one.ctx, ast.Load)
                for user in users
                for one in user.names.attributes.get(last, ())
            )
            value = bindings[0].value
            if bindings[0].kind == "assign" and value is not None and not changed:
                return _number(At(other, value, {}), deep + 1)
    return None
