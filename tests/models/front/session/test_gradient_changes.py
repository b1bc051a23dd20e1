"""Gradients that are changed one by one before they are applied: noise, decay, chosen by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import changed, run, said

FIXTURES = Path(__file__).parents[4] / "fixtures"
NOISE = (FIXTURES / "towers" / "noise_on_average" / "before.py").read_text()
NAMES = (FIXTURES / "towers" / "gradients_by_name" / "before.py").read_text()
SESSION = (FIXTURES / "session" / "changed_gradients" / "before.py").read_text()
LOOP = NOISE[NOISE.index("    noisy = []") : NOISE.index("    limited =")]
FILTER = '    means = [(g, v) for g, v in means if "fc" in v.name]\n'


def stays(text: str) -> str:
    result = run(("train.py", text), bridge=True, native_sessions=True)
    assert "native" not in [one.state for one in result.programs], said(result)
    return "\n".join(one for one in said(result) if "stays, on the bridge" in one)


def noisy(code: str) -> str:
    return changed(NOISE, (LOOP, code))


def test_noise_is_drawn_once_for_all_replicas() -> None:
    text = native(NOISE)
    assert "noise = [tf.random.normal(tensor.shape, stddev=NOISE, seed=7)" in text
    assert "train_tower, args=(*split_batch(images, labels), noise)" in text
    assert text.index("all_reduce") < text.index("grad + n for grad, n in zip(gradients, noise)")


@pytest.mark.parametrize(
    "code",
    [
        "    noisy = [(g + tf.truncated_normal(tf.shape(g), stddev=0.1), v) for g, v in grads]\n",
        "    noisy = [(g + tf.random_uniform(v.shape, -1, 1) * 0.1, v) for g, v in grads\n"
        "             if g is not None]\n",
        "    for i, (g, v) in enumerate(grads):\n"
        "        if g is not None:\n"
        "            grads[i] = (g + tf.random_normal(g.get_shape(), stddev=0.1), v)\n"
        "    noisy = grads\n",
        "    gs, vs = zip(*grads)\n"
        "    gs = [g + tf.random_normal(g.get_shape(), stddev=0.1) for g in gs]\n"
        "    noisy = list(zip(gs, vs))\n",
    ],
)
def test_forms_of_noise(code: str) -> None:
    assert "in zip(gradients, noise)]" in native(noisy(code))


@pytest.mark.parametrize(
    ("code", "why"),
    [
        # the graph knows how much
        (
            "    scale = 0.1 * tf.reduce_mean(images)\n"
            "    noisy = [(g + tf.random_normal(g.shape, stddev=scale), v) for g, v in grads]\n",
            "what happens to the gradients is computed in the graph",
        ),
        # what a shape has that is not the gradient's
        (
            "    noisy = [(g + tf.random_normal([], stddev=0.1), v) for g, v in grads]\n",
            "what happens to the gradients here cannot be analyzed",
        ),
        # two of them
        (
            "    noisy = [(g * tf.random_normal(g.shape) + tf.random_normal(g.shape), v)\n"
            "             for g, v in grads]\n",
            "what happens to the gradients here cannot be analyzed",
        ),
        # another variable's
        (
            "    last = grads[-1]\n    noisy = [(g + last[0], v) for g, v in grads]\n",
            "`grads`",
        ),
        # nothing of it
        (
            "    noisy = [(tf.random_normal(v.get_shape()), v) for g, v in grads]\n",
            "what happens to the gradients here cannot be analyzed",
        ),
    ],
)
def test_other_noise_stays(code: str, why: str) -> None:
    assert why in stays(noisy(code))


def test_noise_of_each_tower_stays() -> None:
    text = changed(
        noisy("    noisy = grads\n"),
        (
            "            tower_grads.append(optimizer.compute_gradients(loss))",
            "            own = optimizer.compute_gradients(loss)\n"
            "            own = [(g + tf.random_normal(g.shape), v) for g, v in own]\n"
            "            tower_grads.append(own)",
        ),
    )
    assert "each tower's gradients are changed, or measured, before they are averaged" in stays(
        text
    )


def test_a_stream_that_two_steps_have_stays() -> None:
    again = 'print("step %d: loss %.5f" % (step, value))'
    text = changed(NOISE, (again, f"{again}\n            sess.run(train_op, feed_dict=feed)"))
    assert "is computed by several steps" in stays(text)


def test_a_loop_whose_names_are_read_behind_it_stays() -> None:
    text = changed(NOISE, ("    limited =", "    last = tf.reduce_mean(noise)\n    limited ="))
    assert stays(changed(text, ("[train_op, mean_loss]", "[train_op, mean_loss, last][:2]")))


def test_gradients_are_chosen_where_they_are_computed() -> None:
    text = native(NAMES)
    assert "variables = [*fc1.trainable_variables, *fc2.trainable_variables]" in text
    assert '2.0 * g if "bias" in v.name else g for g, v in zip(' in text


def test_a_loop_chooses_too() -> None:
    loop = '    chosen = []\n    for g, v in means:\n        if "fc" in v.name:\n'
    loop += "            chosen.append((g, v))\n"
    text = changed(NAMES, (FILTER, loop), ("for g, v in means:\n", "for g, v in chosen:\n"))
    # the first of the two is the new loop's
    text = text.replace("for g, v in chosen:", "for g, v in means:", 1)
    assert "[*fc1.trainable_variables, *fc2.trainable_variables]" in native(text)


def test_two_arms_of_a_loop() -> None:
    old = NAMES[NAMES.index("    for g, v in means:") : NAMES.index("    train_op =")]
    new = '    for g, v in means:\n        if "bias" in v.name:\n'
    new += "            scaled.append((2.0 * g, v))\n        else:\n"
    new += "            scaled.append((g, v))\n"
    assert '2.0 * g if "bias" in v.name else g' in native(changed(NAMES, (old, new))).replace(
        "(2.0 * g)", "2.0 * g"
    ).replace("else (g)", "else g")


def test_words_of_scopes_that_layers_do_not_have_in_keras_stay() -> None:
    text = changed(NAMES, ('"bias" in v.name', '"fc1" in v.name'))
    assert "`v.name` is something else in TF2" in stays(text)


def test_gradients_that_are_read_before_they_are_chosen_stay() -> None:
    text = changed(NAMES, (FILTER, f"    norm = tf.global_norm([g for g, _ in means])\n{FILTER}"))
    assert stays(changed(text, ("[train_op, loss]", "[train_op, loss, norm][:2]")))


def test_rows_of_a_table_are_not_changed() -> None:
    text = changed(
        SESSION,
        ("hidden = tf.layers.dense(x, 5", "ids = tf.cast(x[:, 0] > 0, tf.int32)\n"
         "table = tf.get_variable('table', [2, 3])\n"
         "hidden = tf.layers.dense(x + tf.nn.embedding_lookup(table, ids), 5"),
    )  # fmt: skip
    assert "is changed" in stays(text)


def test_a_value_that_is_fetched_twice_stays() -> None:
    text = changed(
        SESSION,
        ("value, _ = sess.run([loss, train_op]", "value, _, _ = sess.run([loss, train_op, loss]"),
    )
    assert "it fetches a value twice" in stays(text)
