"""Searches of Tensor2Tensor's, what they ask for scores, and networks that begin with attention."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import File, after, changed, run, said

FIXTURES = Path(__file__).parents[4] / "fixtures" / "session"
SEARCHED = (FIXTURES / "rnn_searched" / "before.py").read_text("utf-8")
BEHIND = (FIXTURES / "searched_behind" / "before.py").read_text("utf-8")
FOUND = "self.found, self.likely, _ = "
OWN = "import tensorflow as tf\n\n\ndef beam_search(ask, *more, **told):\n    return ask(*more)\n"
STARTS = "the state that a recurrent network begins with cannot be analyzed"
READ = "a part of the graph, is read inside of a function"


def _kept(text: File, reason: str, *others: File) -> None:
    """The program stays on the bridge, and a finding says why."""
    result = run(text, *others, bridge=True, native_sessions=True)
    kept = [one.message for one in result.findings if one.state == "kept"]
    assert any(reason in one for one in kept), said(result)
    assert "def search_beams" not in after(result, text, *others)


def test_what_a_search_asks_is_a_lambda() -> None:
    result = run(SEARCHED, native_sessions=True)
    text = after(result, SEARCHED)
    assert "lambda ids: forward(tile_batch(x_tensor, BEAMS), ids, x_lengths, rows)[" in text
    assert "def call(self, x, y, x_lengths, rows):" in text
    assert "tensor2tensor" not in text.replace("Tensor2Tensor", "")


def test_another_release_gives_two_values() -> None:
    text = changed(SEARCHED, (FOUND, "self.found, self.likely = "))
    _kept(text, "which release of its library `beam_search.beam_search` is of")


@pytest.mark.parametrize("given", [", states={}", ", use_tpu=True"])
def test_a_search_that_is_told_more(given: str) -> None:
    text = changed(SEARCHED, (", eos_id=END)", f", eos_id=END{given})"))
    _kept(text, "`beam_search.beam_search` has arguments for which TF2 has nothing equal")


def test_a_network_that_normalizes_batches() -> None:
    old = "                    read += block(read, 1, self.size)\n"
    new = old.replace("block(read, 1, self.size)", "tf.layers.batch_normalization(read)")
    spaces = "    "
    _kept(changed(BEHIND, (spaces + old, spaces + new)), "asks a network that normalizes batches")


def test_a_search_with_states_by_their_place() -> None:
    text = changed(SEARCHED, ("0.6, eos_id=END)", "0.6, None, END)"))
    _kept(text, "`beam_search.beam_search` has arguments for which TF2 has nothing equal")


def test_a_module_of_the_program_by_that_name(tmp_path: Path) -> None:
    folder = tmp_path / "tensor2tensor" / "utils"
    folder.mkdir(parents=True)
    for name in (folder.parent, folder):
        (name / "__init__.py").write_text("", "utf-8")
    own, program = folder / "beam_search.py", tmp_path / "program.py"
    own.write_text(OWN, "utf-8")
    program.write_text(SEARCHED, "utf-8")
    text = "`beam_search.beam_search` is not supported in code that builds the graph"
    _kept((str(program), SEARCHED), text, (str(own), OWN))


def test_what_is_asked_elsewhere_as_well() -> None:
    last = "0.6, eos_id=END)\n"
    text = changed(SEARCHED, (last, f"{last}        self.first = scores(begin[:, None])\n"))
    _kept(text, READ)


def test_what_is_asked_decides_by_itself() -> None:
    old = "            logits = forward(x, ids, reuse=True)\n"
    new = old + "            if BEAMS > 9:\n                logits *= 2.0\n"
    _kept(changed(SEARCHED, (old, new)), "`forward`, which is called here, uses the graph")


def test_a_start_that_is_read_elsewhere() -> None:
    old = "                outputs, _ = tf.nn.dynamic_rnn("
    text = changed(SEARCHED, (old, f"                size = start.attention\n{old}"))
    _kept(text, STARTS)


def test_a_start_with_more_than_the_state_of_its_cell() -> None:
    text = changed(SEARCHED, ("(cell_state=last)", "(cell_state=last, attention=encoded[:, 0])"))
    _kept(text, STARTS)


def test_a_start_whose_structure_is_another() -> None:
    text = changed(SEARCHED, ("(cell_state=last)", "(cell_state=last[0])"))
    _kept(text, STARTS)


def test_parts_behind_the_object_are_the_constructors() -> None:
    text = after(run(BEHIND, native_sessions=True), BEHIND)
    assert "model.found" not in text
    assert "found, likely, __2 = search_beams(\n" in text


def test_two_objects_have_parts_of_their_own() -> None:
    text = changed(BEHIND, ("model.found =", "other = Reader(6, 2, 3, 0.05)\nmodel.found ="))
    result = run(text, bridge=True, native_sessions=True)
    assert "def search_beams" not in after(result, text)
    assert "native" not in {one.state for one in result.programs}


def test_what_a_search_reads_changes_behind_the_object() -> None:
    text = changed(BEHIND, ("for step in", 'words["<end>"] = 9\nfor step in'))
    _kept(text, "`words` changes here, and the graph was built with its earlier value")


def test_an_inner_scope_that_is_told_another_thing() -> None:
    text = changed(BEHIND, ('with tf.variable_scope("network", reuse=reuse)',
                            'with tf.variable_scope("network", reuse=True)'))  # fmt: skip
    _kept(text, "weights are shared by `reuse`")
