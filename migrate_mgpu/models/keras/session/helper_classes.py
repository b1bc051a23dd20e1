"""Functions that make and apply layers, as classes of layers."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from migrate_mgpu.analysis.definitions import below_imports, defined_above
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.edit_set import EditSet
from migrate_mgpu.analysis.modes import Modes
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.models.front.network.name_scopes import left_out
from migrate_mgpu.models.front.session.expressions import descriptions
from migrate_mgpu.models.front.session.helper_calls import summaries_in
from migrate_mgpu.models.front.session.program import SessionProgram
from migrate_mgpu.models.ir import Layer
from migrate_mgpu.models.keras.losses import definitions, replacements
from migrate_mgpu.models.keras.network.cells import class_edits
from migrate_mgpu.models.keras.network.class_plan import Plan
from migrate_mgpu.models.keras.network.classes import HelperClass, HelperClasses
from migrate_mgpu.models.keras.network.input_shapes import NeedsShape
from migrate_mgpu.models.keras.network.network import Network
from migrate_mgpu.models.keras.network.tf1_names import TF1Names
from migrate_mgpu.models.keras.session.batch_normalization import Normalization
from migrate_mgpu.models.keras.session.defined import defined_calls, defined_functions
from migrate_mgpu.source.blocks import trailing
from migrate_mgpu.source.source import Edit


class HelperClassWriter:
    """Writes the classes, those that they use among them."""

    def __init__(
        self, program: SessionProgram, unshaped: bool, normalization: Normalization
    ) -> None:
        """``unshaped``: some tensor has no known shape, which Keras 3 asks for to build a layer."""
        assert program.layer_helpers is not None
        self.program = program
        self.unshaped = unshaped
        self.normalization = normalization
        self.helpers = helpers = program.layer_helpers
        # Those that are applied to tensors of four dimensions, as far as that can be told.
        self.images = any(made.image and made.normalizes for made in program.layers.values())
        self.classes = HelperClasses(helpers)
        self.beside: dict[Module, list[str]] = {}  # what functions call, and classes' losses
        self.attributes: dict[ast.Call, str] = {}  # what each layer is in its class
        self.named = TF1Names(helpers.graph)
        self._telling = self._tell_names()
        for made in self.classes.each():
            self._write(made)

    def _tell_names(self) -> set[ast.AST]:
        """The functions whose classes tell the names of their variables, with those they call."""
        kept = [self.program.saved] if self.program.saved is not None else []
        asked = [one for saver in (*self.program.savers, *kept) for _, one in saver.saved]
        asked += [one for some in self.program.loop_names.values() for one in some]
        told = {one.variables for one in asked if one.told is not None}
        waiting = [
            made.found.helper.function
            for made in self.program.layers.values()
            if made.variables in told and made.found.helper is not None
        ]
        found: set[ast.AST] = {one.node for one in waiting}
        for function in waiting:  # grows
            for call in (part for part in walk(function.node) if isinstance(part, ast.Call)):
                inner = self.helpers.target(function.module, call)
                if inner is not None and self.helpers.makes_layers(inner):
                    waiting += [inner] if inner.node not in found else []
                    found.add(inner.node)
        return found

    def _write(self, made: HelperClass, built: bool = False) -> None:
        helper = made.helper
        node, module = helper.function.node, helper.function.module
        assert isinstance(node, ast.FunctionDef)
        modes = Modes(module, node, helper.known)
        told = [*descriptions(module, node), *summaries_in(helper.function)]
        out = left_out(node.body, modes)
        stays = (s for s in walk(node) if isinstance(s, ast.stmt) and s is not node)
        kept = {s for s in stays if s not in told and not out & set(walk(s))}
        plan = Plan(
            module,
            node,
            [one for one in node.body if one not in told],
            kept,
            helper.tensors,
            [name for name in helper.settings if name not in helper.known],
            modes,
            made.name,
            made.base,
            regularized=self.helpers.regularized,
            optional=helper.optional,
        )
        network = Network(plan, style_at(module, node), self.classes, built)
        for found in network.layers.values():
            if isinstance(found.layer, Layer) and found.layer.averaging is not None:
                made_so = self.normalization.making(found.layer.averaging, self.images, module)
                network.making[found.call] = made_so
            if found.helper is not None:
                inner = self.classes.of(found.helper.function)
                if not inner.text and inner is not made:
                    self._write(inner)
        network.losses = {**replacements(module, [node]), **defined_calls(module, [node])}
        if network.losses:
            style = style_at(module, node)
            own = [*definitions(module, [node], style), *defined_functions(module, [node], style)]
            self.need(module, own)
        if node in self._telling:
            network.members.append(self.named.write)
        if self.unshaped and not built:
            network.made.append(("self.built", "True"))
        try:
            made.text = network.write(module.source.indent_of(node))
        except NeedsShape:
            self._write(made, built=True)
            return
        self.attributes.update(network.attributes)
        made.trains = network.trains
        made.parameters = tuple(network.parameters)

    def need(self, module: Module, texts: Iterable[str]) -> None:
        """Lets a module have definitions, each once."""
        known = self.beside.setdefault(module, [])
        known += [one for one in texts if one not in known]

    def edits(self, found: EditSet, home: Module) -> None:
        """A class stands where its function stood; ``home`` has those of cells elsewhere.

        Raises:
            Refused: a function is used otherwise as well.
        """
        self.helpers.check_uses()
        for made in self.classes.all():
            module, node = made.helper.function.module, made.helper.function.node
            indent = module.source.indent_of(node)
            start, end = module.source.span(node)
            end += len(trailing(module.source, node))  # the class has it
            found.edit(module, Edit(start, end, made.text.rstrip()[len(indent) :]))
            found.gone.add(node)
        for module, edits in self.classes.import_edits().items():
            found.edit(module, *edits)
        nodes: dict[Module, list[ast.AST]] = {}
        for made in self.classes.all():
            nodes.setdefault(made.helper.function.module, []).append(made.helper.function.node)
        for module in (one for one in nodes if one is not home):
            style = style_at(module, nodes[module][0])
            found.edit(module, *class_edits(module, nodes[module], style))
        beside = {module: [*texts] for module, texts in self.normalization.beside().items()}
        for module, texts in self.beside.items():
            if texts and module is not home:
                beside.setdefault(module, []).extend(texts)
        for module, texts in beside.items():
            place = below_imports(module)
            if place is None:
                reason = "there is no place for the helpers that it needs"
                raise Refused(module, module.tree.body[0], reason)
            found.edit(module, defined_above(module, place, texts))
