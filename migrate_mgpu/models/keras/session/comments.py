"""Comments of statements that go away, and that stay in the text."""

from __future__ import annotations

import ast
from collections.abc import Collection
from functools import cached_property

from migrate_mgpu.models.front.session.program import Role, SessionProgram
from migrate_mgpu.models.front.session.scope import Entry
from migrate_mgpu.models.keras.towers.steps import comments_of_towers
from migrate_mgpu.source.blocks import leading, right_above, trailing
from migrate_mgpu.source.statements import is_comment

_WRAPPED = 60  # columns: a shorter line of a comment is not one that goes on below
_OF_THE_LINE_ABOVE = ("This ", "It ")
_OF_SESSIONS = (
    *("session", "graph", "launch", "itializ", "itialis"),
    *("会话", "启动", "初始化", "세션", "초기화", "セッション", "初期化"),  # the same
)


class KeptComments:
    """Which comments of a session's program no other statement has.

    Args:
      heads: statements whose comments those behind them have.
    """

    def __init__(self, program: SessionProgram, heads: Collection[ast.stmt]) -> None:
        self.program = program
        self.heads = heads
        self.tower_comments = comments_of_towers(program)
        self.module = program.scope.module
        self.source = self.module.source

    def of(self, entry: Entry, first: bool) -> list[str]:
        """Comments of a statement that goes away without another in its place.

        ``first``: those behind which there is a blank line stand above what is written anew.
        """
        if entry.statement not in self._gone_statements or entry.statement in self.heads:
            return []
        if entry.statement in self.program.described:
            return []
        if entry.statement in self.program.named_starts:  # datasets begin iterators now
            return []
        if entry.statement in self.tower_comments or entry.statement in self._averaging:
            return []
        if entry.statement in self.program.lists.values():  # above the list that is written
            return []
        if entry.statement in self._listing or self._ends_with(entry):
            return []
        above = leading(self.source, entry.statement)
        if first:
            above = right_above(above)
        found = [text for text in above if text.startswith("#")]
        behind = "" if entry.opens else trailing(self.source, entry.statement).strip()
        found += [behind] if behind else []
        return [
            line
            for comment in _comments(found)
            if not any(word in line.lower() for word in _OF_SESSIONS for line in comment)
            for line in comment
        ]

    def _ends_with(self, entry: Entry) -> bool:
        """Whether all that a comment stands above goes away, up to a blank line."""
        if entry.opens or not any(leading(self.source, entry.statement)):
            return False
        home = next((one for one in self._entries if entry in one), ())
        last = entry
        for below in home[home.index(entry) + 1 :]:
            end = last.statement.end_lineno or last.statement.lineno
            if not self.source.line_text(end + 1).strip():
                return True
            if below.opens or below.statement not in self._gone_statements:
                return False
            if is_comment(self.source.line_text(end + 1)):
                return True
            last = below
        return False

    @cached_property
    def _entries(self) -> list[tuple[Entry, ...]]:
        return [self.program.scope.entries, *(one.entries for one in self.program.clients)]

    @cached_property
    def _listing(self) -> set[ast.stmt]:
        """What lists the variables that are copied: the lists stand where they are."""
        copies = self.program.copies.values()
        lists = (one for copy in copies for one in copy.lists if isinstance(one, ast.Name))
        return {self.program.listing(one) for one in lists}

    @cached_property
    def _averaging(self) -> set[ast.stmt]:
        """What made averages of variables, whose comments stand where they are made now."""
        found = (update.averages for update in self.program.updates)
        made = (one for one in found if one is not None and not one.maker)
        return {self.module.names.statement(one.node) for one in made}

    @cached_property
    def _gone_statements(self) -> set[ast.stmt]:
        pairs = [*zip(self.program.scope.entries, self.program.roles)]
        for client in self.program.clients:
            pairs += zip(client.entries, client.roles)
        return {entry.statement for entry, role in pairs if role is Role.GONE}


def _comments(lines: list[str]) -> list[list[str]]:
    """Lines of comments, those together that are one which goes on."""
    found: list[list[str]] = []
    for line in lines:
        text, above = line.lstrip("# "), found[-1][-1] if found else ""
        ended = above.endswith((".", ":", "!", "?")) and not text[:1].islower()
        goes_on = len(above) > _WRAPPED and not ended
        if goes_on or (found and text.startswith(_OF_THE_LINE_ABOVE)):
            found[-1].append(line)
        else:
            found.append([line])
    return found
