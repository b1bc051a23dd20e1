"""TensorFlow's own Estimators, and those made of Keras models, become Keras models.

## What it does
``tf.keras.estimator.model_to_estimator(model)`` goes: the Keras model itself is made under the
strategy's scope and trained. Where the strategy is made below the model, the model's
statements move down to it. Keras of 1.15 is put in today's words: ``lr=`` and ``decay=`` of
optimizers, ``InputLayer``, the metric that an evaluation calls ``acc``.

## Why
TF 2.16 and later have no Estimators, and their ``tensorflow_estimator`` does not import.

## Safety
Losses, weights and metrics are equal to 1.15.5's on 1, 2 and 4 devices
(``fixtures/estimator/keras_*``). What was not compared keeps its program: layers,
optimizers, losses and metrics outside of the tables (RMSprop adds its epsilon elsewhere,
recurrent layers have other defaults, batch normalization and regularizers act otherwise
under several replicas), Lambda layers, layers of the program's own, several outputs,
predictions. 1.15 compares labels of shape ``[n]`` with outputs of shape ``[n, 1]`` each with
each (a defect); Keras pairs them, and a finding says so.

## References
``tf.keras.estimator.model_to_estimator``, ``tf.keras.Model``
"""

from __future__ import annotations

from migrate_mgpu.engine.rules import Case, Rule

RULE = Rule(
    code="MGPU409",
    name="canned-estimators",
    summary="`model_to_estimator` and TensorFlow's own Estimators become Keras models",
)

_INPUT = """\
import tensorflow as tf


def input_fn():
    data = tf.data.Dataset.from_tensor_slices(([[1.0], [2.0]], [0, 1]))
    return data.repeat().batch(2)


"""

CASES = (
    Case(
        "a Keras model under a strategy",
        _INPUT
        + """\
model = tf.keras.Sequential([
    tf.keras.layers.Dense(8, activation='relu', input_shape=(1,)),
    tf.keras.layers.Dense(2, activation='softmax'),
])
model.compile(
    loss='sparse_categorical_crossentropy',
    optimizer=tf.keras.optimizers.Adam(lr=0.01),
    metrics=['accuracy'])

strategy = tf.distribute.MirroredStrategy()
config = tf.estimator.RunConfig(train_distribute=strategy)
estimator = tf.keras.estimator.model_to_estimator(model, config=config)
estimator.train(input_fn, steps=100)
print(estimator.evaluate(input_fn, steps=10)['acc'])
""",
        _INPUT
        + """\
strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = tf.keras.Sequential([
        tf.keras.layers.Dense(8, activation='relu', input_shape=(1,)),
        tf.keras.layers.Dense(2, activation='softmax'),
    ])
    model.compile(
        loss='sparse_categorical_crossentropy',
        optimizer=tf.keras.optimizers.Adam(learning_rate=0.01),
        metrics=['acc'])
model.fit(
    strategy.distribute_datasets_from_function(lambda context: input_fn()),
    steps_per_epoch=100,
    verbose=0,
)
print(model.evaluate(input_fn(), steps=10, return_dict=True, verbose=0)['acc'])
""",
    ),
    Case(
        "a model that a function makes an Estimator",
        _INPUT
        + """\
def make_estimator(units):
    model = tf.keras.Sequential()
    model.add(tf.keras.layers.Dense(units, input_shape=(1,)))
    model.add(tf.keras.layers.Dense(2, activation='softmax'))
    model.compile(
        loss='sparse_categorical_crossentropy',
        optimizer=tf.train.AdamOptimizer(0.01))
    return tf.keras.estimator.model_to_estimator(keras_model=model)


estimator = make_estimator(8)
estimator.train(input_fn, steps=100)
""",
        _INPUT
        + """\
def make_estimator(units):
    model = tf.keras.Sequential()
    model.add(tf.keras.layers.Dense(units, input_shape=(1,)))
    model.add(tf.keras.layers.Dense(2, activation='softmax'))
    model.compile(
        loss='sparse_categorical_crossentropy',
        optimizer=tf.keras.optimizers.Adam(0.01, epsilon=1e-8))
    return model


estimator = make_estimator(8)
estimator.fit(input_fn(), steps_per_epoch=100, verbose=0)
""",
    ),
    Case(
        "an optimizer with another epsilon",
        _INPUT
        + """\
model = tf.keras.Sequential([tf.keras.layers.Dense(2, activation='softmax', input_shape=(1,))])
model.compile(loss='sparse_categorical_crossentropy', optimizer='rmsprop')
estimator = tf.keras.estimator.model_to_estimator(model)
estimator.train(input_fn, steps=100)
""",
        refused="adds epsilon to the root",
    ),
    Case(
        "a layer with other defaults",
        _INPUT
        + """\
model = tf.keras.Sequential()
model.add(tf.keras.layers.Reshape((1, 1), input_shape=(1,)))
model.add(tf.keras.layers.LSTM(8))
model.add(tf.keras.layers.Dense(2, activation='softmax'))
model.compile(loss='sparse_categorical_crossentropy', optimizer='adam')
estimator = tf.keras.estimator.model_to_estimator(model)
estimator.train(input_fn, steps=100)
""",
        refused="`tf.keras.layers.LSTM` in a Keras model",
    ),
    Case(
        "a function between the layers",
        _INPUT
        + """\
inputs = tf.keras.Input(shape=(1,))
hidden = tf.square(tf.keras.layers.Dense(4)(inputs))
outputs = tf.keras.layers.Dense(2, activation='softmax')(hidden)
model = tf.keras.Model(inputs, outputs)
model.compile(loss='sparse_categorical_crossentropy', optimizer='adam')
estimator = tf.keras.estimator.model_to_estimator(model)
estimator.train(input_fn, steps=100)
""",
        refused="`tf.square` in a Keras model",
    ),
    Case(
        "a model that is trained by hand as well",
        _INPUT
        + """\
model = tf.keras.Sequential([tf.keras.layers.Dense(2, activation='softmax', input_shape=(1,))])
model.compile(loss='sparse_categorical_crossentropy', optimizer='adam')
model.fit(input_fn(), steps_per_epoch=5)
estimator = tf.keras.estimator.model_to_estimator(model)
estimator.train(input_fn, steps=100)
""",
        refused="what else is done here with the Keras model",
    ),
)
