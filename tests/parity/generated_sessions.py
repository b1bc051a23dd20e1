"""Session programs drawn at random, migrated and run: whatever becomes native must be equal.

    python tests/parity/generated_sessions.py [--towers | --pipelines] [--first 0] [--count 100]

Each number draws one program: its shape (a script, a ``main``, functions, a class), network,
loss, optimizer, rate, how gradients are applied, what a run fetches, in which order. It prints
every program that was called native and is not equal to TensorFlow 1.15.5, or crashes, with the
number that draws it again (``--show NUMBER`` prints it and what becomes of it), and why programs
stay. Exit status: 0 if all are equal, else 1. Not part of the test suite: it takes minutes.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import textwrap
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import false_alarms
import generated_pipelines
import generated_towers
import live
from generated_towers import indented

from migrate_mgpu.core.states import NATIVE
from migrate_mgpu.parity.compare import outcome
from migrate_mgpu.parity.runs import sides
from migrate_mgpu.run.migrate import migrate

_OPTIMIZERS = (
    "GradientDescentOptimizer({rate})",
    "MomentumOptimizer({rate}, 0.9)",
    "MomentumOptimizer({rate}, momentum=0.8, use_nesterov=True)",
    "AdamOptimizer({rate})",
    "AdamOptimizer(learning_rate={rate}, beta1=0.5)",
    "RMSPropOptimizer({rate})",
    "RMSPropOptimizer({rate}, decay=0.8, momentum=0.5)",
    "AdagradOptimizer({rate})",
    "AdadeltaOptimizer({rate})",
    "FtrlOptimizer({rate})",
)
_ACTIVATIONS = ("tf.nn.relu", "tf.nn.tanh", "tf.sigmoid", "tf.nn.elu")


class _Drawn:
    """One program that is being drawn: lines that build its graph, and what they need."""

    def __init__(self, number: int) -> None:
        self.random = random.Random(number)
        self.more = random.Random(f"{number}, more")  # what was added later
        self.classes = self.random.choice((0, 3))  # 0: a regression
        self.images = self.random.random() < 0.25
        self.lines: list[str] = []
        self.functions: list[str] = []
        self.fed: dict[str, str] = {}  # placeholder: what a training step feeds
        self.eval_fed: dict[str, str] = {}
        self.values: list[str] = []  # tensors worth printing
        self.first: list[str] = []  # statements before each epoch, in the session
        self.updates = False
        self.step = ""
        self.extra: list[str] = []  # operations beside the training one

    def one_of(self, *choices: str) -> str:
        return self.random.choice(choices)

    def maybe(self, chance: float = 0.5) -> bool:
        return self.random.random() < chance

    # -- the graph

    def data(self) -> None:
        shape = "[None, 6, 6, 1]" if self.images else "[None, 5]"
        name = self.one_of("x", "inputs", "images")
        self.x = name
        self.lines.append(
            f"{name} = tf.placeholder(tf.float32, {shape}{self.one_of('', f', name={name!r}')})"
        )
        self.y = self.one_of("y", "labels", "targets")
        if self.classes:
            self.one_hot = self.maybe()
            kind, shape = (
                ("float32", f"[None, {self.classes}]") if self.one_hot else ("int64", "[None]")
            )
        else:
            self.one_hot, kind, shape = False, "float32", "[None, 1]"
        self.lines.append(f"{self.y} = tf.placeholder(tf.{kind}, {shape})")
        self.fed[self.x], self.fed[self.y] = "bx", "by"
        self.eval_fed[self.x], self.eval_fed[self.y] = "tx", "ty"

    def network(self) -> None:
        out = self.classes or 1
        kind = self.one_of("by_hand", "layers", "function", "get_variable")
        self.flag = ""
        if self.maybe(0.3) and kind in ("layers", "function"):
            self.flag = self.one_of("is_training", "training")
            form = self.one_of("tf.placeholder(tf.bool)", "tf.placeholder_with_default(False, [])")
            self.lines.append(f"{self.flag} = {form}")
            self.fed[self.flag] = "True"
            if "default" not in form or self.maybe():
                self.eval_fed[self.flag] = "False"
        self.keep = ""
        if self.maybe(0.3):
            self.keep = "keep_prob"
            # TF1's layers ask for a rank, which dropout by an unknown shape takes away.
            shape = "" if kind in ("by_hand", "get_variable") else ", []"
            self.lines.append(f"keep_prob = tf.placeholder(tf.float32{shape})")
            self.fed["keep_prob"], self.eval_fed["keep_prob"] = self.one_of("0.5", "0.8"), "1.0"
        if kind == "function":
            body, logits = self._layers("net", out)
            args = ["net", *filter(None, (self.flag, self.keep))]
            scope = self.maybe(0.4)
            if scope:
                body = [
                    "with tf.variable_scope('model'):",
                    *textwrap.indent("\n".join(body), "    ").split("\n"),
                ]
            self.functions += [
                "",
                "",
                f"def network({', '.join(args)}):",
                *("    " + line for line in body),
                f"    return {logits}",
            ]
            self.lines.append(f"logits = network({', '.join([self.x, *args[1:]])})")
        elif kind == "layers":
            body, logits = self._layers(self.x, out)
            self.lines += body
            self.lines.append(f"logits = {logits}")
        else:
            self._by_hand(kind, out)
        self.logits = "logits"
        if self.maybe(0.2):
            self.lines.append("logits = tf.identity(logits, name='logits')")

    def _layers(self, source: str, out: int) -> tuple[list[str], str]:
        lines = []
        net = source
        if self.images:
            lines.append(
                f"net = tf.layers.conv2d({net}, 3, 3, activation={self.one_of(*_ACTIVATIONS)})"
            )
            if self.maybe():
                lines.append("net = tf.layers.max_pooling2d(net, 2, 2)")
            flat = self.one_of("tf.layers.flatten(net)", "tf.contrib.layers.flatten(net)")
            lines.append(f"net = {flat}")
            net = "net"
        for units in self.random.sample((4, 6, 8), self.random.choice((1, 1, 2))):
            regularizer = ""
            if self.maybe(0.25):
                regularizer = ", kernel_regularizer=tf.contrib.layers.l2_regularizer(0.01)"
                self.regularized = True
            bare = bool(self.flag) and self.maybe(0.6)
            activation = "" if bare else f", activation={self.one_of(*_ACTIVATIONS)}"
            lines.append(f"net = tf.layers.dense({net}, {units}{activation}{regularizer})")
            net = "net"
            if bare:
                momentum = self.one_of("", ", momentum=0.9")
                lines.append(
                    f"net = tf.layers.batch_normalization(net, training={self.flag}{momentum})"
                )
                lines.append(f"net = {self.one_of(*_ACTIVATIONS)}(net)")
                self.updates = True
            if self.keep and self.maybe():
                lines.append(f"net = tf.nn.dropout(net, {self.keep})")
        return lines, f"tf.layers.dense({net}, {out})"

    regularized = False

    def _by_hand(self, kind: str, out: int) -> None:
        size = 36 if self.images else 5
        net = self.x
        if self.images:
            self.lines.append(f"flat = tf.reshape({net}, [-1, 36])")
            net = "flat"
        hidden = self.random.choice((4, 7))

        def variable(name: str, shape: str) -> str:
            if kind == "get_variable":
                first = (
                    self.one_of(
                        "initializer=tf.truncated_normal_initializer(stddev=0.3)",
                        "initializer=tf.contrib.layers.xavier_initializer()",
                        "initializer=tf.random_uniform_initializer(-0.4, 0.4)",
                    )
                    if "," in shape
                    else "initializer=tf.zeros_initializer()"
                )
                return f"{name} = tf.get_variable('{name}', {shape}, {first})"
            if "," not in shape:
                return f"{name} = tf.Variable(tf.zeros({shape}))"
            first = self.one_of(
                f"tf.random_normal({shape}, stddev=0.3)",
                f"tf.truncated_normal({shape}, stddev=0.2)",
                f"tf.random_uniform({shape}, -0.5, 0.5)",
            )
            return f"{name} = tf.Variable({first}{self.one_of('', f', name={name!r}')})"

        self.lines += [variable("w1", f"[{size}, {hidden}]"), variable("b1", f"[{hidden}]")]
        dot = self.one_of(
            f"tf.matmul({net}, w1) + b1",
            f"tf.add(tf.matmul({net}, w1), b1)",
            f"tf.nn.xw_plus_b({net}, w1, b1)",
        )
        self.lines.append(f"h1 = {self.one_of(*_ACTIVATIONS)}({dot})")
        if self.keep:
            self.lines.append(
                f"h1 = tf.nn.dropout(h1, keep_prob{self.one_of('', '=keep_prob')})".replace(
                    "keep_prob=keep_prob", "keep_prob=keep_prob"
                )
            )
        self.lines += [variable("w2", f"[{hidden}, {out}]"), variable("b2", f"[{out}]")]
        self.lines.append("logits = tf.matmul(h1, w2) + b2")
        self.weights = ["w1", "b1", "w2", "b2"]
        self._slow([f"[{size}, {hidden}]", f"[{hidden}]"])
        self._named_starts()

    weights: Sequence[str] = ()

    def _slow(self, shapes: Sequence[str]) -> None:
        """Variables that follow the first layer's, by a share or whole, in steps of their own."""
        if self.more.random() < 0.75:
            return
        names = ["slow_w1", "slow_b1"]
        self.lines += [
            f"{name} = tf.Variable(tf.zeros({shape}), trainable=False)"
            for name, shape in zip(names, shapes)
        ]
        lists = ["[slow_w1, slow_b1]", "[w1, b1]"]
        if self.more.random() < 0.5:
            self.lines.append(f"slow = {lists[0]}")
            lists[0] = "slow"
        value = self.more.choice(("v", "0.7 * s + 0.3 * v", "tf.add(0.5 * s, 0.5 * v)"))
        assign = self.more.choice(("tf.assign(s, {})", "s.assign({})")).format(value)
        copies = f"[{assign} for s, v in zip({', '.join(lists)})]"
        copies = self.more.choice((copies, f"tf.group(*{copies})"))
        self.lines.append(f"follow = {copies}")
        self.first.append("sess.run(follow)")

    def _named_starts(self) -> None:
        """What some variables begin with gets a name."""
        for index, line in enumerate(self.lines):
            name, _, value = line.partition(" = tf.Variable(tf.random")
            if value and "=" not in name and self.more.random() < 0.2:
                end = value.index(")") + 1
                start = f"{name}_start = tf.random{value[:end]}"
                self.lines[index] = f"{start}\n{name} = tf.Variable({name}_start{value[end:]}"
        self.lines = "\n".join(self.lines).split("\n")

    def loss(self) -> None:
        """A loss; what decays may be added to it."""
        given = f"labels={self.y}, logits=logits"
        fixed = f"labels=tf.stop_gradient({self.y}), logits=logits"
        if self.classes and self.one_hot:
            one = self.one_of(
                f"tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits({given}))",
                f"tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2({fixed}))",
                f"tf.losses.softmax_cross_entropy({self.y}, logits)",
                f"-tf.reduce_mean(tf.reduce_sum({self.y} * tf.log(tf.nn.softmax(logits)), 1))",
            )
        elif self.classes:
            one = self.one_of(
                f"tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits({given}))",
                f"tf.losses.sparse_softmax_cross_entropy({given})",
            )
        else:
            one = self.one_of(
                f"tf.reduce_mean(tf.square(logits - {self.y}))",
                f"tf.losses.mean_squared_error({self.y}, logits)",
                f"tf.reduce_sum(tf.pow(logits - {self.y}, 2)) / (2 * 8)",
                f"tf.reduce_mean(tf.abs({self.y} - logits))",
                f"tf.losses.huber_loss({self.y}, logits)",
                f"tf.nn.l2_loss(logits - {self.y})",
            )
        self.lines.append(f"loss = {one}")
        self.losses = one.startswith("tf.losses")
        if self.weights and self.maybe(0.3):
            self.lines.append("loss += 0.01 * (tf.nn.l2_loss(w1) + tf.nn.l2_loss(w2))")
        elif self.maybe(0.25):
            decay = self.one_of(
                "tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])",
                "sum(tf.nn.l2_loss(v) for v in tf.trainable_variables() if 'bias' not in v.name)",
            )
            self.lines.append(f"loss = loss + 0.005 * {decay}")
        if self.regularized:
            self.lines.append(
                self.one_of(
                    "loss = loss + tf.losses.get_regularization_loss()",
                    "loss += tf.add_n(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))",
                )
            )
        self.values.append("loss")
        if self.classes:
            true = f"tf.argmax({self.y}, 1)" if self.one_hot else self.y
            self.lines += [
                f"correct = tf.equal(tf.argmax(logits, 1), {true})",
                "accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))",
            ]
            self.values.append("accuracy")

    def train(self) -> None:
        rate = self.one_of(
            "0.05", "0.01", "learning_rate", "fed", "decayed", "staircase", "pieces", "variable"
        )
        self.assign = False
        if self.maybe(0.5) or rate in ("decayed", "staircase", "pieces"):
            self.step = self.one_of("global_step", "step_counter")
            form = self.one_of(
                "tf.Variable(0, trainable=False)",
                "tf.Variable(0, name='global_step', trainable=False)",
                "tf.train.get_or_create_global_step()",
                "tf.train.create_global_step()",
            )
            self.lines.append(f"{self.step} = {form}")
        if rate == "learning_rate":
            self.functions.insert(0, "learning_rate = 0.02")
        elif rate == "fed":
            rate = "lr"
            self.lines.append("lr = tf.placeholder(tf.float32, [])")
            self.fed["lr"] = self.one_of("0.05", "0.1 / (1 + epoch)", "0.1 * 0.5 ** epoch")
        elif rate == "variable":
            rate = "lr"
            self.lines.append("lr = tf.Variable(0.05, trainable=False)")
            if self.maybe():
                self.assign = True
                self.first.append(
                    "sess.run(tf.assign(lr, 0.05 * 0.5 ** epoch))"
                    if self.maybe(0.3)
                    else "sess.run(halve)"
                )
                self.lines.append("halve = tf.assign(lr, lr * 0.5)")
        elif rate in ("decayed", "staircase"):
            more = ", staircase=True" if rate == "staircase" else ""
            self.lines.append(f"lr = tf.train.exponential_decay(0.1, {self.step}, 3, 0.8{more})")
            rate = "lr"
        elif rate == "pieces":
            self.lines.append(
                f"lr = tf.train.piecewise_constant({self.step}, [2, 5], [0.1, 0.05, 0.01])"
            )
            rate = "lr"
        if rate == "lr" and "lr" not in self.fed and self.maybe(0.3):
            self.values.append("lr")
        optimizer = "tf.train." + self.random.choice(_OPTIMIZERS).format(rate=rate)
        counted = f", global_step={self.step}" if self.step else ""
        way = self.one_of(
            "minimize", "minimize", "minimize", "pairs", "clipped", "norm", "var_list"
        )
        lines = []
        if way == "minimize" and self.maybe():
            lines.append(f"train_op = {optimizer}.minimize(loss{counted})")
        else:
            lines.append(f"optimizer = {optimizer}")
        if lines[0].startswith("optimizer"):
            if way == "minimize":
                lines.append(f"train_op = optimizer.minimize(loss{counted})")
            elif way == "var_list":
                lines.append(
                    f"train_op = optimizer.minimize(loss{counted}, "
                    "var_list=tf.trainable_variables())"
                )
            elif way == "norm":
                lines += [
                    "params = tf.trainable_variables()",
                    "grads, norm = tf.clip_by_global_norm(tf.gradients(loss, params), 1.0)",
                    f"train_op = optimizer.apply_gradients(zip(grads, params){counted})",
                ]
                if self.maybe():
                    self.values.append("norm")
            else:
                lines.append("grads_and_vars = optimizer.compute_gradients(loss)")
                pairs = "grads_and_vars"
                if way == "clipped":
                    clip = self.one_of("tf.clip_by_value(g, -0.1, 0.1)", "tf.clip_by_norm(g, 0.5)")
                    lines.append(f"clipped = [({clip}, v) for g, v in grads_and_vars]")
                    pairs = "clipped"
                lines.append(f"train_op = optimizer.apply_gradients({pairs}{counted})")
        if self.updates and self.maybe(0.85):
            self.lines += [
                "update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)",
                "with tf.control_dependencies(update_ops):",
                *("    " + line for line in lines),
            ]
        else:
            self.lines += lines
        self.train_op = "train_op"
        if self.maybe(0.2):
            self.lines += [
                "ema = tf.train.ExponentialMovingAverage(0.9)",
                "with tf.control_dependencies([train_op]):",
                "    train_ema = ema.apply(tf.trainable_variables())",
            ]
            self.train_op = "train_ema"
        if self.maybe(0.15):
            self.lines += [
                "seen = tf.Variable(0, trainable=False)",
                "count = tf.assign_add(seen, 1)",
            ]
            self.extra.append("count")

    # -- the session

    def loop(self, prefix: str = "") -> list[str]:
        def named(name: str) -> str:
            return f"{prefix}{name}"

        def feed(fed: dict[str, str]) -> str:
            inner = ", ".join(f"{named(k)}: {v}" for k, v in fed.items())
            return "{" + inner + "}"

        fed = feed(self.fed)
        inner = ["bx, by = batch(rng)"]
        if self.maybe(0.4):
            inner.append(f"feed = {fed}")
            fed = "feed"
        style = self.one_of("both", "both", "swapped", "two", "before", "summary")
        train = named(self.train_op)
        fetched = [named(v) for v in self.values]
        extra = [named(v) for v in self.extra]
        keyword = self.one_of("", "feed_dict=")
        if style == "both" or style == "swapped":
            order = [train, *fetched, *extra] if style == "both" else [*fetched, train, *extra]
            names = [("_" if one == train else one.rpartition(".")[2] + "_value") for one in order]
            inner.append(f"{', '.join(names)} = sess.run([{', '.join(order)}], {keyword}{fed})")
            shown = [n for n in names if n != "_"]
        else:
            values = [one.rpartition(".")[2] + "_value" for one in (*fetched, *extra)]
            run = f"sess.run([{', '.join([*fetched, *extra])}], {keyword}{fed})"
            names = ", ".join(values)
            if len(values) == 1:
                run, names = f"sess.run({fetched[0]}, {keyword}{fed})", values[0]
            train = f"sess.run({train}, {keyword}{fed})"
            if style == "before":
                inner += [f"{names} = {run}", train]
            else:
                inner += [train, f"{names} = {run}"]
            shown = values
        inner.append(f"print('step', {', '.join(shown)})")
        lines = ["rng = np.random.RandomState(1)"]
        if self.maybe(0.6) or any("epoch" in v for v in (*self.fed.values(), *self.first)):
            lines += ["for epoch in range(2):"]
            lines += ["    " + one for one in self._first(prefix)]
            lines += ["    for i in range(3):"] + ["        " + one for one in inner]
        else:
            lines += ["for i in range(6):"]
            lines += ["    " + one for one in self._first(prefix)]
            lines += ["    " + one for one in inner]
        test = feed(self.eval_fed)
        lines.append("tx, ty = batch(np.random.RandomState(9))")
        value = named(self.one_of(*(v for v in self.values if v not in ("lr", "norm")), "logits"))
        lines.append(
            self.one_of(
                f"print('test', sess.run({value}, {keyword}{test}))",
                f"print('test', {value}.eval(feed_dict={test}))",
                f"result = sess.run([{named('loss')}, {named('logits')}], feed_dict={test})\n"
                "print('test', result[0], result[1].sum())",
            )
        )
        if self.weights and self.maybe(0.4):
            lines.append(f"print('weights', sess.run({named('w2')}))")
        if self.step and self.maybe(0.4):
            lines.append(f"print('steps', sess.run({named(self.step)}))")
        return "\n".join(lines).split("\n")

    def _first(self, prefix: str) -> list[str]:
        return [
            one.replace("halve", f"{prefix}halve")
            .replace("follow", f"{prefix}follow")
            .replace("assign(lr", f"assign({prefix}lr")
            for one in self.first
        ]


def program(number: int) -> str:
    """The program that a number draws."""
    drawn = _Drawn(number)
    drawn.data()
    drawn.network()
    drawn.loss()
    drawn.train()
    shape = "[8, 6, 6, 1]" if drawn.images else "[8, 5]"
    target = {0: "bx.reshape(8, -1).sum(1, keepdims=True)"}.get(
        drawn.classes,
        "np.eye(3)[rng.randint(3, size=8)]" if drawn.one_hot else "rng.randint(3, size=8)",
    )
    batch = ["", "", "def batch(rng):", f"    bx = rng.rand(*{shape})", f"    return bx, {target}"]
    head = ["import numpy as np", "import tensorflow as tf"]
    constants = [one for one in drawn.functions if one.startswith("learning_rate")]
    functions = [one for one in drawn.functions if one not in constants]
    init = ["sess.run(tf.global_variables_initializer())"]
    layout = drawn.one_of("script", "main", "graph", "class", "sess", "methods", "given")
    if layout == "methods":
        body = _methods(drawn)
    elif layout == "given":
        body = _given(drawn, init)
    elif layout == "class":
        names = {line.split(" = ")[0] for line in drawn.lines if " = " in line and line[0] != " "}
        build = indented(drawn.lines, 2)
        kept = sorted(
            {*drawn.fed, *drawn.eval_fed, *drawn.values, *drawn.extra, drawn.train_op, "logits"}
        )
        kept += [
            n
            for n in ("halve", "follow", drawn.step, "w2", "lr")
            if n and n in names and n not in kept
        ]
        build += [f"        self.{name} = {name}" for name in kept]
        body = [
            "",
            "",
            "class Model(object):",
            "    def __init__(self):",
            *build,
            "",
            "",
            "def main():",
            "    model = Model()",
            "    with tf.Session() as sess:",
            *indented([*init, *drawn.loop("model.")], 2),
            "",
            "",
            "if __name__ == '__main__':",
            "    main()",
        ]
    elif layout == "main":
        body = [
            "",
            "",
            "def main():",
            *indented(drawn.lines),
            "    with tf.Session() as sess:",
            *indented([*init, *drawn.loop()], 2),
            "",
            "",
            "if __name__ == '__main__':",
            "    main()",
        ]
    elif layout == "graph":
        body = [
            "",
            "with tf.Graph().as_default():",
            *indented(drawn.lines),
            "    with tf.Session() as sess:",
            *indented([*init, *drawn.loop()], 2),
        ]
    elif layout == "sess":
        body = ["", *drawn.lines, "sess = tf.Session()", *init]
        body += [
            line.replace(".eval(feed_dict=", ".eval(session=sess, feed_dict=")
            for line in drawn.loop()
        ]
        body += ["sess.close()"]
    else:
        body = [
            "",
            *drawn.lines,
            "init = tf.global_variables_initializer()",
            "with tf.Session() as sess:",
            "    sess.run(init)",
        ]
        body += indented(drawn.loop())
    return (
        "\n".join(
            [
                *head,
                *([""] if constants else []),
                *constants,
                *functions,
                *batch,
                *([""] if body[0] != "" or body[1] != "" else []),
                *body,
            ]
        )
        + "\n"
    )


def _feed(fed: dict[str, str], prefix: str = "") -> str:
    return "{" + ", ".join(f"{prefix}{name}: {value}" for name, value in fed.items()) + "}"


def _methods(drawn: _Drawn) -> list[str]:
    """A class that has its session, and methods that run it."""
    fed = {name: value.replace("epoch", "0") for name, value in drawn.fed.items()}
    kept = sorted({*drawn.fed, *drawn.eval_fed, *drawn.values, drawn.train_op, "logits"})
    values = [v for v in drawn.values if v != "norm"]
    fetched = ", ".join(f"self.{name}" for name in (drawn.train_op, *values))
    return [
        "",
        "",
        "class Model(object):",
        "    def __init__(self):",
        *indented(drawn.lines, 2),
        *(f"        self.{name} = {name}" for name in kept),
        "        self.sess = tf.Session()",
        "        self.sess.run(tf.global_variables_initializer())",
        "",
        "    def fit(self, bx, by):",
        f"        feed = {_feed(fed, 'self.')}",
        f"        result = self.sess.run([{fetched}], feed_dict=feed)",
        "        return result[1:]",
        "",
        "    def predict(self, tx, ty):",
        f"        return self.sess.run(self.logits, feed_dict={_feed(drawn.eval_fed, 'self.')})",
        "",
        "",
        "model = Model()",
        "rng = np.random.RandomState(3)",
        "for i in range(5):",
        "    print('fit', model.fit(*batch(rng)))",
        "    if i % 2 == 0:",
        "        print('predict', model.predict(*batch(rng)))",
    ]


def _given(drawn: _Drawn, init: list[str]) -> list[str]:
    """A function that builds, and one that is given the session and what it runs."""
    given = [*dict.fromkeys([*drawn.fed, *drawn.eval_fed, drawn.train_op, "loss", "logits"])]
    fed = {name: value.replace("epoch", "0") for name, value in drawn.fed.items()}
    return [
        "",
        "",
        "def build():",
        *indented(drawn.lines),
        f"    return {', '.join(given)}",
        "",
        "",
        f"def train(sess, {', '.join(given)}):",
        "    rng = np.random.RandomState(4)",
        "    for i in range(5):",
        "        bx, by = batch(rng)",
        f"        _, value = sess.run([{drawn.train_op}, loss], feed_dict={_feed(fed)})",
        "        print('step', i, value)",
        "    tx, ty = batch(rng)",
        f"    print('test', sess.run(logits, feed_dict={_feed(drawn.eval_fed)}))",
        "",
        "",
        "def main():",
        f"    {', '.join(given)} = build()",
        "    with tf.Session() as sess:",
        *indented([*init, f"train(sess, {', '.join(given)})"], 2),
        "",
        "",
        "if __name__ == '__main__':",
        "    main()",
    ]


def _migrated(text: str) -> tuple[bool, str, str]:
    """Whether a program becomes native, what it becomes, and why it stays."""
    result = migrate([("program.py", text.encode())], True, False, native_sessions=True)
    native = all(one.state == NATIVE for one in result.programs) and bool(result.programs)
    after = next((str(one.after) for one in result.files if one.changed), text)
    said = [one.message for one in result.findings if one.state in ("kept", "refused")]
    return native, after, said[0] if said else ""


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--only", help="these numbers, by commas")
    parser.add_argument("--show", type=int)
    parser.add_argument("--towers", action="store_true", help="programs of two devices")
    parser.add_argument("--pipelines", action="store_true", help="datasets, RNNs, metrics, savers")
    parser.add_argument("--targets", default="tf2.15,tf2-latest")
    parser.add_argument("--keep", type=Path, help="leave the runs in this folder")
    parser.add_argument("--reasons", action="store_true", help="only why programs stay")
    options = parser.parse_args(argv)
    drawn = generated_towers.program if options.towers else program
    drawn = generated_pipelines.program if options.pipelines else drawn
    if options.show is not None:
        text = drawn(options.show)
        print(text, "-" * 80, _migrated(text)[1], sep="\n")
        return 0
    before: dict[str, tuple[str, str]] = {}
    after: dict[str, tuple[str, str]] = {}
    reasons: Counter[str] = Counter()
    numbers: dict[str, list[int]] = {}
    wanted: Sequence[int] = range(options.first, options.first + options.count)
    if options.only:
        wanted = [int(number) for number in options.only.split(",")]
    for number in wanted:
        text = drawn(number)
        native, migrated, reason = _migrated(text)
        if native:
            before[f"p{number}"] = (f"p{number}", text)
            after[f"p{number}"] = (f"p{number}", migrated)
        else:
            reasons[reason] += 1
            numbers.setdefault(reason, []).append(number)
    print(f"{len(after)} of {len(wanted)} native")
    for reason, times in reasons.most_common():
        print(f"  {times} stay: {reason} {numbers[reason][:5]}")
    if options.reasons:
        return 0
    wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        false_alarms.references({name: text for name, (_, text) in before.items()}, folder)
        for target in options.targets.split(","):
            live.run(target, {f"{name}.{target}": one for name, one in after.items()}, folder)
            for name in after:
                reference = sides.collect(folder, name, "before.py", false_alarms.REFERENCE)
                if reference.failure:
                    print(f"{name}: 1.15.5 {reference.failure}", flush=True)
                    continue
                found = false_alarms.judge(folder, name, f"{name}.{target}", target)
                if found.verdict != outcome.EQUIVALENT:
                    wrong += 1
                    causes = [one.cause for one in found.diagnosis]
                    print(f"{name} {target}: {found.reason[:300]} {causes}", flush=True)
    print(f"{wrong} not equal")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
