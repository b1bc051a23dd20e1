"""Embeddings of symbols, as ``tf.contrib.layers.embed_sequence`` of TensorFlow 1 has them."""

from typing import Any, Optional

import tensorflow.compat.v1 as tf


def embed_sequence(
    ids: Any,
    vocab_size: Optional[int] = None,
    embed_dim: Optional[int] = None,
    unique: bool = False,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    scope: Any = None,
    reuse: Any = None,
) -> tf.Tensor:
    """The rows of a variable ``embeddings`` for each of ``[batch, length]`` symbols."""
    if not (reuse or (vocab_size and embed_dim)):
        raise ValueError(
            "Must specify vocab size and embedding dimension when not reusing. "
            f"Got vocab_size={vocab_size} and embed_dim={embed_dim}"
        )
    with tf.variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
        known = not (reuse and vocab_size is None) and embed_dim is not None
        embeddings = tf.get_variable(
            "embeddings",
            [vocab_size, embed_dim] if known else None,
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
            collections=[tf.GraphKeys.GLOBAL_VARIABLES, tf.GraphKeys.MODEL_VARIABLES],
        )
        if not unique:
            return tf.nn.embedding_lookup(embeddings, ids)
        ids = tf.convert_to_tensor(ids)
        once, places = tf.unique(tf.reshape(ids, [-1]))
        rows = tf.gather(tf.nn.embedding_lookup(embeddings, once), places)
        found = tf.reshape(rows, tf.concat([tf.shape(ids), tf.shape(embeddings)[1:]], 0))
        found.set_shape(ids.shape.concatenate(embeddings.shape[1:]))
        return found
