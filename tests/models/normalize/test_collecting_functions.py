"""Functions within a builder that put variables into collections, and methods that train alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import changed, run, said

FIXTURES = Path(__file__).parents[3] / "fixtures" / "session"
PROGRAM = FIXTURES.joinpath("collecting_layers/before.py").read_text()
ALONE = FIXTURES.joinpath("method_trains/before.py").read_text()
CALL = "            self.q = layers(self.s, names, width, w_initializer, b_initializer)\n"


@pytest.mark.parametrize(
    ("pairs", "reason"),
    [
        # it is called in a loop, or in an expression, or is a value
        ([(CALL, "            for _ in [0]:\n    " + CALL)], "used outside of `Session.run`"),
        ([(CALL, CALL.replace("= layers", "= 1.0 * layers"))], "w_initializer"),
        ([(CALL, CALL + "            print(layers)\n")], "w_initializer"),
        # what it gives the object is read elsewhere
        ([("    def learn(", "    def shown(self):\n        return self.hidden\n\n    def learn("),
          ("    agent = Agent(3, 4)\n", "    agent = Agent(3, 4)\n    print(agent.shown())\n")],
         "`self`, which has parts of the graph"),
    ],
)  # fmt: skip
def test_what_stays(pairs: list[tuple[str, str]], reason: str) -> None:
    result = run(changed(PROGRAM, *pairs), native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any(reason in one for one in said(result)), said(result)


def test_a_check_of_the_version_goes_with_the_switch() -> None:
    result = run(ALONE, native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    assert "__version__" not in str(result.files[0].after)
    other = ('if tf.__version__.startswith("2"):', "if len(np.ones([2])) == 2:")
    after = str(run(changed(ALONE, other), native_sessions=True, bridge=True).files[0].after)
    assert "if len(np.ones([2])) == 2:\n    pass\n" in after


@pytest.mark.parametrize(
    ("pairs", "reason"),
    [
        # the function that it is given is not known, or TF2 has it not by that name
        ([("activation=tf.nn.relu, epochs=4", "activation=[tf.nn.relu][0], epochs=4")],
         "is not supported in"),
        ([("activation=tf.nn.relu, epochs=4", "**{'epochs': 4}")], "is not supported in"),
        ([("activation=tf.nn.relu, epochs=4", "activation=tf.nn.crelu, epochs=4")],
         "is not supported in"),
        # the method may run again
        ([("    losses = tagger.fit(", "    tagger.fit(x, y)\n    losses = tagger.fit(")],
         "a method makes its session"),
        # others have what it gives the object
        ([("        return losses\n\n", "        return losses\n\n    def weights(self):\n"
           "        return self.w\n\n")], "stored in something other than a variable"),
        # another name of the import is read
        ([("    tagger = Tagger(6)", "    print(GRUCell)\n    tagger = Tagger(6)")], "GRUCell"),
        # a setting changes behind the constructor
        ([("        self.f = activation\n", "        self.f = activation\n"
           "        self.units = self.units + 0\n")], "`self.units` changes"),
    ],
)  # fmt: skip
def test_methods_that_stay(pairs: list[tuple[str, str]], reason: str) -> None:
    result = run(changed(ALONE, *pairs), native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any(reason in one for one in said(result)), said(result)
