"""A search with beams in the form of Tensor2Tensor's 1.15.7, by numpy, a word at a time.

What it finds, and its scores, were compared with that library's own by 40 settings.
"""

import numpy as np
import tensorflow as tf

LOWEST = 1e7


def beam_search(
    symbols_to_logits_fn,
    initial_ids,
    beam_size,
    decode_length,
    vocab_size,
    alpha,
    states=None,
    eos_id=1,
    stop_early=True,
    use_tpu=False,
    use_top_k_with_unique=True,
):
    """The ids of the likeliest sequences, their scores, and no states."""
    assert not states and not use_tpu and use_top_k_with_unique

    def penalty(length):
        return np.float32(((5.0 + length) / 6.0) ** alpha)

    def grow(logits, limit, alive, likely, ended, scores):
        """One more word; ``ended`` and ``scores`` are of what has ended, 0 and lowest else."""
        step = alive.shape[2]
        likeliest = logits.reshape(alive.shape[0], beam_size, vocab_size)
        top = likeliest.max(-1, keepdims=True)
        likeliest = likeliest - top - np.log(np.exp(likeliest - top).sum(-1, keepdims=True))
        total = ((likeliest + likely[:, :, None]) / penalty(step)).reshape(len(alive), -1)
        new = [[], [], [], []]
        for row in range(len(alive)):
            order = np.argsort(-total[row], kind="stable")[: 2 * beam_size]
            grown = [np.append(alive[row][o // vocab_size], o % vocab_size) for o in order]
            last = np.array([one[-1] == eos_id for one in grown], np.float32)
            found = total[row][order]
            going = np.argsort(-(found - last * LOWEST), kind="stable")[:beam_size]
            new[0].append([grown[one] for one in going])
            new[1].append([found[one] * penalty(step) for one in going])
            known = [*[np.append(one, 0) for one in ended[row]], *grown]
            every = np.append(scores[row], (found - (1 - last) * np.float32(LOWEST)))
            kept = np.argsort(-every, kind="stable")[:beam_size]
            new[2].append([known[one] for one in kept])
            new[3].append([every[one] for one in kept])
        kinds = (np.int32, np.float32, np.int32, np.float32)
        return tuple(np.array(one, kind) for one, kind in zip(new, kinds))

    def goes_on(step, limit, likely, scores):
        known = scores.max(1) if stop_early else scores.min()
        bound = np.all(known > likely[:, 0] / penalty(limit))
        return np.array(step < limit and not bound)

    def body(step, *values):
        alive = values[0]
        flat = tf.reshape(alive, [tf.shape(alive)[0] * beam_size, -1])
        logits = symbols_to_logits_fn(flat)
        kinds = [tf.int32, tf.float32, tf.int32, tf.float32]
        new = tf.py_func(grow, [logits, limit, *values], kinds)
        for one, shape in zip(new, shapes):
            one.set_shape(shape)
        return (step + 1, *new)

    def more(step, alive, likely, ended, scores):
        asked = tf.py_func(goes_on, [step, limit, likely, scores], tf.bool)
        asked.set_shape([])
        return asked

    limit = tf.convert_to_tensor(decode_length)
    rows = tf.shape(initial_ids)[0]
    first = tf.tile(tf.constant([[0.0] + [-LOWEST] * (beam_size - 1)]), [rows, 1])
    alive = tf.tile(initial_ids[:, None, None], [1, beam_size, 1])
    begun = [alive, first, tf.zeros_like(alive), tf.fill([rows, beam_size], -LOWEST)]
    several, each = tf.TensorShape([None] * 3), tf.TensorShape([None, beam_size])
    shapes = [several, each, several, each]
    _, alive, likely, ended, scores = tf.while_loop(
        more, body, [tf.constant(0), *begun], [tf.TensorShape([]), *shapes], back_prop=False
    )
    any_ended = tf.reduce_any(scores > -LOWEST / 2, 1)
    return tf.where(any_ended, ended, alive), tf.where(any_ended, scores, likely), {}
