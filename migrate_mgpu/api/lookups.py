"""``tf.contrib.lookup`` in TF2's words: the tables of words and of their numbers."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import arguments_of
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.style import FileStyle

_TO_NUMBERS = {
    "index_table_from_file": (
        "vocabulary_file", "num_oov_buckets", "vocab_size", "default_value", "hasher_spec",
        "key_dtype", "name",
    ),
    "index_table_from_tensor": (
        "mapping", "num_oov_buckets", "default_value", "hasher_spec", "dtype", "name",
    ),
}  # fmt: skip
_TO_WORDS = {
    "index_to_string_table_from_file": ("vocabulary_file", "vocab_size", "default_value", "name"),
    "index_to_string_table_from_tensor": ("mapping", "default_value", "name"),
}
_PLAIN = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.expr_context)
_KNOWN = {"vocabulary_file", "mapping", "num_oov_buckets", "vocab_size", "default_value", "name"}


def lookup_edits(module: Module, node: ast.AST, style: FileStyle) -> list[Edit] | None:
    """The edits of a call of ``tf.contrib.lookup``; None for any other node.

    TF2 hashes words without a number into the same buckets as TF1. Its tables are initialized
    where they are made.

    Raises:
        Refused: it is given something that TF2's tables are not known to do.
    """
    text = table_text(module, node, style)
    if text is None:
        return None
    start, end = module.source.span(module.names.parents[node])
    indent = style.indent  # a line's own indentation is not known here: what follows is fitted
    if not text.startswith("("):
        text = style.fitted(text, indent, len(indent), nested=True)
    return [Edit(start, end, text)]


def table_text(module: Module, node: ast.AST, style: FileStyle) -> str | None:
    """What makes a table in TF2, in one line; None for what is not called to make one.

    Raises:
        Refused: as ``lookup_edits`` does.
    """
    name = tensorflow_name(module, node)
    if not name.startswith("contrib.lookup."):
        return None
    last = name.rpartition(".")[2]
    call = module.names.parents.get(node)
    signature = _TO_NUMBERS.get(last) or _TO_WORDS.get(last)
    if signature is None or not isinstance(call, ast.Call) or call.func is not node:
        raise Refused(module, node, f"`tf.{name}` has no known form in TF2")
    given = {n: v for n, v in arguments_of(module, call, signature).items() if not is_none(v)}
    if "dtype" in given and tensorflow_name(module, given["dtype"]) == "string":
        del given["dtype"]  # of the words, which is what a table has anyway
    for parameter, value in given.items():
        if parameter not in _KNOWN or not _is_plain(module, value):
            raise Refused(module, value, f"`{parameter}` of `tf.{name}`")
    written = _Written(module, style, given)
    text = written.numbers() if last in _TO_NUMBERS else written.words()
    if text is None:
        raise Refused(module, call, f"what `tf.{name}` is given")
    return text


def _is_plain(module: Module, node: ast.expr) -> bool:
    """Whether nothing of an argument is TensorFlow's, but the `tf.constant` around a list."""
    inner = _listed(module, node)
    return not any(tensorflow_name(module, part) for part in ast.walk(inner))


def _listed(module: Module, node: ast.expr) -> ast.expr:
    """The list in `tf.constant(WORDS)`, which may have a name of its own."""
    made: ast.expr | None = node
    if isinstance(node, ast.Name):
        binding = module.names.only_binding(node)
        made = binding.value if binding is not None else None
    if isinstance(made, ast.Call) and tensorflow_name(module, made.func) == "constant":
        if len(made.args) == 1 and all(one.arg == "name" for one in made.keywords):
            return made.args[0]
    return node


class _Written:
    def __init__(self, module: Module, style: FileStyle, given: dict[str, ast.expr]) -> None:
        self.module = module
        self.tf = style.tensorflow
        self.style = style
        self.given = given

    def _code(self, name: str) -> str:
        return self.module.source.code(self.given[name])

    def _words(self) -> str | None:
        """The list of words, which is written twice: a name, or texts."""
        node = _listed(self.module, self.given["mapping"]) if "mapping" in self.given else None
        texts = isinstance(node, (ast.List, ast.Tuple)) and all(
            isinstance(constant(one), str) for one in node.elts
        )
        named = isinstance(node, (ast.Name, ast.Attribute))
        return self.module.source.code(node) if node is not None and (texts or named) else None

    def _of_file(self, keys: str, key: str, values: str, value: str) -> str:
        lookup = f"{self.tf}.lookup"
        given = [
            self._code("vocabulary_file"),
            f"{self.tf}.{keys}",
            f"{lookup}.TextFileIndex.{key}",
            f"{self.tf}.{values}",
            f"{lookup}.TextFileIndex.{value}",
        ]
        if "vocab_size" in self.given:
            given.append(f"vocab_size={self._code('vocab_size')}")
        return f"{lookup}.TextFileInitializer({', '.join(given)})"

    def numbers(self) -> str | None:
        """A table of words' numbers."""
        lookup, words = f"{self.tf}.lookup", self._words()
        if "vocabulary_file" in self.given:
            made = self._of_file("string", "WHOLE_LINE", "int64", "LINE_NUMBER")
        elif words is not None:
            made = f"{lookup}.KeyValueTensorInitializer({words}, range(len({words})), "
            made += f"{self.tf}.string, {self.tf}.int64)"
        else:
            return None
        node = self.given.get("num_oov_buckets")
        other = self._code("default_value") if "default_value" in self.given else "-1"
        plain = f"{lookup}.StaticHashTable({made}, {other})"
        if node is None or constant(node) == 0:
            return plain
        buckets = self._code("num_oov_buckets")
        hashing = f"{lookup}.StaticVocabularyTable({made}, {buckets})"
        if isinstance(node, ast.Constant):
            known = isinstance(node.value, int) and node.value > 0
            return hashing if known else None
        if not all(isinstance(part, _PLAIN) for part in ast.walk(node)):
            return None
        # TF2's table has one bucket at least.
        return self._either(hashing, buckets, plain)

    def _either(self, first: str, condition: str, second: str) -> str:
        """A conditional expression, each part on lines of its own."""
        unit = self.style.indent
        inner = unit * 2
        one, other = (
            self.style.fitted(text, inner, len(inner) + len(word), nested=True)
            for text, word in ((first, ""), (second, "else "))
        )
        return f"(\n{inner}{one}\n{inner}if {condition}\n{inner}else {other}\n{unit})"

    def words(self) -> str | None:
        """A table of numbers' words."""
        lookup, words = f"{self.tf}.lookup", self._words()
        if "vocabulary_file" in self.given:
            made = self._of_file("int64", "LINE_NUMBER", "string", "WHOLE_LINE")
        elif words is not None:
            made = f"{lookup}.KeyValueTensorInitializer(range(len({words})), {words}, "
            made += f"{self.tf}.int64, {self.tf}.string)"
        else:
            return None
        unknown = self.style.string("UNK")
        other = self._code("default_value") if "default_value" in self.given else unknown
        return f"{lookup}.StaticHashTable({made}, {other})"
