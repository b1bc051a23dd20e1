"""What is told of an Estimator that stays although it could be restated."""

from __future__ import annotations

import json

import pytest

from migrate_mgpu.models.normalize.estimators import closures, passes
from migrate_mgpu.models.normalize.estimators.passes import Pass
from migrate_mgpu.run.migrate import migrate
from tests.models.normalize.restated import END, HEAD, TAIL
from tests.support.migration import migrated, run

MADE = f"""\
def make_model_fn(hidden):
    # Above.

    def model_fn(features, labels, mode):
        net = tf.layers.dense(features, hidden)
        logits = tf.layers.dense(net, 3)
BODY{"".join(f"    {line}" + chr(10) for line in END.format(rate=0.1).splitlines())}
    return model_fn


estimator = tf.estimator.Estimator(make_model_fn(16))
"""


def told(text: str) -> list[tuple[int, str]]:
    # Not `support.run`, which fails for the mistake of ours that is made here.
    result = migrate([("program.py", text.encode())], bridge=False, write=False)
    assert result.files[0].after in (None, text)
    found = [(finding.line, finding.message) for finding in result.findings]
    return [one for one in found if "stays" in one[1]]


def test_what_is_in_the_way_of_the_restated_one_is_named_where_it_stands() -> None:
    text = HEAD + MADE.replace("BODY", "        show(logits)\n") + TAIL
    ((line, message),) = told(text)
    assert text.splitlines()[line - 1].strip() == "show(logits)"
    assert "belongs to none of network" in message


def test_what_no_form_overcomes_is_named_itself() -> None:
    text = HEAD + MADE.replace("BODY", "").replace("    # Above.", "    print(hidden)") + TAIL
    ((_, message),) = told(text)
    assert "make_model_fn" in message


def test_a_mistake_of_ours_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise KeyError("form")

    monkeypatch.setattr(passes, "PASSES", (Pass(broken),))
    text = HEAD + MADE.replace("BODY", "") + TAIL
    ((_, message),) = told(text)
    assert "internal error, please report it: KeyError: 'form'" in message
    monkeypatch.setattr(passes, "PASSES", (Pass(broken), Pass(closures.normalize)))
    after, _ = migrated(text)
    assert "model.compile(" in after  # another form helps all the same


def test_what_is_in_the_way_in_a_notebook_is_named_with_its_cell() -> None:
    code = [HEAD, "# Above.\n" + MADE.replace("BODY", "        show(logits)\n"), TAIL]
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": c} for c in code]
    text = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    for bridge in (False, True):
        result = run(("n.ipynb", text), bridge=bridge)
        (found,) = [f for f in result.findings if "stays" in f.message]
        assert code[1].splitlines()[found.line - 1].strip() == "show(logits)"
        assert found.cell == 2
        assert found.state == ("kept" if bridge else "refused")
