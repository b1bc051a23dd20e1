"""Averages, losses and lists that stand beside the loop over devices, or in its object."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import changed, run, said

TOWERS = Path(__file__).parents[4] / "fixtures" / "towers"
BESIDE = (TOWERS / "averages_in_script" / "before.py").read_text()
TRAINER = (TOWERS / "trainer_losses" / "before.py").read_text()
SLIM = (TOWERS / "slim_losses" / "before.py").read_text()
ROWS = (TOWERS / "embedded_rows" / "before.py").read_text()
SLICES = (TOWERS / "epochs_of_slices" / "before.py").read_text()
MEAN = """\
    mean_grads = []
    for pair in zip(*grads):
        total = tf.add_n([p[0] for p in pair])
        mean_grads.append((total / len(gpus), pair[0][1]))
"""
AT_ONCE = "(tf.add_n([p[0] for p in pair]) / len(gpus), pair[0][1])"


def stays(*files: str | tuple[str, str]) -> str:
    result = run(*files, bridge=True, native_sessions=True)
    assert "native" not in [one.state for one in result.programs], said(result)
    return "\n".join(one for one in said(result) if "stays, on the bridge" in one)


def test_a_comprehension_averages_as_a_loop_does() -> None:
    listed = f"    mean_grads = [{AT_ONCE} for pair in zip(*grads)]\n"
    assert "zip(*" not in native(changed(BESIDE, (MEAN, listed)))


def test_what_averages_is_gone_where_it_counts_with_a_name_of_its_function() -> None:
    counted = MEAN.replace("len(gpus)", "count").replace(
        "    mean", "    count = len(gpus)\n    mean", 1
    )
    assert "zip(*" not in native(changed(BESIDE, (MEAN, counted)))


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        # what the loop leaves is read behind it
        (
            "    values, variables",
            "    print(len(pair))\n    values, variables",
            "`grads`, a part of the graph, is used outside of",
        ),
        # half of what the towers found
        (
            "total / len(gpus)",
            "total / 2 / len(gpus)",
            "what happens to the gradients of all towers",
        ),
        # one of the towers alone
        ("tf.add_n([p[0] for p in pair])", "pair[0][0]", "what happens to the gradients of all"),
    ],
)
def test_other_means_stay(old: str, new: str, why: str) -> None:
    assert why in stays(changed(BESIDE, (old, new)))


FED = changed(
    TRAINER,
    ("        iterator = input_fn()\n        x, y = iterator.get_next()\n",
     "        self.x = x = tf.placeholder(tf.float32, [8, 4])\n"
     "        self.y = y = tf.placeholder(tf.float32, [8, 1])\n"),
    ("self.loss, self.global_step])",
     "self.loss, self.global_step],\n"
     "                    {self.x: np.ones([8, 4]), self.y: np.ones([8, 1])})"),
)  # fmt: skip


def test_a_list_of_tensors_that_another_method_reads_stays() -> None:
    reads = "    def train(self):\n        print(len(self.losses))\n"
    why = stays(changed(FED, ("    def train(self):\n", reads)))
    assert "`self`, which has parts of the graph, is used in another way" in why


def test_a_list_that_others_add_to_stays() -> None:
    adds = "    def train(self):\n        self.losses.append(0.0)\n"
    why = stays(changed(FED, ("    def train(self):\n", adds)))
    assert "`self.losses.append(loss)`, in the loop over the devices" in why


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        # another loss of the graph, which has no tower's scope
        (
            "    opt = tf.train",
            "    tf.losses.add_loss(tf.constant(1.0))\n    opt = tf.train",
            "`tf.losses.sparse_softmax_cross_entropy(y, logits)`, in the loop",
        ),
        # a collection of one's own
        ("(y, logits)", "(y, logits, loss_collection=None)", "in the loop over the devices"),
        # what each tower makes of the decay is not all of it
        (
            "REGULARIZATION_LOSSES)",
            "REGULARIZATION_LOSSES, scope)",
            "`tf.get_collection` is not among",
        ),
    ],
)
def test_losses_that_others_collect_stay(old: str, new: str, why: str) -> None:
    assert why in stays(changed(SLIM, (old, new)))


def test_gradients_of_rows_that_each_tower_clips_stay() -> None:
    """TF1 clips the rows before it adds them up."""
    clips = "[(tf.clip_by_norm(g, 0.1), v) for g, v in opt.compute_gradients(loss)]"
    text = changed(ROWS, ("opt.compute_gradients(loss)", clips))
    assert "a gradient that may be one of some rows of a table is clipped" in stays(text)


def test_gradients_of_rows_are_added_up_before_they_are_clipped() -> None:
    after = native(ROWS)
    added = after.index("tf.convert_to_tensor(value) for value in gradients")
    assert added < after.index("all_reduce(") < after.index("clip_by_global_norm(")


def test_a_scope_without_a_name_is_that_of_the_graph_alone() -> None:
    blank = "tf.variable_scope('', reuse=reuse)"
    inner = changed(SLICES, (blank, f"tf.variable_scope('a'), {blank}"))
    assert "in the loop over the devices, is not part of a tower" in stays(inner)


def test_a_setting_that_is_changed_is_none_of_all_towers() -> None:
    """It may be another one in the next tower."""
    line = "                n = args.batch // num_gpus\n"
    text = changed(SLICES, (line, f"{line}                args.batch = 4\n"))
    assert "`n = args.batch // num_gpus`, in the loop over the devices" in stays(text)


GAN = (TOWERS / "clipped_gan" / "before.py").read_text()
LIMITS = "[v.assign(tf.clip_by_value(v, -0.1, 0.1)) for v in d_vars]"


def test_weights_that_another_network_gives_beside_towers_stay() -> None:
    copies = "[v.assign(w) for v, w in zip(d_vars[:2], d_vars[2:])]"
    assert "for v in d_vars:\n        v.assign(" in native(GAN)
    assert "variables are copied beside the towers" in stays(changed(GAN, (LIMITS, copies)))
