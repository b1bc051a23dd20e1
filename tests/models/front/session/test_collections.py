"""Collections that the author fills and reads, and functions that make a variable and fill one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

FIXTURES = Path(__file__).parents[4] / "fixtures"
PLAIN = (FIXTURES / "session" / "collected_losses" / "before.py").read_text()
TOWERS = (FIXTURES / "towers" / "collected_losses" / "before.py").read_text()
ADDED = "  tf.add_to_collection('losses', cross_entropy_mean)\n"
TOTAL = "  return tf.add_n(tf.get_collection('losses'), name='total_loss')\n"


def changed(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


def test_a_list_goes_through_the_functions() -> None:
    after = native(PLAIN)
    assert "    return softmax_linear, losses\n" in after
    assert "      loss = compute_loss(logits, labels, losses)\n" in after
    assert "collection" not in after and "_variable_" not in after.replace(
        ".trainable_variables", ""
    )


def test_a_tower_has_a_list_of_its_own() -> None:
    after = native(TOWERS)
    assert "    losses = compute_loss(logits, labels, losses)\n" in after
    assert "    total_loss = tf.add_n(losses, name='total_loss')\n" in after
    assert "collection" not in after


def test_decay_that_nothing_asks_for_is_not_made() -> None:
    after = native(changed(PLAIN, "wd=0.01", "wd=None"))
    assert after.count("l2_loss") == 1


def test_what_is_collected_first_comes_first() -> None:
    after = native(PLAIN)
    order = [after.index(part) for part in ("0.004", "0.01,", "[cross_entropy_mean]")]
    assert order == sorted(order)


STAYS = {
    "TF1's own functions fill it too": changed(
        PLAIN,
        ADDED,
        ADDED + "  tf.losses.mean_squared_error(logits, logits)\n",
    ),
    "it is filled in a loop": changed(PLAIN, ADDED, "  for _ in range(2):\n  " + ADDED),
    "it is filled perhaps": changed(PLAIN, ADDED, "  if labels is not None:\n  " + ADDED),
    "the function may end before": changed(
        PLAIN, ADDED, "  if NUM_CLASSES > 5:\n    return cross_entropy_mean\n" + ADDED
    ),
    "the network is built twice": changed(
        PLAIN, "    logits = inf", "    inference(images)\n    logits = inf"
    ),
    "whether there is decay is not known": changed(PLAIN, "wd=0.01", "wd=NUM_CLASSES"),
    "it is asked of the graph": changed(
        PLAIN, "tf.get_collection('losses')", "tf.get_default_graph().get_collection('losses')"
    ),
    "a reference to it is kept": changed(
        PLAIN, "tf.get_collection('losses')", "tf.get_collection_ref('losses')"
    ),
    "its name is computed": changed(PLAIN, "tf.get_collection('losses')", "tf.get_collection(KEY)"),
    "a variable of no scope is collected": changed(
        TOWERS, "    tf.add_to_collection('losses', weight_decay)\n",
        "    tf.add_to_collection('losses', var)\n",
    ),
    "all towers before are asked": changed(
        TOWERS, "tf.get_collection('losses', scope)", "tf.get_collection('losses')"
    ),
    "what all towers before have is used": changed(
        TOWERS, "  _ = compute_loss(logits, labels)\n", "  total = compute_loss(logits, labels)\n"
    ).replace("  return total_loss\n", "  return total_loss + total\n"),
    "a scope begins anew": changed(
        TOWERS, "tf.variable_scope('local3')", "tf.name_scope('all/'), tf.variable_scope('local3')"
    ),
    "a copy may change by itself": changed(
        PLAIN,
        TOTAL,
        "  losses = tf.get_collection('losses')\n" + ADDED + "  return tf.add_n(losses)\n",
    ),
    "another scope is asked": changed(
        TOWERS, "loss = tower_loss(scope, ", "loss = tower_loss('tower_0', "
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STAYS)
def test_what_is_not_followed_keeps_its_program(name: str) -> None:
    result = run(STAYS[name], bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], name
    assert "add_to_collection" in (result.files[0].after or ""), said(result)


def test_what_stands_in_the_way_behind_the_lists_is_told() -> None:
    text = changed(TOWERS, "'step %d, loss = %.5f' % (step", "'%d %.5f' % (sess.graph.version")
    told = " ".join(said(run(text, bridge=True, native_sessions=True)))
    assert "the session stays" in told
    assert "_variable_on_cpu" not in told and "scope of tf.variable_scope" not in told


def test_a_module_of_two_programs_stays_for_the_one_that_has_no_list() -> None:
    start = PLAIN.index("def train():")
    network = PLAIN[:start]
    head = "import numpy as np\nimport tensorflow as tf\nimport network\n\n\n"
    train = head + PLAIN[start:].replace("inference(", "network.inference(").replace(
        "compute_loss(", "network.compute_loss("
    ).replace("NUM_CLASSES", "network.NUM_CLASSES")
    files = ("train.py", train), ("network.py", network)
    assert [p.state for p in run(*files, native_sessions=True).programs] == ["native"]
    other = ("other.py", head + "print(network.inference(np.ones([2, 8, 8, 1])))\n")
    result = run(*files, other, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["native"]
    after = {file.path.name: str(file.after) for file in result.files}
    assert "network_tf2" in after["train.py"] and "class" in after["network_tf2.py"]
    assert "class" not in after.get("network.py", "")
