"""Numbers for words, as ``tf.contrib.learn.preprocessing`` of TensorFlow 1 gives them.

The same words, numbers and files: what TensorFlow 1 saved is restored.
"""

import collections
import pickle
import re
from collections.abc import Iterable, Iterator
from typing import Any, Callable, Optional

import numpy as np

_WORD = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+(?=[A-Z])|[\'\w\-]+", re.UNICODE)


def tokenizer(texts: Iterable[str]) -> Iterator[list[str]]:
    """The words of each text."""
    for text in texts:
        yield _WORD.findall(text)


class CategoricalVocabulary:
    """Numbers of words, in the order in which they come; 0 is the word that is not known."""

    def __init__(self, unknown_token: str = "<UNK>", support_reverse: bool = True) -> None:
        self._unknown_token = unknown_token
        self._mapping: dict[str, int] = {unknown_token: 0}
        self._support_reverse = support_reverse
        self._reverse_mapping: list[str] = [unknown_token] if support_reverse else []
        self._freq: dict[str, int] = collections.defaultdict(int)
        self._freeze = False

    def __len__(self) -> int:
        return len(self._mapping)

    def freeze(self, freeze: bool = True) -> None:
        """Whether words that come from now on are not known."""
        self._freeze = freeze

    def get(self, category: str) -> int:
        """A word's number; a new one where words still come."""
        if category not in self._mapping:
            if self._freeze:
                return 0
            self._mapping[category] = len(self._mapping)
            if self._support_reverse:
                self._reverse_mapping.append(category)
        return self._mapping[category]

    def add(self, category: str, count: int = 1) -> None:
        """Counts a word."""
        if self.get(category) > 0:
            self._freq[category] += count

    def trim(self, min_frequency: int, max_frequency: int = -1) -> None:
        """Keeps words that came more often, and numbers them anew, the most frequent first."""
        by_name = sorted(self._freq.items(), key=lambda item: (isinstance(item[0], str), item[0]))
        kept = [
            (word, count)
            for word, count in sorted(by_name, key=lambda item: item[1], reverse=True)
            if count > min_frequency and not 0 < max_frequency <= count
        ]
        self._freq = dict(kept)
        words = [self._unknown_token, *self._freq]
        self._mapping = {word: number for number, word in enumerate(words)}
        self._reverse_mapping = words if self._support_reverse else []

    def reverse(self, class_id: int) -> str:
        """The word of a number."""
        if not self._support_reverse:
            raise ValueError("this vocabulary does not support reverse mapping")
        return self._reverse_mapping[class_id]


class VocabularyProcessor:
    """Makes rows of numbers, all of one length, of texts."""

    def __init__(
        self,
        max_document_length: int,
        min_frequency: int = 0,
        vocabulary: Optional[CategoricalVocabulary] = None,
        tokenizer_fn: Optional[Callable[[Iterable[str]], Iterable[list[str]]]] = None,
    ) -> None:
        self.max_document_length = max_document_length
        self.min_frequency = min_frequency
        self.vocabulary_ = vocabulary or CategoricalVocabulary()
        self._tokenizer = tokenizer_fn or tokenizer

    def fit(self, raw_documents: Iterable[str], unused_y: Any = None) -> "VocabularyProcessor":
        """Learns the words of texts."""
        for words in self._tokenizer(raw_documents):
            for word in words:
                self.vocabulary_.add(word)
        if self.min_frequency > 0:
            self.vocabulary_.trim(self.min_frequency)
        self.vocabulary_.freeze()
        return self

    def fit_transform(
        self, raw_documents: Iterable[str], unused_y: Any = None
    ) -> Iterator[np.ndarray]:
        """Learns the words of texts, and gives the rows of these."""
        self.fit(raw_documents)
        return self.transform(raw_documents)

    def transform(self, raw_documents: Iterable[str]) -> Iterator[np.ndarray]:
        """A row of numbers for each text, filled with zeros."""
        for words in self._tokenizer(raw_documents):
            row = np.zeros(self.max_document_length, np.int64)
            for place, word in zip(range(self.max_document_length), words):
                row[place] = self.vocabulary_.get(word)
            yield row

    def reverse(self, documents: Iterable[Iterable[int]]) -> Iterator[str]:
        """The words of each row, in one text."""
        for row in documents:
            yield " ".join(self.vocabulary_.reverse(number) for number in row)

    def save(self, filename: str) -> None:
        """Writes the words and their numbers to a file."""
        with open(filename, "wb") as file:
            file.write(pickle.dumps(self))

    @classmethod
    def restore(cls, filename: str) -> "VocabularyProcessor":
        """What ``save`` has written, here or in TensorFlow 1."""
        with open(filename, "rb") as file:
            restored: VocabularyProcessor = _Unpickler(file).load()
        return restored


class _Unpickler(pickle.Unpickler):
    """Finds here what TensorFlow 1 saved by the names of its own modules."""

    def find_class(self, module: str, name: str) -> Any:
        if ".contrib.learn." in module and name in globals():
            return globals()[name]
        return super().find_class(module, name)
