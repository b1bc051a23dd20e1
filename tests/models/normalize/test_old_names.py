"""Names that TensorFlow had before 1.0, names of its own that a program gives it, and errors that
are raised again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import changed, run, said

FIXTURE = Path(__file__).parents[3] / "fixtures" / "session" / "older_names" / "before"
LAYERS = FIXTURE.joinpath("layers.py").read_text()
MAIN = FIXTURE.joinpath("main.py").read_text()


def states(layers: str, main: str = MAIN) -> tuple[list[str], list[str], str]:
    """What becomes of the program, what is said of it, and its text."""
    result = run(("main.py", main), ("layers.py", layers), native_sessions=True, bridge=True)
    text = "".join(str(file.after) for file in result.files)
    return [one.state for one in result.programs], said(result), text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("except AttributeError:\n    scalar", "except:\n    scalar"),
        ("except AttributeError:\n    scalar", "except (ImportError, AttributeError):\n    scalar"),
        ('if "concat_v2" in dir(tf):', 'if hasattr(tf, "concat_v2"):'),
        (
            "error.args = error.args + (hint,)\n            raise",
            "print(hint)\n            raise error",
        ),
    ],
)
def test_what_runs_in_the_last_release(old: str, new: str) -> None:
    found, told, text = states(changed(LAYERS, (old, new)))
    assert found == ["native"], told
    assert "concat_v2" not in text and "hint" not in text and "scalar_summary" not in text


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        # the error of a name that is not there is not caught: the program ends there in TF1, too
        (
            "except AttributeError:\n    scalar",
            "except ImportError:\n    scalar",
            "`merge_summary` is not supported in code that builds the graph",
        ),
        # 1.15 has this one: both arms may be meant
        (
            "tf.scalar_summary",
            "tf.summary.scalar",
            "`merge_summary` is not supported in code that builds the graph",
        ),
        # the handler does something about the error
        (
            "error.args = error.args + (hint,)\n            raise",
            "matrix = tf.zeros([known[1], width])",
            "`linear`",
        ),
        ("hint,)\n            raise", "hint,)\n            raise RuntimeError(hint)", "`linear`"),
    ],
)
def test_others_stay(old: str, new: str, why: str) -> None:
    found, told, _ = states(changed(LAYERS, (old, new)))
    assert found == ["bridge"], told
    assert any(why in one for one in told), told


def test_a_name_that_is_imported_by_name_stays() -> None:
    """Its importer would fail without it."""
    star = "from layers import *"
    found, told, text = states(LAYERS, changed(MAIN, (star, f"{star}\nfrom layers import join")))
    assert found == ["native"] and "def join(" in text, told  # in TF2 it is as good
    main = changed(MAIN, (star, f"{star}\nfrom layers import merge_summary"))
    found, told, _ = states(LAYERS, main)
    assert found == ["bridge"], told  # TF2 has another `tf.summary.merge`
    main = changed(MAIN, ("import tensorflow as tf\n", ""))  # it has `tf` by the star
    assert states(LAYERS, main)[0] == ["native"]


def test_a_name_of_what_tf2_has_stays() -> None:
    """Its owner gave it for the program's own sake."""
    kept = "DTYPE = tf.float32\nkeras = tf.keras\nrelu = tf.nn.relu\n"
    pairs = ("tf.nn.relu(", "relu("), ("tf.placeholder(tf.float32", "tf.placeholder(DTYPE")
    main = changed(MAIN, ("BATCH, HEIGHT, CODES", f"{kept}BATCH, HEIGHT, CODES"), *pairs)
    found, told, text = states(LAYERS, main)
    assert found == ["native"] and kept in text and "relu(self.linear(both))" in text, told


def test_a_function_that_changes_what_it_is_given_is_no_name() -> None:
    text = changed(LAYERS, ("return tf.concat(parts, axis,", "return tf.concat(parts, axis + 0,"))
    found, told, _ = states(text)
    assert found == ["bridge"] and any("given arguments by `*`" in one for one in told), told
