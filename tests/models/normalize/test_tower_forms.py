"""Lists, sums, tables and scopes of towers in forms that the reader does not know."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import run, said

FOLDER = Path(__file__).parents[3] / "fixtures" / "towers"
FIXTURES = (
    "indexed_lists", "model_objects", "added_in_loop", "added_lists", "tables_of_variables",
    "slim_scopes", "evaluated_beside", "two_loops", "slim_normalized",
    "trainer_lists", "gradients_behind",
)  # fmt: skip


def state(text: str) -> tuple[str, list[str]]:
    result = run(("main.py", text), native_sessions=True)
    return result.programs[0].state, said(result)


def before(name: str) -> str:
    return (FOLDER / name / "before.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", FIXTURES)
def test_as_it_stands(name: str) -> None:
    found, told = state(before(name))
    assert found == "native", told


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        # Another item than the tower's own is set, or read in a tower; a list is longer.
        ("indexed_lists", "grads[i] = opt", "grads[-i] = opt"),
        ("indexed_lists", 'nets[i]["loss"])', 'nets[0]["loss"])'),
        ("indexed_lists", "[None] * n_gpus", "[None] * (n_gpus + 1)"),
        # What is read of the objects is not the same for all of them, or is set later.
        ("model_objects", "one.loss for one in models]", "one.loss for one in models if one]"),
        ("model_objects", "last = models[-1].loss", "last = [*models][-1].loss"),
        ("model_objects", "outputs = tf", "models[0].output = models[0].x\noutputs = tf"),
        (
            "model_objects",
            "models.append(model)",
            "models.append(model)\n        scale = 1.0 * len(models)",
        ),
        # Shares that are scaled by something else, or not all alike; a sum that is read in a tower.
        ("added_in_loop", "mean_grads[var] = grad / n_gpus", "mean_grads[var] = grad"),
        ("added_in_loop", "+= grad / n_gpus", "+= grad / 2"),
        ("added_in_loop", "loss = 0.0", "loss = 1.0"),
        ("added_lists", "loss = loss + part", "size = 4\n        loss = loss + size"),
        (
            "added_in_loop",
            "        loss += part / n_gpus\n",
            "        loss += part / n_gpus\n        part = loss * 1.0\n",
        ),
        ("added_in_loop", "if var in mean_grads:", "if var in mean_grads and n_gpus:"),
        ("added_in_loop", "[(grad, var) for", "[(2 * grad, var) for"),
        ("added_lists", "(before + grad, var)", "(before - grad, var)"),
        ("added_lists", "if grads is None:", "if grads is not None:"),
        ("added_lists", "zip(grads, tower_grads)", "zip(tower_grads, grads)"),
        (
            "added_lists",
            "grads = tower_grads\n",
            "grads = [(g / n_gpus, v) for g, v in tower_grads]\n",
        ),
        # A table that is changed, or asked for a key that is told elsewhere.
        (
            "tables_of_variables",
            "        size = 8",
            '        weights["out"] = None\n        size = 8',
        ),
        ("tables_of_variables", 'weights["out"]) + b', "weights[args.key]) + b"),
        # A scope that has a name, another function's layers, or one that is handed on.
        (
            "slim_scopes",
            "tf.nn.tanh,\n    ):",
            "tf.nn.tanh,\n    ) as scope:\n        print(scope)",
        ),
        (
            "slim_scopes",
            "[slim.fully_connected], activation_fn=tf.nn.relu",
            "scopes(), activation_fn=None",
        ),
        (
            "slim_scopes",
            "        hidden = slim.fully_connected(x, width,",
            "        hidden = slim.stack(x, slim.fully_connected, [3])\n"
            "        hidden = slim.fully_connected(x, width,",
        ),
        ("slim_scopes", "        activation_fn=tf.nn.tanh,\n", "        **settings\n"),
        (
            "slim_scopes",
            "        output = slim",
            "        hidden = [head][0](hidden, y)\n        output = slim",
        ),
        (
            "slim_scopes",
            "        output = slim",
            "        hidden = slim.relu(hidden, 3)\n        output = slim",
        ),
        (
            "slim_normalized",
            "net = slim.fully_connected(net, 5, activation_fn=None",
            "net = slim.linear(net, 5",
        ),
        (
            "slim_scopes",
            "        output = slim",
            "        hidden = tf.map_fn(head, hidden)\n        output = slim",
        ),
        # Something else stands between two loops, the second one reads the last tower's loss, or
        # builds of other towers.
        (
            "two_loops",
            "tower_grads = []\nfor",
            "tower_grads = []\nfirst = losses[0]\nfor",
        ),
        ("two_loops", "losses[i] + decay", "losses[-1] + decay"),
        ("two_loops", "losses[i] + decay", "losses[i - 1] + decay"),
        ("slim_normalized", 'scope="first")', 'scope="first", reuse=None)'),
        (
            "slim_normalized",
            "net = slim.flatten(net)",
            "batch_norm_params.pop('scale')\n        net = slim.flatten(net)",
        ),
        # Only some of the losses are differentiated, or something stands between.
        ("gradients_behind", "for one in losses]", "for one in losses[:1]]"),
        ("gradients_behind", "for one in losses]", "for one in losses if n_gpus]"),
        ("gradients_behind", "tower_grads = [", "more = tf.Variable(1.0)\ntower_grads = ["),
        # Another method reads a list of the object's.
        (
            "trainer_lists",
            "            print(",
            "            print(len(self._losses))\n            print(",
        ),
        # Another GPU than the first evaluates.
        ("evaluated_beside", 'tf.device("/gpu:0"):', 'tf.device("/gpu:1"):'),
    ],
)
def test_neighbours_stay(name: str, old: str, new: str) -> None:
    text = before(name)
    assert old in text
    found, told = state(text.replace(old, new))
    assert found != "native", told
