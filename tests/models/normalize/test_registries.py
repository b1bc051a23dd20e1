"""Networks in a dictionary, and networks of which an `if` chooses one."""

from __future__ import annotations

import pytest

from tests.models.normalize.restated import END, whole
from tests.support.migration import migrated, stays

NETS = f"""\
def small(x):
    return tf.layers.dense(x, 3)


def big(x):
    return tf.layers.dense(tf.layers.dense(x, 8), 3)


NETS = {{"small": small, "big": big}}


def model_fn(features, labels, mode, params):
    logits = NETS[params["net"]](features)
{END.format(rate=0.1)}

estimator = tf.estimator.Estimator(model_fn, params={{"net": "big"}})
"""
CALL = """\
    def call(self, features, training=False):
        if self.params["net"] == "small":
            logits = self.small(features)
        elif self.params["net"] == "big":
            logits = self.big(features)
        else:
            raise KeyError(self.params["net"])
        return logits
"""


@pytest.mark.parametrize(
    "chosen",
    [
        'logits = NETS[params["net"]](features)\n',
        'network = NETS[params["net"]]\n    logits = network(features)\n',
    ],
)
def test_one_of_a_dictionary(chosen: str) -> None:
    after, said = migrated(whole(NETS.replace('logits = NETS[params["net"]](features)\n', chosen)))
    assert CALL in after, said
    assert '        elif params["net"] == "big":\n            self.big = Big()\n' in after
    assert "NETS" not in after
    assert "loss=loss" in after  # what one `if` gives its value is the network's output


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("def model_fn", "print(sorted(NETS))\n\n\ndef model_fn"),
        ("def model_fn", 'NETS["more"] = small\n\n\ndef model_fn'),
        ('"big": big}', '"big": lambda x: big(x)}'),
        ('"big": big}', '"small": big}'),
        ("{", "dict(**{"),
        ('NETS[params["net"]]', 'NETS[params.pop("net")]'),
        ("    logits = NETS", "    NETS = {}\n    logits = NETS"),
        ("    logits = NETS[params", "    logits = NETS.get(params"),
    ],
)
def test_a_dictionary_that_is_used_for_more_stays(old: str, new: str) -> None:
    program = NETS.replace(old, new, 1)
    if "dict(" in new:
        program = program.replace("big}", "big})")
    if "get(" in new:
        program = program.replace('["net"]](', '["net"])(')
    reason = "`tf.layers.dense` is TF1 API, used outside of the Estimator"
    if "pop" in new:  # the dictionary of settings would be another one in the next call
        reason = "`params` changes where the network uses it"
    stays(whole(program), reason)


CHOSEN = NETS.replace('NETS = {"small": small, "big": big}\n\n\n', "")


def chosen(lines: str) -> str:
    body = "".join(f"    {line}\n" for line in lines.splitlines())
    after, said = migrated(
        whole(CHOSEN.replace('    logits = NETS[params["net"]](features)\n', body))
    )
    assert "(tf.keras.Model)" in after, said
    return after


def test_one_of_two() -> None:
    lines = 'if params["net"]:\n    logits = big(features)\nelse:\n    logits = small(features)'
    assert "def train_step" not in chosen(lines)


@pytest.mark.parametrize(
    "lines",
    [
        "net = features\nlogits = small(net)\nif params:\n    logits = big(features)",
        "if params:\n    net = big(features)\n    logits = small(net)\nelse:\n    net = features\n"
        "    logits = small(features)\nlogits = logits + 0.1 * tf.reduce_mean(net)",
    ],
)
def test_what_not_every_branch_gives_alone_is_read_step_by_step(lines: str) -> None:
    body = chosen(lines)
    assert "logits" in body
