"""Loops over GPUs that train nothing; devices that setters tell; inputs by a tower's number."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import changed, run, said

TOWERS = Path(__file__).parents[4] / "fixtures" / "towers"
EVALUATED = (TOWERS / "evaluated_on_all" / "before.py").read_text()
SETTER = (TOWERS / "placed_by_setter" / "before.py").read_text()
NUMBERED = (TOWERS / "numbered_inputs" / "before.py").read_text()
NOISE = (TOWERS / "noise_on_average" / "before.py").read_text()
NAMED = "            output = network(image_parts[i])\n            logits.append(output)\n"
TOLD = NOISE[NOISE.index("    noisy = []") : NOISE.index("    train_op =")]


def stays(text: str) -> str:
    result = run(("train.py", text), bridge=True, native_sessions=True)
    assert "native" not in [one.state for one in result.programs], said(result)
    return "\n".join(one for one in said(result) if "stays, on the bridge" in one)


def test_replicas_that_only_compute_have_their_variables_before() -> None:
    text = native(EVALUATED)
    assert "forward(tf.ones([1, 6]))  # makes the variables of its layers" in text
    assert text.index("forward(tf.ones") < text.index("def split_")


@pytest.mark.parametrize(
    "lines",
    [
        "            logits.append(network(image_parts[i]))\n",
        "            logits.append(tf.nn.log_softmax(network(image_parts[i])))\n",
    ],
)
def test_what_fills_a_list_gets_a_name(lines: str) -> None:
    text = changed(EVALUATED, (NAMED, lines))
    start = text.index("            losses.append")
    end = text.index("    logits = tf.concat")
    short = text[:start] + text[end:]
    short = changed(
        short,
        (
            "    mean_loss = tf.reduce_mean(losses)\n    total = tf.add_n(right)\n",
            "    mean_loss = tf.reduce_mean(logits)\n    total = tf.size(logits)\n",
        ),
    )
    short = changed(short, ("logits, losses, right = [], [], []", "logits = []"))
    assert "strategy.experimental_local_results(logit)" in native(short)


def test_an_evaluation_whose_towers_differ_stays_and_is_told() -> None:
    text = changed(EVALUATED, ("network(image_parts[i])", "network(image_parts[i]) * (i + 1)"))
    assert "`i` differs from tower to tower" in stays(text)


def test_several_networks_on_several_gpus_share_nothing() -> None:
    text = EVALUATED.replace(", reuse=tf.AUTO_REUSE", "").replace(
        'tf.device("/gpu:%d" % i):', 'tf.device("/gpu:%d" % i), tf.variable_scope("n%d" % i):'
    )
    result = run(("train.py", text), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("ps_tasks=1, ps_device=", "1, ps_device="),
        ("tf.device(device_setter)", "tf.device(worker)"),
        (", worker_device=worker", ', worker_device="/gpu:%d" % i'),
    ],
)
def test_forms_of_setters(old: str, new: str) -> None:
    text = changed(SETTER, (old, new))
    if "device(worker)" in new:
        start = text.index("        # one machine")
        text = text[:start] + text[text.index("        with tf.device(worker)") :]
    assert '["/gpu:%d" % i for i in range(args.num_gpus)]' in " ".join(native(text).split())


def test_a_setter_of_a_cluster_is_no_tower() -> None:
    text = changed(SETTER, ("ps_tasks=1, ", 'cluster={"ps": ["a:1"], "worker": ["b:2"]}, '))
    assert stays(text)


def test_a_setter_that_is_used_twice_stays() -> None:
    text = changed(SETTER, ("with tf.device(device_setter)", "print(device_setter)\n"
                            "        with tf.device(device_setter)"))  # fmt: skip
    assert stays(text)


def test_each_towers_number_goes_with_its_iterator() -> None:
    made = "iterators = [iter(tower_input(i, args.num_gpus)) for i in range(args.num_gpus)]"
    assert made in native(NUMBERED)


@pytest.mark.parametrize(
    "norm",
    [
        "    norm = tf.global_norm([g for g, _ in grads])\n",
        "    gs, vs = zip(*grads)\n    norm = tf.global_norm(gs)\n    grads = zip(gs, vs)\n",
        "    gs, vs = zip(*grads)\n    norm = tf.global_norm(gs)\n"
        "    gs, _ = tf.clip_by_global_norm(gs, 0.5, use_norm=norm)\n    grads = zip(gs, vs)\n",
    ],
)
def test_norms_of_the_average(norm: str) -> None:
    text = changed(NOISE, (TOLD, norm), ("gradients(limited)", "gradients(grads)"))
    text = changed(text, ("[train_op, mean_loss]", "[train_op, mean_loss, norm]"))
    text = changed(text, ("_, value = sess", "_, value, length = sess"))
    assert "norm = tf.linalg.global_norm(gradients)" in native(text)


def test_another_norm_to_clip_by_stays() -> None:
    norm = "    gs, vs = zip(*grads)\n    norm = tf.constant(2.0)\n"
    norm += "    gs, _ = tf.clip_by_global_norm(gs, 0.5, use_norm=norm)\n    grads = zip(gs, vs)\n"
    text = changed(NOISE, (TOLD, norm), ("gradients(limited)", "gradients(grads)"))
    assert "with a norm that is not that of its gradients" in stays(text)


def test_a_replicas_function_has_another_name_than_what_its_step_gives() -> None:
    text = changed(
        EVALUATED,
        ("            losses.append(tf.losses", "            loss = tf.identity(output)\n"
         "            losses.append(tf.losses"),
        ("    mean_loss = tf.reduce_mean(losses)", "    loss = tf.reduce_mean(losses)"),
        ("[mean_loss, total]", "[loss, total]"),
    )  # fmt: skip
    for line in native(text).splitlines():
        if "strategy.run(" in line and "=" in line.partition("strategy.run(")[0]:
            names = line.partition("=")[0].replace(" ", "").split(",")
            called = line.partition("strategy.run(")[2].partition(",")[0].strip()
            assert called not in names
