"""Variables and blank lines that are left over behind a config that moved."""

from __future__ import annotations

import pytest

from migrate_mgpu.engine.run import migrate

HEAD = "import tensorflow as tf\nfrom tensorflow.core.protobuf import rewriter_config_pb2 as rw\n"
ON = "on = rw.RewriterConfig.ON\n"
CONFIG = "config = tf.ConfigProto()\nconfig.graph_options.rewrite_options.remapping = on\n"
CALL = "tf.config.optimizer.set_experimental_options({'remapping': True})\n"
IMPORT = "from tensorflow.core.protobuf import rewriter_config_pb2 as rw\n"


def after(code: str) -> str:
    result = migrate([("case.py", code.encode())], bridge=True, write=False)
    assert result.sites["applied"] == 1
    text = result.files[0].after
    assert text is not None
    return text.partition("behavior()")[2].lstrip("\r\n")


@pytest.mark.parametrize(
    ("variable", "left"),
    [
        (ON, ""),
        (ON + "print(on)\n", IMPORT + ON + "print(on)\n"),
        (ON[:-1] + "  # why\n", IMPORT + ON[:-1] + "  # why\n"),
        ("if rw:\n    pass\n" + ON, IMPORT + "if rw:\n    pass\n"),
    ],
)
def test_a_variable_that_only_fed_the_config_goes(variable: str, left: str) -> None:
    tail = "sess = tf.Session(config=config)\n"
    assert after(HEAD + variable + CONFIG + tail) == left + CALL + "sess = tf.Session()\n"


def test_a_variable_of_an_imported_module_stays() -> None:
    files = {
        "main.py": "import tensorflow as tf\nimport options\nprint(options.on)\n"
        "sess = tf.Session(config=options.config())\n",
        "options.py": HEAD + ON + "\n\ndef config():\n    made = tf.ConfigProto()\n"
        "    made.graph_options.rewrite_options.remapping = on\n    return made\n",
    }
    contents = [(name, code.encode()) for name, code in files.items()]
    result = migrate(contents, bridge=True, write=False)
    assert result.sites["applied"] == 1
    (text,) = (file.after for file in result.files if file.path.name == "options.py")
    assert ON in (text or "")


@pytest.mark.parametrize(
    ("above", "below", "wanted"),
    [
        ("x = 1\n\n", "\ny = 2\n", "x = 1\n\ny = 2\n"),
        ("x = 1\n\n", "y = 2\n", "x = 1\n\ny = 2\n"),
        ("x = 1\n", "y = 2\n", "x = 1\ny = 2\n"),
        ("x = 1\n\n", "\n\ndef f():\n    pass\n", "x = 1\n\n\ndef f():\n    pass\n"),
        ("x = 1\r\n\r\n", "\r\ny = 2\r\n", "x = 1\r\n\r\ny = 2\r\n"),
    ],
)
def test_blank_lines_around_what_went_away(above: str, below: str, wanted: str) -> None:
    """A config of TF2's own defaults leaves nothing behind."""
    gone = "config = tf.ConfigProto(device_count={'CPU': 1})\n"
    if "\r" in above:
        gone = gone.replace("\n", "\r\n")
    code = f"import tensorflow as tf\n{above}{gone}{below}sess = tf.Session(config=config)\n"
    assert after(code) == wanted + "sess = tf.Session()\n"


def test_no_blank_line_opens_a_block() -> None:
    code = (
        "import tensorflow as tf\ndef main():\n    config = tf.ConfigProto()\n\n"
        "    with tf.Session(config=config) as sess:\n        pass\n"
    )
    assert after(code) == "def main():\n    with tf.Session() as sess:\n        pass\n"
