"""Flags that a script reads without `tf.app.run`: it parses them itself, or stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

SESSIONS = Path(__file__).parents[4] / "fixtures" / "session"
SCRIPT = (SESSIONS / "flags_at_once" / "before.py").read_text()
MAIN = (SESSIONS / "flags_in_main" / "before.py").read_text()
LAST = 'flags.DEFINE_float("learning_rate"'


def test_flags_by_the_name_that_the_module_has() -> None:
    after = native(
        SCRIPT.replace("flags.", "f.").replace("flags =", "f =").replace("app.f.", "app.")
    )
    assert "from absl import flags as f\n" in after
    assert "f.FLAGS(sys.argv)\n" in after


def test_app_run_parses_them_where_it_is() -> None:
    after = native(MAIN.replace("    main()\n", "    tf.app.run()\n").replace("main()", "main(_)"))
    assert "sys.argv" not in after and "app.run(main)" in after


def test_flags_that_are_read_before_app_run_are_parsed_once_more() -> None:
    text = MAIN.replace("    main()\n", "    tf.app.run()\n").replace("main()", "main(_)")
    after = native(text.replace("\n\ndef main", "\nsteps = FLAGS.steps\n\n\ndef main"))
    assert 'learning rate")\nflags.FLAGS(sys.argv)\n' in after and "app.run(main)" in after


STAYS = {
    "read before the last one": SCRIPT.replace(LAST, f"print(flags.FLAGS)\nn = FLAGS.n\n{LAST}"),
    "defined in a condition": SCRIPT.replace(LAST, f"if len(__file__):\n    {LAST}"),
    "a function is called above": SCRIPT.replace(
        LAST, f"def read():\n    return flags.FLAGS.train_steps\n\n\nread()\n{LAST}"
    ),
    "imported, perhaps": MAIN[: MAIN.index("if __name__")],
}


@pytest.mark.parametrize("text", STAYS.values(), ids=STAYS)
def test_flags_that_stay(text: str) -> None:
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] != ["native"], said(result)


def test_flags_of_several_modules_stay() -> None:
    other = 'import tensorflow as tf\n\ntf.app.flags.DEFINE_integer("more", 1, "")\n'
    files = (
        ("main.py", SCRIPT.replace("import numpy", "import other\nimport numpy")),
        ("other.py", other),
    )
    result = run(*files, bridge=True, native_sessions=True)
    assert "native" not in [one.state for one in result.programs]


def early(above: str, below: str = "") -> tuple[tuple[str, str], ...]:
    """A program that reads flags of two modules before `tf.app.run`."""
    text = MAIN.replace("    main()\n", "    tf.app.run()\n").replace("main()", "main(_)")
    text = text.replace("\n\ndef main", f"\n{below}more = FLAGS.more\n\n\ndef main")
    other = 'import tensorflow as tf\n\ntf.app.flags.DEFINE_integer("more", 1, "")\n'
    return ("main.py", text.replace("import numpy", f"{above}import numpy")), ("other.py", other)


def test_flags_of_a_module_that_is_imported_above() -> None:
    result = run(*early("import other\n"), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    after = next(one.after for one in result.files if one.path.name == "main.py")
    assert after is not None and 'learning rate")\nflags.FLAGS(sys.argv)\n' in after


def test_flags_of_a_module_that_is_imported_below_stay() -> None:
    result = run(*early("", "import other\n"), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] != ["native"], said(result)


def test_another_packages_function_that_is_called_above_reads_none() -> None:
    above = "from sklearn.utils import check_random_state\nimport numpy"
    text = SCRIPT.replace("import numpy", above, 1).replace(
        LAST, f"rs = check_random_state(0)\n{LAST}"
    )
    assert "flags.FLAGS(sys.argv)\n" in native(text)


def test_a_function_of_the_run_that_is_called_above_may_read_them() -> None:
    other = "import tensorflow as tf\n\n\ndef read():\n    return tf.app.flags.FLAGS.train_steps\n"
    text = SCRIPT.replace("import numpy", "from other import read\nimport numpy", 1)
    files = ("main.py", text.replace(LAST, f"steps = read()\n{LAST}")), ("other.py", other)
    result = run(*files, bridge=True, native_sessions=True)
    assert "native" not in [one.state for one in result.programs], said(result)
