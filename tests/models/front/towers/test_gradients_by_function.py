"""A function that computes a tower's gradients, of a network that is shared by a flag."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import changed, run, said

FIXTURES = Path(__file__).parents[4] / "fixtures" / "towers"
PROGRAM = (FIXTURES / "gradients_by_function" / "before.py").read_text()
CALL = """\
                    loss, grads = compute_net_gradients(
                        image_splits[i], label_splits[i], shadownet, optimizer,
                        is_net_first_initialized=is_network_initialized)
"""
LOGITS = "        logits = self.inference(inputs=inputs, name=name, reuse=reuse)\n"


def native(text: str) -> str:
    result = run(text, native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    return str(result.files[0].after)


def stays(text: str, reason: str) -> None:
    result = run(text, native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any(reason in one for one in said(result)), said(result)


def test_it_is_written_where_the_tower_is() -> None:
    after = native(PROGRAM)
    assert "compute_net_gradients" not in after and "if optimizer" not in after
    assert "loss_of_tower = forward(" in after


@pytest.mark.parametrize(
    "edits",
    [
        [("name_or_scope=name", "name")],
        [("name_or_scope=name", "name_or_scope='shadow_net'")],
        [("optimizer is not None", "not optimizer is None")],  # both arms are read
    ],
)
def test_other_ways_to_say_it(edits: list[tuple[str, str]]) -> None:
    text = changed(PROGRAM, *edits)
    if "not optimizer" in text:
        stays(text, "in the loop over the devices, is not part of a tower")
    else:
        native(text)


def test_one_that_is_called_twice_stays() -> None:
    again = CALL.replace("loss, grads", "second, _")
    stays(changed(PROGRAM, (CALL, CALL + again)), "`optimizer.compute_gradients` is not supported")


def test_a_network_that_is_applied_twice_is_one() -> None:
    twice = LOGITS + LOGITS.replace("reuse=reuse", "reuse=True").replace("logits =", "logits +=")
    after = native(changed(PROGRAM, (LOGITS, twice)))
    assert after.count("shadow_net = Inference(") == 1
    assert after.count("= shadow_net(inputs)") == 2


def test_layers_beside_what_the_flag_is_for_stay() -> None:
    beside = LOGITS + "        logits = tf.layers.dense(logits, 3, name='beside')\n"
    stays(changed(PROGRAM, (LOGITS, beside)), "weights are shared by `reuse`")


def test_a_scope_that_counts_its_names_stays() -> None:
    counted = ("name_or_scope=name, reuse=reuse", "name_or_scope=None, default_name=name")
    text = changed(PROGRAM, counted)
    for one in ("inputs, name, reuse=False", "inputs, labels, name, reuse"):
        text = changed(text, (one, one.replace(", reuse=False", "").replace(", reuse", "")))
    text = changed(text, ("name=name, reuse=reuse)", "name=name)"))
    text = changed(
        text, ("'shadow_net',\n        reuse=is_net_first_initialized\n", "'shadow_net'\n")
    )
    stays(text, "each tower has its own variables")


def test_a_name_that_a_function_reads_as_well_stays() -> None:
    """It cannot be told which of the two it is."""
    shown = "    loss = tf.reduce_mean(tower_loss)\n"
    read = "    def shown():\n        return loss\n\n" + shown
    loop = "        for step in range(6):\n"
    text = changed(PROGRAM, (shown, read), (loop, "        print(shown())\n" + loop))
    stays(text, "`loss`")
