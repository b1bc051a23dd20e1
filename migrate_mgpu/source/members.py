"""Members of lists with commas, as libcst has them, taken out with what belongs to them.

A comment behind a member goes with it; those on lines of their own stay.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import libcst as cst

    Member = TypeVar(
        "Member", cst.Arg, cst.Param, cst.ImportAlias, cst.BaseElement, cst.BaseDictElement
    )
    Space = cst.BaseParenthesizableWhitespace


def without(
    members: Sequence[Member], gone: Collection[int], before: Space
) -> tuple[list[Member], Space]:
    """The members that stay, and the white space before the first of them."""
    kept: list[Member] = []
    last: Member | None = None  # of those that went since one stayed
    for index, member in enumerate(members):
        if index in gone:
            last = member
            continue
        if last is not None:
            if kept:
                between = _with_comments(_space_behind(kept[-1]), _space_behind(last))
                kept[-1] = _with_space_behind(kept[-1], between)
            else:
                before = _with_comments(before, _space_behind(last))
            last = None
        kept.append(member)
    if last is not None and kept:
        kept[-1] = _ending_as(kept[-1], last)
    return kept, before


def followed(members: Sequence[Member], added: Member) -> list[Member]:
    """The members and one more, which takes over the last one's end.

    It stands on a line of its own where each of them does.
    """
    import libcst as cst

    *others, last = members
    space: Space = cst.SimpleWhitespace(" ")
    ends = isinstance(last.comma, cst.Comma) and last.comma.whitespace_after
    if isinstance(ends, cst.ParenthesizedWhitespace) and others:
        space = _space_behind(others[-1])
        if isinstance(space, cst.ParenthesizedWhitespace):
            space = _without_side_comment(space.with_changes(empty_lines=()))
    after = _after(last)
    added = added.with_changes(comma=last.comma, **{name: getattr(last, name) for name in after})
    bare = dict.fromkeys(after, cst.SimpleWhitespace(""))
    return [*others, last.with_changes(comma=cst.Comma(whitespace_after=space), **bare), added]


def _after(member: cst.CSTNode) -> tuple[str, ...]:
    """The field of the white space behind a member without a comma, if it has one."""
    import libcst as cst

    if isinstance(member, cst.Arg):
        return ("whitespace_after_arg",)
    return ("whitespace_after_param",) if isinstance(member, cst.Param) else ()


def _space_behind(member: Member) -> Space:
    """What stands between a member (its comma included) and what follows."""
    import libcst as cst

    if isinstance(member.comma, cst.Comma):
        return member.comma.whitespace_after
    for name in _after(member):
        space: Space = getattr(member, name)
        return space
    return cst.SimpleWhitespace("")


def _with_space_behind(member: Member, space: Space) -> Member:
    import libcst as cst

    fields = _after(member)
    if isinstance(member.comma, cst.Comma) or not fields:
        comma = member.comma if isinstance(member.comma, cst.Comma) else cst.Comma()
        return member.with_changes(comma=comma.with_changes(whitespace_after=space))
    return member.with_changes(**dict.fromkeys(fields, space))


def _ending_as(member: Member, gone: Member) -> Member:
    """A member that is the last one now, with the end that the last one had."""
    import libcst as cst

    own, end = _space_behind(member), _without_side_comment(_space_behind(gone))
    if isinstance(own, cst.ParenthesizedWhitespace):
        comments = [line for line in own.empty_lines if line.comment]
        if comments or own.first_line.comment:
            own = own.with_changes(empty_lines=comments)
            if isinstance(end, cst.ParenthesizedWhitespace):
                own = _with_comments(own, end)
                own = own.with_changes(indent=end.indent, last_line=end.last_line)
            return _with_space_behind(member, own)
    ends = {name: getattr(gone, name) for name in _after(gone)}
    member = member.with_changes(comma=gone.comma, **ends)
    has_end = isinstance(gone.comma, cst.Comma) or ends
    return _with_space_behind(member, end) if has_end else member


def _with_comments(space: Space, other: Space) -> Space:
    """White space with the comments that stand on lines of their own in another one."""
    import libcst as cst

    if not isinstance(other, cst.ParenthesizedWhitespace):
        return space
    comments = [line for line in other.empty_lines if line.comment]
    if not comments:
        return space
    if isinstance(space, cst.ParenthesizedWhitespace):
        return space.with_changes(empty_lines=[*space.empty_lines, *comments])
    return _without_side_comment(other)


def _without_side_comment(space: Space) -> Space:
    """White space without the comment on its first line, behind what goes."""
    import libcst as cst

    if not isinstance(space, cst.ParenthesizedWhitespace) or space.first_line.comment is None:
        return space
    bare = cst.SimpleWhitespace("")
    line = space.first_line.with_changes(comment=None, whitespace=bare)
    return space.with_changes(first_line=line)
