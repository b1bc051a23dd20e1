"""TensorFlow's own Estimators, and those made of Keras models, become Keras models.

## What it does
``DNNClassifier``, ``DNNRegressor``, ``LinearClassifier`` and ``LinearRegressor`` become a class
with the same network, loss, metrics and predictions. A list of plain number columns becomes the
list of their keys; other feature columns are written out in the class: numbers with a shape or a
``normalizer_fn``, buckets, and categories by vocabulary list, identity, hash or cross, as
indicators or embeddings (a linear model takes them bare, too).

``DNNLinearCombinedClassifier`` and ``DNNLinearCombinedRegressor`` become a model of two layers,
a dense and a linear one, with a ``train_step`` that gives each its own optimizer.
``DNNEstimator``, ``LinearEstimator`` and ``DNNLinearCombinedEstimator`` are converted with the
heads for classes and for one number (``tf.estimator.BinaryClassHead``,
``tf.contrib.estimator.multi_class_head`` and so on). A ``weight_column`` becomes the weights of
the model's steps, and its metrics are ``weighted_metrics``; a ``label_vocabulary`` becomes a
``StringLookup`` of the model. Columns may stand in lists, in loops over what is written out, and
in functions that make nothing else. All others stay as the program makes them, in functions,
dictionaries or loops over what it reads: ``tf.feature_column`` is in TF2, and a layer asks its
objects for their tensors (``FeatureColumns``, of a linear model ``WeightedColumns``). What makes
``shared_embedding_columns`` becomes a function of the program's own, for TF2's makes none in
eager code.

``tf.contrib.estimator.add_metrics(estimator, metric_fn)`` becomes metrics of the model, where the
function is given labels and predictions. ``export_savedmodel`` and exporters write the signature
``predict`` of TF1, with ``all_class_ids`` and ``all_classes``; Keras gives it the name
``serving_default`` as well.

``tf.keras.estimator.model_to_estimator(model)`` goes: the Keras model itself is made under the
strategy's scope and trained. Where the strategy is made below the model, the model's
statements move down to it. Keras of 1.15 is put in today's words: ``lr=`` and ``decay=`` of
optimizers, ``InputLayer``, the metric that an evaluation calls ``acc``.

## Why
TF 2.16 and later have no Estimators, and their ``tensorflow_estimator`` does not import.

## Safety
Losses, weights, metrics and predictions are equal to 1.15.5's on 1, 2 and 4 devices
(``fixtures/estimator/canned_*``, ``keras_*``). The loss is the sum of a batch, as 1.15 takes it;
the Estimators of TF2 by the same names took the mean: a finding says which was assumed, and in a
file that speaks TF2 (or says ``compat.v1`` elsewhere) a plain name stays. The optimizers by default
are Adagrad with 0.05 and Ftrl with 0.2, of a wide and deep model 0.001 and 0.005. A cross hashes by
``tf.sparse.cross_hashed``, into 1.15's own buckets. Categories out of range of an identity column
are all zeros, where 1.15 stopped. What is exported for one text for each example (serialized
examples, lines of a file) has TF1's other signatures as well, `regression` or `classification`,
whose input is `inputs`. Predictions have all of 1.15's names, but ``all_class_ids`` and
``all_classes`` where nothing is exported. Not converted: columns of other packages, sequences,
shared embeddings beside or in a linear part, columns that are not written out under a strategy,
``batch_norm`` under a strategy (1.15's moving averages are others there), partitioners, more than
one number to predict, texts under a strategy (Keras 3 gives none to several replicas), Ftrl under a
strategy (1.15 does not run it), optimizers that remember gradients (momentum, RMSProp) where TF1
updates the rows of a category that a batch uses and no others, BoostedTrees, heads of other kinds
or with thresholds, losses or names of their own.

Of Keras models, what was not compared keeps its program: layers, optimizers, losses and metrics
outside of the tables (RMSprop adds its epsilon elsewhere, recurrent layers have other
defaults, batch normalization and regularizers act otherwise under several replicas), Lambda
layers, layers of the program's own, several outputs, predictions. 1.15 compares labels of
shape ``[n]`` with outputs of shape ``[n, 1]`` each with each (a defect); Keras pairs them, and
a finding says so.

## References
``tf.estimator.DNNClassifier``, ``tf.feature_column``,
``tf.keras.estimator.model_to_estimator``, ``tf.keras.Model``
"""

from __future__ import annotations

from migrate_mgpu.core.registry import Case, Rule
from migrate_mgpu.models.front.rewriters import CannedRewriter

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
_FEATURES = """\
import tensorflow as tf


def input_fn():
    features = {'age': [31, 45], 'hours': [8, 3]}
    data = tf.data.Dataset.from_tensor_slices((features, [0, 1]))
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
        "a layer with masks of its own",
        _INPUT
        + """\
model = tf.keras.Sequential()
model.add(tf.keras.layers.Reshape((1, 1), input_shape=(1,)))
model.add(tf.keras.layers.LSTM(8, dropout=0.5))
model.add(tf.keras.layers.Dense(2, activation='softmax'))
model.compile(loss='sparse_categorical_crossentropy', optimizer='adam')
estimator = tf.keras.estimator.model_to_estimator(model)
estimator.train(input_fn, steps=100)
""",
        refused="`dropout` of `tf.keras.layers.LSTM`",
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
    Case(
        "a linear model of plain numbers",
        _FEATURES
        + """\
columns = []
for name in ('age', 'hours'):
    columns.append(tf.feature_column.numeric_column(name))
estimator = tf.estimator.LinearClassifier(columns)
estimator.train(input_fn, steps=100)
print(estimator.evaluate(input_fn, steps=10)['accuracy'])
""",
        _FEATURES
        + """\
class LinearClassifier(tf.keras.Model):
    def __init__(self, feature_columns):
        super().__init__()
        self.columns = sorted(feature_columns)
        self.weighted = [
            tf.keras.layers.Dense(1, use_bias=False, kernel_initializer='zeros')
            for _ in self.columns
        ]
        self.bias = self.add_weight(name='bias_weights', shape=[1], initializer='zeros')

    def call(self, features, training=False):
        # Feature columns stand in the order of their names.
        columns = [
            tf.cast(tf.reshape(features[name], [-1, 1]), tf.float32) for name in self.columns
        ]
        terms = [dense(column) for dense, column in zip(self.weighted, columns)]
        return tf.add_n(terms) + self.bias


columns = []
for name in ('age', 'hours'):
    columns.append(name)
estimator = LinearClassifier(feature_columns=columns)
estimator.compile(
    # The canned Estimator's own: Ftrl with 0.2, the sum over a batch.
    optimizer=tf.keras.optimizers.Ftrl(0.2),
    loss=tf.keras.losses.BinaryCrossentropy(from_logits=True, reduction='sum'),
    metrics=[
        tf.keras.metrics.BinaryAccuracy(name='accuracy', threshold=0.0),
    ],
)
estimator.fit(input_fn(), steps_per_epoch=100, verbose=0)
print(estimator.evaluate(input_fn(), steps=10, return_dict=True, verbose=0)['accuracy'])
""",
    ),
    Case(
        "a dense network of buckets, categories and dropout",
        _FEATURES
        + """\
def make_regressor(units):
    hours = tf.feature_column.categorical_column_with_identity('hours', 24)
    age = tf.feature_column.numeric_column('age')
    return tf.estimator.DNNRegressor(
        feature_columns=[
            tf.feature_column.embedding_column(hours, 2),
            tf.feature_column.bucketized_column(age, [20, 40]),
        ],
        hidden_units=units,
        dropout=0.1,
        optimizer='Adam')


regressor = make_regressor([8])
regressor.train(input_fn, steps=100)
""",
        _FEATURES
        + """\
class DNNRegressor(tf.keras.Model):
    def __init__(self, hidden_units, dropout):
        super().__init__()
        self.age_buckets = tf.keras.layers.Discretization([20, 40])
        self.hours_embedding = tf.keras.layers.Dense(
            2,
            use_bias=False,
            kernel_initializer=tf.keras.initializers.TruncatedNormal(stddev=2 ** -0.5),
        )
        self.hidden = [
            tf.keras.layers.Dense(units, activation=tf.nn.relu) for units in hidden_units
        ]
        self.dropout = tf.keras.layers.Dropout(dropout)
        self.logits = tf.keras.layers.Dense(1)

    def call(self, features, training=False):
        # Feature columns stand in the order of their names.
        columns = [
            tf.one_hot(
                self.age_buckets(tf.reshape(tf.cast(features['age'], tf.float32), [-1])), 3
            ),
            self.hours_embedding(
                tf.one_hot(tf.reshape(tf.cast(features['hours'], tf.int64), [-1]), 24)
            ),
        ]
        net = tf.concat(columns, axis=1)
        for dense in self.hidden:
            net = dense(net)
            net = self.dropout(net, training=training)
        return self.logits(net)


def make_regressor(units):
    model = DNNRegressor(hidden_units=units, dropout=0.1)
    model.compile(
        # The canned Estimator's own: Adam with 0.05, the sum over a batch.
        optimizer=tf.keras.optimizers.Adam(0.05, epsilon=1e-8),
        loss=tf.keras.losses.MeanSquaredError(reduction='sum'),
        metrics=[
            tf.keras.metrics.MeanSquaredError(name='average_loss'),
        ],
    )
    return model


regressor = make_regressor([8])
regressor.fit(input_fn(), steps_per_epoch=100, verbose=0)
""",
    ),
    Case(
        "columns that share a table of bounded rows",
        _FEATURES
        + """\
hours = tf.feature_column.categorical_column_with_identity('hours', 24)
shared = tf.feature_column.shared_embedding_columns([hours], 2, max_norm=1.0)
estimator = tf.estimator.DNNClassifier([4], shared)
estimator.train(input_fn, steps=100)
""",
        refused="which feature columns these are cannot be determined",
    ),
    Case(
        "momentum for a category",
        _FEATURES
        + """\
hours = tf.feature_column.categorical_column_with_identity('hours', 24)
momentum = tf.train.MomentumOptimizer(0.1, 0.9)
estimator = tf.estimator.LinearClassifier([hours], optimizer=momentum)
estimator.train(input_fn, steps=100)
""",
        refused="TF1 updates only the rows of a category that a batch uses",
    ),
    Case(
        "columns that are known when the program runs, under a strategy",
        _FEATURES
        + """\
names = open('names.txt').read().split()
columns = [tf.feature_column.numeric_column(name, shape=[1]) for name in names]
strategy = tf.distribute.MirroredStrategy()
config = tf.estimator.RunConfig(train_distribute=strategy)
estimator = tf.estimator.DNNClassifier([4], columns, config=config)
estimator.train(input_fn, steps=100)
""",
        refused="which feature columns these are cannot be determined",
    ),
    Case(
        "batch normalization, under a strategy",
        _FEATURES
        + """\
columns = [tf.feature_column.numeric_column('age')]
strategy = tf.distribute.MirroredStrategy()
config = tf.estimator.RunConfig(train_distribute=strategy)
estimator = tf.estimator.DNNClassifier([4], columns, batch_norm=True, config=config)
estimator.train(input_fn, steps=100)
""",
        refused="`batch_norm` of a DNNClassifier under a strategy",
    ),
)

REWRITER = CannedRewriter(RULE, CASES)
