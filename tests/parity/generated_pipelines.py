"""Session programs drawn at random that ``generated_sessions.py`` has not: datasets and iterators,
recurrent networks and embeddings, several optimizers, metrics, control flow, savers, summaries.
"""

from __future__ import annotations

import random

from generated_towers import indented

_OPTIMIZERS = (
    "GradientDescentOptimizer(0.1)",
    "AdamOptimizer(0.02)",
    "AdagradOptimizer(0.1)",  # the rest moves an embedding's rows otherwise
    "MomentumOptimizer(0.05, 0.9)",
    "RMSPropOptimizer(0.01)",
    "FtrlOptimizer(0.1)",
    "AdadeltaOptimizer(0.5)",
)
_CELLS = (
    "tf.nn.rnn_cell.BasicLSTMCell({})",
    "tf.nn.rnn_cell.LSTMCell({}, state_is_tuple=True)",
    "tf.nn.rnn_cell.GRUCell({})",
    "tf.contrib.rnn.BasicRNNCell({})",
    "tf.contrib.rnn.BasicLSTMCell({}, forget_bias=0.5)",
    "tf.contrib.rnn.LSTMCell({})",
)


class _Pipeline:
    """One program that is being drawn: its lines, and what a loop runs of it."""

    def __init__(self, number: int) -> None:
        self.random = random.Random(number)
        self.lines: list[str] = []
        self.words = self.maybe(0.5)  # sequences of ids, else rows of numbers
        self.drawn = self.one_of("fed", "one shot", "initializable", "until the end", "per epoch")
        self.trains: list[str] = []
        self.independent = False  # they train what the others do not depend on
        self.values = ["loss"]
        self.updates: list[str] = []  # of metrics
        self.metrics: list[str] = []
        self.extra: list[str] = []
        self.saver = self.one_of("", "", "save", "restore", "again")
        self.summaries = self.maybe(0.2)

    def one_of(self, *choices: str) -> str:
        return self.random.choice(choices)

    def maybe(self, chance: float = 0.5) -> bool:
        return self.random.random() < chance

    # -- data

    def data(self) -> None:
        kinds = ("tf.int32, [None, 4]", "tf.int64, [None]") if self.words else (
            "tf.float32, [None, 5]", "tf.int64, [None]")  # fmt: skip
        if self.drawn == "fed":
            self.lines += [f"x = tf.placeholder({kinds[0]})", f"y = tf.placeholder({kinds[1]})"]
            return
        first = "tf.data.Dataset.from_tensor_slices((xs, ys))"
        chain = [".batch(8)"]
        if self.maybe(0.3):
            chain.insert(0, self.one_of(".take(20)", ".skip(3)", ".cache()"))
        if self.maybe(0.3) and not self.words:
            chain.insert(0, ".map(lambda a, b: (a * 2.0, b))")
        if self.drawn in ("one shot", "initializable"):
            chain.insert(self.random.choice((0, len(chain))), ".repeat()")
        if self.maybe(0.3):
            chain.append(".prefetch(1)")
        if self.maybe():
            self.lines += [f"dataset = {first}", *(f"dataset = dataset{one}" for one in chain)]
        else:
            self.lines.append(f"dataset = {first}{''.join(chain)}")
        kind = "one_shot" if self.drawn in ("one shot", "until the end") else "initializable"
        made = self.one_of(
            f"dataset.make_{kind}_iterator()", f"tf.data.make_{kind}_iterator(dataset)"
        )
        if self.maybe(0.2) and kind == "one_shot":
            self.lines.append(f"x, y = {made}.get_next()")
        else:
            self.lines.append(f"iterator = {made}")
            if self.maybe(0.3):
                self.lines += ["batch = iterator.get_next()", "x, y = batch[0], batch[1]"]
            else:
                self.lines.append("x, y = iterator.get_next()")

    # -- networks

    def network(self) -> None:
        if self.words:
            table = self.one_of(
                "tf.get_variable('table', [12, 6])",
                "tf.Variable(tf.random_uniform([12, 6], -1.0, 1.0), name='table')",
                "tf.get_variable('table', [12, 6], initializer=tf.random_normal_initializer())",
            )
            self.lines += [f"table = {table}", "words = tf.nn.embedding_lookup(table, x)"]
            self._sequence()
        else:
            self.lines.append("net = tf.layers.dense(x, 6, activation=tf.nn.tanh)")
        logits = self.one_of(
            "tf.layers.dense(net, 3)", "tf.layers.dense(net, 3, name='logits')", "by hand"
        )
        if logits == "by hand" and self.words:
            self.lines += [
                "w = tf.get_variable('w', [6, 3], initializer=tf.random_normal_initializer())",
                "b = tf.get_variable('b', [3], initializer=tf.zeros_initializer())",
                "logits = tf.nn.xw_plus_b(net, w, b)",
            ]
        else:
            self.lines.append(f"logits = {logits.replace('by hand', 'tf.layers.dense(net, 3)')}")

    def _sequence(self) -> None:
        way = self.one_of("mean", "sum", "dynamic", "dynamic", "lengths", "static", "stacked",
                          "both ways")  # fmt: skip
        cell = self.one_of(*_CELLS).format(6)
        state = "state.h" if "LSTM" in cell else "state"
        if way in ("mean", "sum"):
            self.lines.append(f"net = tf.reduce_{way}(words, {self.one_of('1', 'axis=1')})")
            return
        if way == "both ways":
            self.lines += [
                f"forward = {cell}",
                f"backward = {cell}",
                "outputs, states = tf.nn.bidirectional_dynamic_rnn("
                "forward, backward, words, dtype=tf.float32)",
                "net = tf.reduce_mean(tf.concat(outputs, 2), 1)[:, :6]",
            ]
            return
        if way == "stacked":
            cell = f"tf.nn.rnn_cell.MultiRNNCell([{cell}, {cell}])"
            state = f"state[-1]{'.h' if state == 'state.h' else ''}"
        elif self.maybe(0.3):
            cell = f"tf.nn.rnn_cell.DropoutWrapper({cell}, output_keep_prob=0.8)"
        self.lines.append(f"cell = {cell}")
        if way == "static":
            self.lines += [
                "steps = tf.unstack(words, 4, 1)",
                "outputs, state = tf.nn.static_rnn(cell, steps, dtype=tf.float32)",
                f"net = {self.one_of('outputs[-1]', state)}",
            ]
            return
        more = ""
        if way == "lengths":
            self.lines.append("lengths = tf.reduce_sum(tf.cast(x > 2, tf.int32), 1)")
            more = ", sequence_length=lengths"
        elif self.maybe(0.3):
            self.lines.append("first = cell.zero_state(tf.shape(x)[0], tf.float32)")
            more = ", initial_state=first"
        call = f"tf.nn.dynamic_rnn(cell, words{more}, dtype=tf.float32)"
        self.lines.append(f"outputs, state = {call}")
        net = self.one_of(state, "outputs[:, -1]", "tf.reduce_mean(outputs, 1)")
        self.lines.append(f"net = {net}")

    # -- losses, metrics, steps

    def train(self) -> None:
        given = "labels=y, logits=logits"
        each = f"tf.nn.sparse_softmax_cross_entropy_with_logits({given})"
        whole = f"tf.losses.sparse_softmax_cross_entropy({given})"
        self.lines.append(f"loss = {self.one_of(f'tf.reduce_mean({each})', whole)}")
        self.lines.append("prediction = tf.argmax(logits, 1)")
        self._control_flow()
        self._metrics()
        way = self.one_of("one", "one", "two losses", "two lists", "clipped")
        optimizers = _OPTIMIZERS[:3] if self.words else _OPTIMIZERS
        optimizer = f"tf.train.{self.one_of(*optimizers)}"
        if way == "one":
            self.lines.append(f"train = {optimizer}.minimize(loss)")
            self.trains.append("train")
        elif way == "clipped":
            self.lines += [
                f"optimizer = {optimizer}",
                "variables = tf.trainable_variables()",
                "gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 0.5)",
                "train = optimizer.apply_gradients(zip(gradients, variables))",
            ]
            self.trains.append("train")
        elif way == "two losses":
            source = "tf.one_hot(y, 3)" if self.words else "x"
            self.lines += [
                f"aside = tf.layers.dense({source}, 2, name='aside')",
                "other = tf.reduce_mean(tf.square(aside - 0.5))",
                f"train = {optimizer}.minimize(loss)",
                f"shrink = tf.train.{self.one_of(*_OPTIMIZERS)}.minimize(other)",
            ]
            self.trains += ["train", "shrink"]
            self.independent = True
        else:
            at = next(i for i, line in enumerate(self.lines) if line.startswith("net = "))
            scope = self.one_of("body", "features")
            self.lines[at:at] = ["before = tf.trainable_variables()"] if self.words else []
            self.lines += ["everything = tf.trainable_variables()"]
            head = "[v for v in everything if v not in before]" if self.words else "everything[2:]"
            first = "before" if self.words else "everything[:2]"
            self.lines += [
                f"{scope} = {optimizer}.minimize(loss, var_list={first})",
                f"train = tf.train.{self.one_of(*optimizers)}.minimize(loss, var_list={head})",
            ]
            self.trains += ["train", scope]

    def _control_flow(self) -> None:
        kind = self.one_of("", "", "", "cond", "while", "where", "mapped")
        if kind == "cond":
            self.lines.append(
                "loss = tf.cond(loss > 1.0, lambda: loss * 0.5 + 0.5, lambda: tf.square(loss))"
            )
        elif kind == "while":
            self.lines += [
                "power = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * loss),",
                "                      [tf.constant(0), tf.constant(1.0)])[1]",
            ]
            self.values.append("power")
        elif kind == "where":
            self.lines.append("certain = tf.where(tf.reduce_max(logits, 1) > 0.2, y, y * 0)")
            self.values.append("certain")
        elif kind == "mapped":
            self.lines.append("each = tf.map_fn(lambda row: tf.reduce_max(row) - row[0], logits)")
            self.values.append("each")

    def _metrics(self) -> None:
        if self.maybe(0.6):
            self.lines += [
                "accuracy = tf.reduce_mean(tf.cast(tf.equal(prediction, y), tf.float32))"
            ]
            self.values.append("accuracy")
            return
        kind = self.one_of(
            "accuracy(y, prediction)",
            "mean(loss)",
            "precision(y > 0, logits[:, 0] > 0.0)",
            "accuracy(labels=y, predictions=prediction, name='seen')",
            "mean_squared_error(tf.one_hot(y, 3), logits)",
        )
        self.lines.append(f"metric, metric_update = tf.metrics.{kind}")
        self.metrics.append("metric")
        self.updates.append("metric_update")

    # -- the session

    def loop(self) -> list[str]:
        fed = ", feed_dict={x: xs[rows], y: ys[rows]}" if self.drawn == "fed" else ""
        inner = ["rows = slice(step * 4, step * 4 + 8)"] if fed else []
        way = self.one_of("together", "together", "apart")
        fetched = [*self.values, *self.updates]
        if self.independent and self.maybe():
            names = ", ".join("_" for _ in self.trains)
            shown = ", ".join(f"{value}_value" for value in fetched)
            run = f"sess.run([{', '.join([*self.trains, *fetched])}]{fed})"
            inner.append(f"{names}, {shown} = {run}")
        elif len(self.trains) > 1 or way == "apart":
            first, *others = self.trains
            inner.append(f"_, {', '.join(f'{v}_value' for v in fetched)} = "
                         f"sess.run([{first}, {', '.join(fetched)}]{fed})")  # fmt: skip
            inner += [f"sess.run({other}{fed})" for other in others]
        else:
            inner.append(f"_, {', '.join(f'{v}_value' for v in fetched)} = "
                         f"sess.run([{self.trains[0]}, {', '.join(fetched)}]{fed})")  # fmt: skip
        if self.summaries:
            inner.append(f"writer.add_summary(sess.run(merged{fed}), step)")
        inner.append(f"print('step', step, {', '.join(f'{v}_value' for v in fetched)})")
        begin = ["sess.run(tf.local_variables_initializer())"] if self.metrics else []
        metric = [f"print('metric', sess.run({self.metrics[0]}))"] if self.metrics else []
        until = [
            "step = 0",
            "while True:",
            "    try:",
            *indented(inner, 2),
            "        step += 1",
            "    except tf.errors.OutOfRangeError:",
            "        break",
        ]
        if self.drawn == "per epoch":
            start = ["sess.run(iterator.initializer)", *(begin if self.maybe() else [])]
            return [
                *begin,
                "for epoch in range(2):",
                *indented([*start, *until, *metric]),
            ]
        once = ["sess.run(iterator.initializer)"] if self.drawn == "initializable" else []
        if self.drawn == "until the end":
            return [*begin, *until, *metric]
        return [*begin, *once, "for step in range(6):", *indented(inner), *metric]


def program(number: int) -> str:
    """The program that a number draws."""
    drawn = _Pipeline(number)
    drawn.data()
    drawn.network()
    drawn.train()
    numbers = "rng.randint(12, size=(32, 4))" if drawn.words else "rng.rand(32, 5)"
    kind = "np.int32" if drawn.words else "np.float32"
    lines = drawn.lines
    if drawn.summaries:
        lines += ["tf.summary.scalar('loss', loss)", "merged = tf.summary.merge_all()"]
    if drawn.saver:
        lines.append("saver = tf.train.Saver()")
    body = ["sess.run(tf.global_variables_initializer())", *drawn.loop()]
    if drawn.summaries:
        body.insert(0, "writer = tf.summary.FileWriter(os.path.join(folder, 'logs'))")
    if drawn.saver:
        body.append("saver.save(sess, os.path.join(folder, 'model'))")
    if drawn.saver == "restore":
        body += [
            "saver.restore(sess, os.path.join(folder, 'model'))",
            "print('restored', sess.run(tf.trainable_variables()[0]).sum())"
            if drawn.maybe(0.2)
            else "print('restored')",
        ]
    block = ["with tf.Session() as sess:", *indented(body)]
    if drawn.saver == "again":
        fed = ", feed_dict={x: xs[:8], y: ys[:8]}" if drawn.drawn == "fed" else ""
        begin = ["sess.run(iterator.initializer)"] if drawn.drawn in (
            "initializable", "per epoch") else []  # fmt: skip
        block += [
            "with tf.Session() as sess:",
            *indented(
                [
                    "saver.restore(sess, os.path.join(folder, 'model'))",
                    *begin,
                    f"print('again', sess.run(logits{fed}).sum())",
                ]
            ),
        ]
    head = ["import os", "import tempfile"] if drawn.saver or drawn.summaries else []
    head += ["" for _ in head[:1]] + ["import numpy as np", "import tensorflow as tf", ""]
    head += ["rng = np.random.RandomState(2)", f"xs = {numbers}.astype({kind})"]
    head += ["ys = rng.randint(3, size=32)"]
    head += ["folder = tempfile.mkdtemp()"] if drawn.saver or drawn.summaries else []
    layout = drawn.one_of("script", "main", "graph")
    if layout == "main":
        block = ["", "", "def main():", *indented([*lines, *block])]
        block += ["", "", "if __name__ == '__main__':", "    main()"]
    elif layout == "graph":
        block = ["", "with tf.Graph().as_default():", *indented([*lines, *block])]
    else:
        block = ["", *lines, *block]
    return "\n".join([*head, *block]) + "\n"
