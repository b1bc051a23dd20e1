"""Methods of an object that another one is given, or keeps: functions, where its class is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import changed, run, said

FIXTURES = Path(__file__).parents[3] / "fixtures" / "towers"
PROGRAM = (FIXTURES / "given_network" / "before.py").read_text()


def stays(text: str, reason: str) -> None:
    result = run(text, native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any(reason in one for one in said(result)), said(result)


@pytest.mark.parametrize(
    "edits",
    [
        [],
        [("    net = Net(8)\n", ""), ("Solver(net,", "Solver(Net(8),")],  # made where it is given
        [("        self.net = net\n", "        self.net = Net(8)\n"),  # or where it is kept
         ("    net = Net(8)\n", ""), ("Solver(net, ", "Solver("),
         ("self, net, dataset", "self, dataset")],
    ],
)  # fmt: skip
def test_methods_of_a_network_that_is_given(edits: list[tuple[str, str]]) -> None:
    result = run(changed(PROGRAM, *edits), native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["native"], said(result)


OTHER = "class DataSet(object):\n"
CLASS = """\
class Flat(object):

    def inference(self, x):
        return tf.layers.dense(x, 3, name='out')

    def loss(self, logits, labels):
        return tf.losses.sparse_softmax_cross_entropy(labels, logits)


"""


def test_one_of_two_classes_stays() -> None:
    text = changed(PROGRAM, (OTHER, CLASS + OTHER))
    chosen = ("    net = Net(8)\n", "    net = Net(8) if args.num_gpus > 1 else Flat()\n")
    stays(changed(text, chosen), "net.inference` is not supported in code that builds the graph")


def test_one_that_is_set_anew_stays() -> None:
    text = changed(PROGRAM, (OTHER, CLASS + OTHER))
    anew = (
        "    def construct_tower",
        "    def flatten(self):\n        self.net = Flat()\n\n    def construct_tower",
    )
    stays(changed(text, anew), "net.inference` is not supported in code that builds the graph")


def test_averages_of_a_method_that_reads_its_object_stay() -> None:
    read = ("tf.concat(grads, 0), 0)", "tf.concat(grads, 0), 0) * self.learning_rate")
    stays(changed(PROGRAM, read), "`zip` is given arguments by `*`")
