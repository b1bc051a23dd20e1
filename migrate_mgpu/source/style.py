"""How a file is written: what new code in it takes over, so that it reads as its author's."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from migrate_mgpu.core.records import record
from migrate_mgpu.source.source import Source

_CLOSED = re.compile(r"^([ \t]*)[)\]}]+$")


@record(frozen=True)
class FileStyle:
    """A file's spelling of TensorFlow, its quotes, indentation, line ends and line breaks."""

    tensorflow: str = "tf"  # the name by which TensorFlow's root is known
    quote: str = '"'
    indent: str = "    "  # one level
    newline: str = "\n"
    width: int = 88
    hanging: bool = True  # closing brackets stand on lines of their own

    @classmethod
    def of(cls, source: Source, tensorflow: str = "tf") -> FileStyle:
        return cls(
            tensorflow,
            source.quote,
            source.indent_unit,
            source.newline,
            source.width,
            source.has_hanging_brackets,
        )

    def string(self, text: str) -> str:
        """A string literal; ``text`` has neither quotation marks nor backslashes."""
        return f"{self.quote}{text}{self.quote}"

    def lines(self, template: str, **replacements: str) -> list[str]:
        """The lines of new statements.

        ``template`` has four spaces a level and the fields ``{tf}``, ``{quote}`` and those of
        ``replacements``, which may have lines of their own: each stays in the line of its field.
        """
        return [self.code(line, **replacements) for line in template.splitlines()]

    def code(self, template: str, **replacements: str) -> str:
        """The same, as one text."""
        replacements.update(tf=self.tensorflow, quote=self.quote)
        return self.indented(template).format(**replacements)

    def indented(self, template: str) -> str:
        """Code that is written with four spaces a level, with the file's own levels."""
        return template.replace("    ", self.indent)

    # -- calls: on one line where it fits, else an argument a line --------------

    def call(
        self, head: str, arguments: Sequence[str], indent: str, column: int, tail: int = 0
    ) -> str:
        """``head(arguments)`` as it stands behind ``column`` characters of a line.

        ``indent`` is the line's indentation, ``tail`` what follows on the last line.
        Arguments of several lines keep their own line breaks, and end below their beginning.
        """
        joined = ", ".join(arguments)
        line = f"{head}({joined})"
        several = any("\n" in argument for argument in arguments)
        if not arguments or (not several and column + len(line) + tail <= self.width):
            return line
        if several and len(arguments) == 1:  # one argument that breaks within its own brackets
            if column + len(line.split("\n", 1)[0]) <= self.width:
                return f"{head}({_ending_at(arguments[0], indent)})"
        inner = self.continued(indent)
        if not self.hanging:
            if not several and len(inner) + len(joined) + 1 + tail <= self.width:
                return f"{head}(\n{inner}{joined})"
            return f"{head}(\n{inner}" + f",\n{inner}".join(arguments) + ")"
        if not several and len(inner) + len(joined) <= self.width:
            return f"{head}(\n{inner}{joined}\n{indent})"
        body = ",".join(f"\n{inner}{_ending_at(argument, inner)}" for argument in arguments)
        comma = "," if len(arguments) > 1 else ""
        return f"{head}({body}{comma}\n{indent})"

    def continued(self, indent: str) -> str:
        """The indentation of arguments that stand below the line of their call."""
        twice = not self.hanging and len(self.indent) < 4
        return indent + self.indent * (2 if twice else 1)

    def fitted(
        self, text: str, indent: str, column: int, tail: int = 0, nested: bool = False
    ) -> str:
        """A new call, broken where it does not fit behind ``column`` characters of a line.

        ``nested``: its arguments may be new calls that do not fit either. It is parsed to see
        where it may break, and for nothing else: a template and the author's code meet in it.
        """
        if column + len(text) + tail <= self.width or "\n" in text:
            return text
        made = ast.parse(text, mode="eval").body
        if not isinstance(made, ast.Call):
            return text
        inner = self.continued(indent)
        pieces = []
        for node in (*made.args, *made.keywords):
            piece = ast.get_source_segment(text, node) or ""
            if nested and not isinstance(node, ast.keyword):
                piece = self.fitted(piece, inner, len(inner), 1, nested)
            pieces.append(piece)
        head = ast.get_source_segment(text, made.func) or ""
        return self.call(head, pieces, indent, column, tail)


def _ending_at(argument: str, indent: str) -> str:
    """An argument whose last line is a bracket that closes, moved to an indentation."""
    first, *rest = argument.split("\n")
    closed = _CLOSED.match(rest[-1]) if rest else None
    if closed is None or "'''" in argument or '"""' in argument:
        return argument
    old = closed.group(1)
    if any(line.strip() and not line.startswith(old) for line in rest):
        return argument
    moved = [indent + line[len(old) :] if line.strip() else line for line in rest]
    return "\n".join([first, *moved])
