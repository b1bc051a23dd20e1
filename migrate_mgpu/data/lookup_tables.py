"""Tables of words and their numbers, as ``tf.contrib.lookup`` of TensorFlow 1 makes them."""

from typing import Any, Optional, Union

import tensorflow.compat.v1 as tf


class HashTable(tf.lookup.StaticHashTable):
    """A table whose initializer is called ``init``."""

    def __init__(self, initializer: Any, default_value: Any, name: Optional[str] = None) -> None:
        super().__init__(initializer, default_value, name=name)

    @property
    def init(self) -> Any:
        return self.initializer


class VocabularyTable(tf.lookup.StaticVocabularyTable):
    """A table of numbers, with buckets for other words, whose initializer is called ``init``."""

    @property
    def init(self) -> Any:
        return self.initializer


Table = Union[HashTable, VocabularyTable]


def index_table_from_tensor(
    mapping: Any,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    dtype: tf.DType = tf.string,
    name: Optional[str] = None,
) -> Table:
    """The place of each word in a tensor."""
    if mapping is None:
        raise ValueError("mapping must be specified")
    keys = tf.convert_to_tensor(mapping)
    if keys.dtype.is_integer != dtype.is_integer:
        raise ValueError(f"the mapping is of {keys.dtype}, not of {dtype}")
    keys = tf.cast(keys, tf.int64) if dtype.is_integer else keys
    numbers = tf.range(tf.size(keys, out_type=tf.int64))
    initializer = tf.lookup.KeyValueTensorInitializer(keys, numbers)
    return _index_table(initializer, num_oov_buckets, default_value, dtype, name)


def index_table_from_file(
    vocabulary_file: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: Optional[int] = None,
    default_value: int = -1,
    key_dtype: tf.DType = tf.string,
    name: Optional[str] = None,
    key_column_index: int = tf.lookup.TextFileIndex.WHOLE_LINE,
    value_column_index: int = tf.lookup.TextFileIndex.LINE_NUMBER,
    delimiter: str = "\t",
) -> Table:
    """The number of each word's line in a file."""
    initializer = tf.lookup.TextFileInitializer(
        vocabulary_file,
        tf.int64 if key_dtype.is_integer else key_dtype,
        key_column_index,
        tf.int64,
        value_column_index,
        vocab_size=vocab_size,
        delimiter=delimiter,
    )
    return _index_table(initializer, num_oov_buckets, default_value, key_dtype, name)


def index_to_string_table_from_tensor(
    mapping: Any, default_value: str = "UNK", name: Optional[str] = None
) -> HashTable:
    """The word of each place in a tensor."""
    if mapping is None:
        raise ValueError("mapping must be specified")
    words = tf.convert_to_tensor(mapping, tf.string)
    numbers = tf.range(tf.size(words, out_type=tf.int64))
    initializer = tf.lookup.KeyValueTensorInitializer(numbers, words)
    return HashTable(initializer, default_value, name)


def index_to_string_table_from_file(
    vocabulary_file: Any,
    vocab_size: Optional[int] = None,
    default_value: str = "UNK",
    name: Optional[str] = None,
    key_column_index: int = tf.lookup.TextFileIndex.LINE_NUMBER,
    value_column_index: int = tf.lookup.TextFileIndex.WHOLE_LINE,
    delimiter: str = "\t",
) -> HashTable:
    """The word in each line of a file."""
    initializer = tf.lookup.TextFileInitializer(
        vocabulary_file,
        tf.int64,
        key_column_index,
        tf.string,
        value_column_index,
        vocab_size=vocab_size,
        delimiter=delimiter,
    )
    return HashTable(initializer, default_value, name)


def _index_table(
    initializer: Any,
    num_oov_buckets: int,
    default_value: int,
    dtype: tf.DType,
    name: Optional[str],
) -> Table:
    if num_oov_buckets < 0:
        raise ValueError("num_oov_buckets must not be negative")
    if num_oov_buckets:
        return VocabularyTable(initializer, num_oov_buckets, lookup_key_dtype=dtype, name=name)
    return HashTable(initializer, default_value, name)
