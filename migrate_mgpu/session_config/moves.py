"""One flow's move to ``tf.config``, as edits of the files that it touches."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.edit_set import EditSet
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.style import spelling
from migrate_mgpu.core.records import field, record
from migrate_mgpu.session_config.checks import (
    Taker,
    settings_of,
    statements,
    together,
    unless_limited,
)
from migrate_mgpu.session_config.field_rewriter import (
    FieldRewriter,
    field_rewriters,
)
from migrate_mgpu.session_config.fields import FRACTION, GROWTH, SOFT_PLACEMENT
from migrate_mgpu.session_config.flows import Flow, Handover, Setting, Step
from migrate_mgpu.session_config.insertion_point import Hoist
from migrate_mgpu.session_config.sessions import leaves
from migrate_mgpu.session_config.sinks import SinkCall
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.container_edit import without_members
from migrate_mgpu.source.header_edit import without_parameter
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, comments
from migrate_mgpu.source.style import FileStyle


@record(eq=False)
class Move(EditSet):
    """What one flow's move changes."""

    flow: Flow
    spellings: dict[Module, str] = field(default_factory=dict)  # modules that need an import
    applied: list[tuple[Setting, FieldRewriter]] = field(default_factory=list)
    # Growth beside a limit, and the value without which there is none: growth holds then.
    overruled: list[tuple[Setting, str | None]] = field(default_factory=list)
    stated: list[tuple[Module, ast.stmt]] = field(default_factory=list)  # TF1's soft placement, off

    def code(self, module: Module, node: ast.expr) -> str:
        """The text of an expression that new code has."""
        self.moved.add(node)
        return module.source.code(node)


def build(
    flow: Flow,
    hoist: Hoist | None = None,
    drop: frozenset[ast.stmt] | set[ast.stmt] = frozenset(),
    native: bool = False,
    places: bool = True,
    converted: frozenset[ast.AST] | set[ast.AST] = frozenset(),
) -> Move:
    """The edits that move a flow.

    ``hoist`` is where the calls that must be early are put (in a native program
    all of them); None leaves every call where its setting stood. ``drop`` are
    statements of a native program that go away with their session,
    ``converted`` the RunConfigs that go away with their Estimator.
    ``places`` says whether its programs put operations on devices.
    """
    move = Move(flow)
    # A TF1 session does not place softly unless told to, TF2's eager code does.
    sets_default = (native and places) and any(
        sink.kind.name in ("Session", "InteractiveSession") or sink.call in converted
        for sink in flow.sinks
    )
    rewriters = field_rewriters()
    limits = settings_of(flow, FRACTION)
    early: list[str] = []
    hoisted: set[ast.stmt] = set()  # statements whose comments stand with their calls
    emptied: list[tuple[Module, ast.stmt]] = []
    for (module, statement), members in statements(flow).items():
        layout = Layout(module.source, statement)
        style = _style(move, module, statement)
        settings = sorted(
            (m for m in members if isinstance(m, Setting)),
            key=lambda s: (s.value.lineno, s.value.col_offset),
        )
        groups: list[tuple[Setting | None, list[str]]] = []
        if (
            sets_default
            and _starts_config(flow, members)
            and not _sets_softness(flow, module, statement)
        ):
            default = style.lines("{tf}.config.set_soft_device_placement(False)")
            move.stated.append((module, statement))
            if not hoist:
                groups.append((None, default))
            elif default[0] not in early:
                early = default + early
        for setting in settings:
            rewriter = rewriters[setting.path]
            rivals = [limit for limit in limits if setting.path == GROWTH]
            rivals = [limit for limit in rivals if together(setting, limit)]
            unless = [unless_limited(flow, setting, limit) for limit in rivals]
            if rivals and unless != [unless[0] or ""]:
                if setting.known is not False:
                    move.overruled.append((setting, None))
                continue
            lines = rewriter.apply(setting, style)
            if rivals and lines:
                move.overruled.append((setting, unless[0]))
                inner = module.source.indent_unit
                lines = [f"if not {unless[0]}:", *(inner + line for line in lines)]
            move.moved |= setting.written
            move.applied.append((setting, rewriter))
            if lines:
                move.needs(module, *rewriter.imports)
            if hoist and (native or rewriter.early):
                beside = layout.trailing_comment if setting is members[-1] else None
                if beside and len(members) == 1 and setting.creation is None:
                    lines = [f"{lines[0]}  {beside}", *lines[1:]]  # it goes along
                    hoisted.add(statement)
                early += lines
            else:
                groups.append((setting, lines))
        groups = _by_choice(move, module, groups)
        steps = [m for m in members if isinstance(m, Step)]
        sinks = [m for m in members if isinstance(m, (SinkCall, Handover))]
        if sinks or any(step.creation is not None for step in steps):
            helpers = [step.call for step in steps if step.call is not None]
            groups += [(None, [move.code(module, call)]) for call in helpers]
            steps = [step for step in steps if step.call is None]
        if sinks:
            gone = emptied if statement in drop else None
            _sink_statement(move, module, layout, groups, sinks, gone, converted)
        else:
            trailing = None if statement in hoisted else layout.trailing_comment
            _carrier(move, module, layout, groups, steps, emptied, trailing)
    for module, shown in dict.fromkeys(flow.shown):
        layout = Layout(module.source, shown)
        emptied.append((module, shown))
        move.edit(module, layout.replace([]))
    for module, block in flow.entered:
        assert block.optional_vars is not None
        _, start = module.source.span(block.context_expr)
        _, end = module.source.span(block.optional_vars)
        move.edit(module, Edit(start, end, ""))
    for parameter in flow.parameters:
        edit = without_parameter(parameter.module.source, parameter.function, parameter.name)
        move.edit(parameter.module, edit)
    if hoist and early:
        layout = Layout(hoist.module.source, hoist.statement)
        insert = layout.insert_after if hoist.behind else layout.insert_paragraph
        move.edit(hoist.module, insert(early))
    _fill_emptied(move, emptied)
    return move


def _starts_config(flow: Flow, members: list[object]) -> bool:
    """Whether a statement makes the config (or leaves it out)."""
    return any(
        (isinstance(m, Step) and (m.creation in flow.creations or not (m.creation or m.call)))
        or (isinstance(m, (SinkCall, Handover)) and m.argument in flow.creations)
        or (isinstance(m, Setting) and m.creation in flow.creations)
        for m in members
    )


def _sets_softness(flow: Flow, module: Module, statement: ast.stmt) -> bool:
    """Whether soft placement is set wherever this statement runs."""
    names = module.names
    block = names.block(statement)
    return any(
        s.module is module
        and s.choice is None
        and (s.statement is statement or names.block(s.statement) is block)
        for s in settings_of(flow, SOFT_PLACEMENT)
    )


def _carrier(
    move: Move,
    module: Module,
    layout: Layout,
    groups: list[tuple[Setting | None, list[str]]],
    steps: list[Step],
    emptied: list[tuple[Module, ast.stmt]],
    trailing: str | None,
) -> None:
    """A statement that only made, filled, carried or returned the config."""
    source = module.source
    code = source.text[layout.start : layout.end]
    if trailing and not layout.owns_start and sum(len(lines) for _, lines in groups) == 1:
        trailing = None  # it stays where it is, behind the one call
    lines = _with_comments(code, layout.statement.lineno, groups, trailing)
    for step in steps:
        if step.call is not None:
            tail = f"  {layout.trailing_comment}" if layout.trailing_comment else ""
            lines = [move.code(module, step.call) + tail]
    members = {member for step in steps for member in step.members}
    if members:
        rest, away = without_members(module.source, layout.statement, members)
        stays = {comment.text for comment in comments(code)} - away if rest else set()
        lines = [line for line in lines if line not in stays] + ([rest] if rest else [])
    elif any(step.returns for step in steps) and not _is_last(module, layout.statement):
        lines.append("return")
    lines += ["yield"] if any(step.yields for step in steps) else []
    exported = dict.fromkeys(step.exported for step in steps if step.exported)
    lines += [f"{name} = None" for name in exported]
    if not layout.owns_start:
        if len(lines) == 1 and lines[0].startswith("#"):
            lines = ["pass  " + lines[0]]
        move.edit(module, layout.replace_one_liner(lines))
        return
    if not any(line and not line.startswith("#") for line in lines):
        emptied.append((module, layout.statement))
    move.edit(module, layout.replace(lines))


def _sink_statement(
    move: Move,
    module: Module,
    layout: Layout,
    groups: list[tuple[Setting | None, list[str]]],
    sinks: list[Taker],
    emptied: list[tuple[Module, ast.stmt]] | None,
    converted: frozenset[ast.AST] | set[ast.AST],
) -> None:
    """A statement that makes a session: calls before it, the argument out of it.

    ``emptied``: it goes away, and is one of these where nothing stands for it.
    """
    source = module.source
    lines: list[str] = []
    for sink in sinks:
        argument = sink.argument
        assert argument is not None
        start, end = source.span(sink.by_keyword or argument)
        piece = source.text[start:end]
        if isinstance(argument, ast.Call) and not groups and _is_helper_call(move.flow, argument):
            lines.append(move.code(module, argument))
        start_line = source.place(start)[0]
        lines += _with_comments(piece, start_line, groups, None)
        groups = []
    if emptied is not None:
        if leaves(module, layout.statement):
            lines = [*lines, "return"]
        if layout.trailing_comment:
            lines = [*lines, layout.trailing_comment]
        if not lines:
            emptied.append((module, layout.statement))
        move.edit(module, layout.replace(lines))
        return
    if lines:
        move.edit(module, layout.insert_before(lines))
    for sink in sinks:
        if sink.call in converted or sink.argument in move.flow.optional:
            continue
        if isinstance(sink, Handover) and sink.stays and not sink.default:
            move.edit(module, Edit(*source.span(sink.argument), "None"))
            continue
        assert sink.argument is not None
        call = CallEdit(source, sink.call)
        # A parameter that goes away takes its place among the arguments along.
        call.drop_value(sink.argument, shifts=isinstance(sink, Handover) and not sink.stays)
        move.edit(module, *call.edits())


def _by_choice(
    move: Move, module: Module, groups: list[tuple[Setting | None, list[str]]]
) -> list[tuple[Setting | None, list[str]]]:
    """Settings that a conditional expression chooses between, under one `if`."""
    found: list[tuple[Setting | None, list[str]]] = []
    blocks: dict[ast.IfExp, tuple[list[str], dict[bool, list[str]]]] = {}
    for setting, lines in groups:
        choice = setting.choice if setting is not None else None
        if choice is None:
            found.append((setting, lines))
            continue
        node, in_body = choice
        if node not in blocks:
            blocks[node] = [], {True: [], False: []}
            found.append((setting, blocks[node][0]))
        blocks[node][1][in_body] += lines
    unit = module.source.indent_unit
    for node, (block, arms) in blocks.items():
        test = move.code(module, node.test)
        if not arms[True]:
            simple = isinstance(node.test, (ast.Name, ast.Attribute, ast.Call, ast.Subscript))
            test = f"not {test}" if simple else f"not ({test})"
        block.append(f"if {test}:")
        block += [unit + line for line in arms[True] or arms[False]]
        if arms[True] and arms[False]:
            block += ["else:", *(unit + line for line in arms[False])]
    return found


def _is_helper_call(flow: Flow, call: ast.Call) -> bool:
    return any(call is helper for _, helper in flow.helper_calls)


def _with_comments(
    code: str,
    first_line: int,
    groups: list[tuple[Setting | None, list[str]]],
    trailing: str | None,
) -> list[str]:
    """The lines of settings, each with the comments that stood at it."""
    above: dict[int, list[str]] = {}
    beside: dict[int, list[str]] = {}
    tail: list[str] = []
    for comment in comments(code):
        line = first_line + comment.line
        index = _owner(groups, line, comment.alone)
        if index is None:
            tail.append(comment.text)
        elif comment.alone or _end_line(groups[index][0]) != line:
            above.setdefault(index, []).append(comment.text)
        else:
            beside.setdefault(index, []).append(comment.text)
    if trailing:
        if groups:
            beside.setdefault(len(groups) - 1, []).append(trailing)
        else:
            tail.append(trailing)
    lines: list[str] = []
    for index, (_, own) in enumerate(groups):
        lines += above.get(index, [])
        side = beside.get(index, [])
        if not own:
            lines += side
        else:
            lines.append(own[0] + "".join(f"  {text}" for text in side))
            lines += own[1:]
    return lines + tail


def _owner(groups: list[tuple[Setting | None, list[str]]], line: int, alone: bool) -> int | None:
    for index, (setting, _) in enumerate(groups):
        if setting is None:
            continue
        if not alone and _end_line(setting) == line:
            return index
        if setting.value.lineno > line:
            return index
    return None


def _end_line(setting: Setting | None) -> int:
    return (setting.value.end_lineno or 0) if setting else 0


def _style(move: Move, module: Module, statement: ast.stmt) -> FileStyle:
    tf = spelling(module, statement)
    if tf is None:
        names = module.names
        tf = move.spellings.setdefault(module, names.fresh(names.module_scope, "tf", "tensorflow"))
    return FileStyle.of(module.source, tf)


def _is_last(module: Module, statement: ast.stmt) -> bool:
    parent = module.names.parents[statement]
    return isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)) and (
        parent.body[-1] is statement
    )


def _fill_emptied(move: Move, emptied: list[tuple[Module, ast.stmt]]) -> None:
    """A block whose every statement went away goes with its `if` or `else`, or gets a `pass`."""
    blocks: dict[int, tuple[Module, list[ast.stmt], list[ast.stmt]]] = {}
    for module, statement in emptied:  # grows by what goes away
        block = module.names.block(statement)
        gone = blocks.setdefault(id(block), (module, block, []))[2]
        gone.append(statement)
        header = module.names.parents[block[0]]
        if len(gone) == len(block) and not isinstance(header, ast.Module):
            if isinstance(header, ast.If) and _goes(move, module, header, block):
                if block is header.body:
                    emptied.append((module, header))
            else:
                _fill(move, module, block[-1])


def _goes(move: Move, module: Module, header: ast.If, emptied: list[ast.stmt]) -> bool:
    """Takes away an `if` that does nothing more than ask, or an `else:`; says whether it did.

    What has a comment stays, and an `if` with another branch, or that is one.
    """
    layout = Layout(module.source, header)
    start, end = layout.line_start, layout.next_line
    if emptied is header.body:
        if header.orelse or layout.lead.strip() or not _only_asks(header.test):
            return False
        if module.source.text.startswith("elif", layout.start):
            return False
    else:
        first = header.orelse[0]
        start = Layout(module.source, header.body[-1]).next_line
        between = module.source.text[start : Layout(module.source, first).line_start]
        if between.strip() != "else:":
            return False  # on its line, with a comment, or an `elif`
    inside = [e for e in move.edits[module] if start <= e.start < e.end <= end]
    if comments(module.source.text[start:end]) or any(e.new.strip() for e in inside):
        return False
    for edit in inside:
        move.edits[module].remove(edit)
    move.edit(module, Edit(start, end, ""))
    if emptied is header.body:
        move.gone.update(ast.walk(header))
    return True


def _only_asks(test: ast.expr) -> bool:
    """Whether a condition calls nothing."""
    asks = (
        ast.Name, ast.Attribute, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp,
        ast.boolop, ast.unaryop, ast.cmpop, ast.expr_context,
    )  # fmt: skip
    return all(isinstance(node, asks) for node in ast.walk(test))


def _fill(move: Move, module: Module, last: ast.stmt) -> None:
    layout = Layout(module.source, last)
    for edit in list(move.edits[module]):
        if edit.start == layout.line_start and edit.end == layout.next_line:
            move.edits[module].remove(edit)
            move.edit(module, Edit(edit.start, edit.end, edit.new + layout.lines(["pass"])))
