"""Names at which a text would end with a NameError: nothing binds them, or a later statement."""

from __future__ import annotations

import pytest

from migrate_mgpu.source.unbound_names import unbound


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("print(x)", {"x"}),
        ("def f():\n    return x", {"x"}),
        ("class A:\n    kind = tf.float32\n\nimport tensorflow as tf", {"tf"}),
        ("class A(B):\n    pass\n\nclass B:\n    pass", {"B"}),
        ("def f(x=size):\n    pass\n\nsize = 3", {"size"}),
        ("y = [n + z for n in range(3)]\nz = 1", {"z"}),
        ("if x:\n    pass\nx = 1", {"x"}),
        ("x += 1", set()),
        ("del x", set()),
    ],
)
def test_what_no_statement_above_binds(text: str, names: set[str]) -> None:
    assert unbound(text) == names


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    return tf.zeros(3)\n\nimport tensorflow as tf\nf()",
        "class A:\n    def f(self):\n        return B()\n\nclass B:\n    pass",
        "class A:\n    size = 3\n    both = size + 1",
        "for x in range(3):\n    y = x\nprint(x, y)",
        "with open(__file__) as f:\n    print(f.read())",
        "try:\n    import numpy as np\nexcept ImportError as error:\n    print(error)\nnp.ones(3)",
        "def f():\n    global x\n    x = 1\nf()\nprint(x)",
        "print([n for n in range(3)], {k: v for k, v in {}.items()}, (lambda a: a + b)(1))\nb = 2",
        "if (n := 3) > 2:\n    print(n)",
        "from parts import *\nprint(conv2d)",
        "print(",
        "def f(x):\n    def g():\n        return x\n    return g",
        "import os.path\nos.getcwd()",
        "while True:\n    x = 1\n    break\nelse:\n    pass\nprint(x)",
    ],
)
def test_what_may_be_bound_is_none(text: str) -> None:
    assert unbound(text) == frozenset()
