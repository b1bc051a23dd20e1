"""model_fns of classes: static ones, of objects that are called, inherited ones."""

from __future__ import annotations

import pytest

from tests.models.normalize.restated import END, indented, whole
from tests.support.migration import migrated, stays

BODY = "    logits = tf.layers.dense(features, 3)\n" + END.format(rate=0.1)
STATIC = f'''\
class Model(object):
    """A classifier."""

    # Of three classes.
    @staticmethod
{indented("def model_fn(features, labels, mode):" + chr(10) + BODY)}
    def name(self):
        return "model"


estimator = tf.estimator.Estimator(Model.model_fn)
print(Model().name())
'''
OBJECT = f"""\
class Model:
    def __init__(self, units):
        self.units = units

{indented("def __call__(self, features, labels, mode):" + chr(10) + BODY)}

model = Model(3)
estimator = tf.estimator.Estimator(model)
""".replace("features, 3)", "features, self.units)")
INHERITED = f"""\
class Base(object):
    def __init__(self, units):
        self.units = units

    def network(self, x):
        raise NotImplementedError

{indented("def model_fn(self, features, labels, mode):" + chr(10) + BODY)}

class Model(Base):
    def network(self, x):
        return tf.layers.dense(tf.nn.relu(x), self.units)


model = Model(3)
estimator = tf.estimator.Estimator(model.model_fn)
""".replace("tf.layers.dense(features, 3)", "self.network(features)")

NOT_FOLLOWED = "its model_fn is not a function that the run defines"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Estimator(Model.model_fn)", "Estimator(Model.model_fn)"),
        ("estimator = tf.estimator.Estimator(Model.", "m = Model()\nestimator = "
         "tf.estimator.Estimator(m."),
        ("Estimator(Model.model_fn)", "Estimator(model_fn=Model().model_fn)"),
    ],
)  # fmt: skip
def test_a_static_method_is_a_function(old: str, new: str) -> None:
    after, said = migrated(whole(STATIC.replace(old, new)))
    assert "# Of three classes.\ndef model_fn():\n" in after, said
    assert "estimator = model_fn()\n" in after
    kept = 'class Model(object):\n    """A classifier."""\n\n    def name(self):\n'
    assert kept in after


def test_a_class_method_that_does_not_ask_for_its_class() -> None:
    program = STATIC.replace("staticmethod", "classmethod")
    program = program.replace("model_fn(features", "model_fn(cls, features")
    after, said = migrated(whole(program))
    assert "estimator = model_fn()\n" in after, said
    stays(whole(program.replace("features, 3)", "features, cls.UNITS)")), NOT_FOLLOWED)


@pytest.mark.parametrize(
    "more",
    [
        "def model_fn():\n    pass\n\n\n",
        "class Other(Model):\n    pass\n\n\nother = tf.estimator.Estimator(Other.model_fn)\n",
    ],
)
def test_a_static_method_that_is_asked_for_elsewhere_stays(more: str) -> None:
    stays(whole(STATIC.replace("estimator = ", f"{more}estimator = ", 1)), NOT_FOLLOWED)


def test_a_static_method_that_is_called_stays() -> None:
    program = STATIC.replace("estimator = ", "print(Model.model_fn(1, 2, 3))\nestimator = ", 1)
    stays(whole(program), "model_fn is also called here, not only by its Estimator")


def test_an_object_that_is_called() -> None:
    after, said = migrated(whole(OBJECT))
    assert "def model_fn(units):\n" in after, said
    assert "model = Model(3)\nestimator = model_fn(units=model.units)\n" in after
    inline = OBJECT.replace("model = Model(3)\n", "").replace("(model)", "(Model(3))")
    after, said = migrated(whole(inline))
    assert "model = Model(3)\nestimator = model_fn(units=model.units)\n" in after, said


def test_a_method_of_an_object_that_is_made_in_place() -> None:
    program = OBJECT.replace("__call__", "build").replace("model = Model(3)\n", "")
    after, said = migrated(whole(program.replace("(model)", "(Model(3).build)")))
    assert "model = Model(3)\nestimator = build(units=model.units)\n" in after, said


@pytest.mark.parametrize(
    "more",
    [
        "print(model(1, 2, 3))\n",
        "models = [model]\n",
        "other = Model(4)\n",
    ],
)
def test_an_object_that_others_may_call_stays(more: str) -> None:
    stays(whole(OBJECT.replace("estimator = ", f"{more}estimator = ")), NOT_FOLLOWED)


def test_what_a_class_inherits() -> None:
    after, said = migrated(whole(INHERITED))
    assert "estimator = model_fn(units=model.units)\n" in after, said
    assert "        return self.dense(tf.nn.relu(x))\n" in after
    assert "class KerasModel(tf.keras.Model):\n" in after
    kept = "    def network(self, x):\n        raise NotImplementedError\n\n\nclass Model(Base):\n"
    assert f"{kept}    pass\n" in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("model = Model(3)", "class Other(Model):\n    pass\n\n\nmodel = Model(3)"),
        ("tf.nn.relu(x)", "super().network(x)"),
        ("model = Model(3)", "model = Model(3)\nmodel.units = 4"),
        ("(Base)", "(Base, object)"),
        ("model = Model(3)", "model = Model(3)\nprint(model.network)"),
    ],
)
def test_what_a_class_inherits_and_shares_stays(old: str, new: str) -> None:
    stays(whole(INHERITED.replace(old, new)), NOT_FOLLOWED)


SPEC = (
    "def model_fn(features, labels, mode):\n"
    + BODY.replace("return tf.estimator.EstimatorSpec(\n        mode, ", "spec = dict(")
    + "    return tf.estimator.EstimatorSpec(mode, **spec)\n\n\n"
    "estimator = tf.estimator.Estimator(model_fn)\n"
)


def test_the_arguments_of_a_spec_in_a_dictionary() -> None:
    after, said = migrated(whole(SPEC))
    assert "    model.compile(\n" in after, said
    assert "spec" not in after.partition("def model_fn")[2].partition("estimator")[0]
    stays(
        whole(SPEC.replace("    return", "    spec['loss'] = loss * 2\n    return")),
        "EstimatorSpec gets its arguments from `**`",
    )
    stays(
        whole(SPEC.replace("    return", "    loss = loss * 2\n    return")),
        "EstimatorSpec gets its arguments from `**`",
    )
