"""Writes docs/sessions.md: programs of sessions before and after, from fixtures that were run.

python docs/generate_sessions.py
"""

from __future__ import annotations

import json
from pathlib import Path

FIXTURES = Path(__file__).parents[1] / "fixtures" / "session"

HEAD = """\
# Sessions become TF2 code

<!-- Written by docs/generate_sessions.py from fixtures/session. -->

A program that drives a graph with a session becomes native where all of it is understood
([MGPU205](rules.md#mgpu205) says how, and `migrate-mgpu explain MGPU205`). What makes variables and
optimizers runs once, where it stood; each kind of `sess.run` becomes a `tf.function` with an
`input_signature`, whose parameters are the placeholders that were fed; the loop, the feeds and the
prints of values stay. The programs below are fixtures: `before` is TF1, `after` is what the tool
wrote, to the byte, and both were run by the parity harness, on 1.15.5 against 2.15.1 and 2.21.0.

A program that is not understood stays on the bridge as a whole, and its finding names the
statement and the reason; `migrate-mgpu --no-native-sessions` keeps all of them there. By judgement
stay fetches and feeds that are computed while the program runs, graphs that are built in the
training loop, feeds of tensors that are no placeholders, queues that a program fills by itself,
`import_meta_graph` and `partial_run`. A TF2 program saves variables alone, no graph beside them.
Where another program may read that graph (`import_meta_graph`, in the same folder or with the same
modules, of a file that is not seen to be another one), and asks it for placeholders and values by
constant names alone, the one that saves writes what is asked for in TF1's form, by those names; the
reader stays as it is, on the bridge, and reads the files that TF1 wrote as well. Where it asks for
more, or what it asks for cannot be found, both stay.

Programs that import the same modules (`train.py` and `evaluate.py` with one `model.py`) become TF2
code together: each changes the functions that it calls, and what several of them call they must
change alike. Where one of them has to stay, all do, and the finding names it; but a module in which
only names change (`tf.random_normal` to `tf.random.normal`), and nothing that is called is another
thing then, serves programs on the bridge as well. A program that only restores and computes becomes
TF2 code with those that train.

A class that several programs make their model of gets the steps of all of them: `model.train_step`
for `train.py`, `model.compute_probabilities` for `predict.py`. Where one of these programs cannot
become native, or needs the class in another form (a constructor that returns early for it), all
stay, and the findings say which.

## What a step becomes

| in TF1 | in TF2 |
| --- | --- |
| `tf.placeholder` that is fed | a parameter, with its `tf.TensorSpec` |
| `sess.run([train_op, loss], feed_dict={...})` | `train_step(...)`: the loss of before the update |
| `tf.trainable_variables()` in a loss, perhaps filtered by name | the list of what is trained |
| `tf.losses.get_regularization_loss()`, its collection | `layer.losses`, of Keras's regularizers |
| a variable that is fetched | `variable.numpy()`, of after the update |
| `minimize`, `compute_gradients`, `apply_gradients` | a tape and a Keras optimizer |
| `apply_gradients(zip([w_grad, b_grad], variables))`, which are fed | they are parameters |
| gradients that several runs add up before they are applied | a function adds, one applies |
| a rate or a probability that is fed | a parameter |
| functions of the author's that several steps need | plain functions, shared |
| `tf.layers` | Keras layers, made once |
| a tensor that a function reads as a global | a parameter of it, given at each call |
| a loop that adds to tensors (`embed += ...`) | the loop, in the step |
| `var_list=theta_G + theta_Q`, `weights.values()` | the lists, put together |
| `reset_default_graph()` and one more session | steps of their own for what is built behind it |
| a later session of other variables, in the same graph | the same: steps of their own |
| `train()` or `test()`, which each make model and session | the model has the steps of both |
| `train()`, `evaluate()` with a graph each | variables and steps of each its own |
| a function that builds a graph anew at each call | the same, at each call |
| a function that resets the graph and makes a `Model` at each call | an object at each call |
| a session each in `train` and in `test`, which restores | the same variables; `saver.restore` |
| `tf.train.Saver()` of what functions make | their classes' variables, by TF1's names |
| `tf.train.Saver()` in what runs an object's graph | `Saver(model.checkpoint_variables)` |
| `tf.summary.merge_all()` there | the object's summaries, merged in the step |
| `tf.train.shuffle_batch`, its readers and producers | a `tf.data.Dataset`, and its iterator |
| `MonitoredTrainingSession(hooks=[StopAtStepHook(...), ...])` | the loop and saver that it is |
| a `SessionRunHook` of the program's own | a class whose methods are called around the step |
| `tf.random_normal(shape, seed=3)` in one step | the same numbers |
| `while not coord.should_stop():` | `while True:`, until the data ends |
| a function that ends with `iterator.get_next()` | one that gives its dataset |
| `x, y = sess.run(iterator.get_next())` beside a model, which is fed them | `iterator.get_next()` |
| `return tf.nn.bidirectional_dynamic_rnn(...)` | `return outputs_fw, outputs_bw` |
| `Net(tf.train.MomentumOptimizer, momentum=0.9)` | `Net('Momentum')`, and a chain in the class |
| `tf.summary.merge_all("train")` of `collections=["train"]` | those summaries, merged |
| `from_string_handle(handle, ...)`, and runs that are fed handles | `next_train`, fed to each |
| `tf.contrib.crf.crf_log_likelihood(...)` | a function, and a variable of its transitions |
| `sess = tf.Session()` once more, which restores a checkpoint | the same variables |
| `if training:` around a session's block | the same condition, around the steps that it runs |
| `loaded_graph.get_tensor_by_name('x:0')` of the program's own graph | `x`; its saver restores |
| a later session that only computes, without variables | computed where it stands |
| a session in each turn of a loop, which restores a checkpoint | the loop, which restores it |
| `Saver(ema.variables_to_restore())` | the variables, by the names of their averages |
| `kernel = tf.get_variable(...)` in one layer after the other | `conv1_kernel`, `conv2_kernel` |
| `tf.reduce_mean(tf.cast(...))` of two arrays, in any function | computed where it stands |
| `if kind == "lasso": loss = ... else: loss = ...` of a constant | the same branches, in the step |
| `if METHOD == 'clip':` around parts, and around what runs them | a step for each branch |
| `x.get_shape()[-1]` as the size of variables | `build(self, input_shape)` of a class |
| `shape[1] * shape[2] * shape[3]` behind convolutions, as one | `7 * 7 * 64` |
| `width = int(net.get_shape()[1])` in a loop of layers | `width = size` at the end of a turn |
| `kernels.reverse()` of weights that a loop put into a list | `kernels[::-1]` |
| `feed_dict={parts['x']: rows}` of a function's dictionary | a parameter `x` |
| `weights['w1'] = tf.Variable(...)`, of a dictionary that is filled | a variable `w1` |
| `y = tf.Variable(..., name='bias')` and `y = x * w + y` | `bias`, and `y` computed of it |
| `head = tf.layers.Dense(1)`, which is applied once | a Keras layer |
| `b = sess.run(b)`, or `b = 0`, and the variable `b` is needed later | `b_value` |
| `THREADS = 4` below the graph, and a config that reads it | the constant above the graph |
| a function that returns the list of its variables as well | its statements, where it is called |
| `sess.run(tf.sigmoid(z))` of a loop's own number `z` | `tf.sigmoid(z).numpy()` |
| `x = tf.placeholder(...) / 255.`, and `x` is fed | a parameter: what is fed is not divided |
| `contrib.seq2seq.sequence_loss`, `tf.image.resize_images` | a function beside the program |
| `lrelu = lambda x: tf.maximum(x, 0.2 * x)` | a function |
| `a, b = [tf.Variable(p) for p in starts]` | a variable in each statement |
| `sess.run(tf.sigmoid(out), ...)` in several places | one function |
| `BasicLSTMCell`, `dynamic_rnn` | a cell with TF1's weights and names, `tf.keras.layers.RNN` |
| `AttentionWrapper(cell, BahdanauAttention(8, x), 8)` | a cell, and `rnn.cell.attend(x)` |
| `MultiRNNCell(cells, state_is_tuple=False)`, whose state is fed | a cell with one state |
| `LSTMCell(4, state_is_tuple=False)`, whose state is read | `JoinedCells([LSTMCell(4)])` |
| `dynamic_decode(BasicDecoder(cell, helper, ...))` | `decoder(...)`, `decoder.greedy(...)` |
| `dynamic_decode(BeamSearchDecoder(cell, ...))` | `decoder.beams(...)` |
| `self.writer = tf.summary.FileWriter(...)` in a method | `tf.summary.create_file_writer(...)` |
| `if y is not None: feed_dict[self.y] = y` | `feed_dict['y'] = y`, `step(**feed_dict)` |
| `saver = tf.train.Saver()` in a function beside a model | `Saver(model.checkpoint_variables)` |
| `Network = Network(...)` | `class NetworkModel`, `Network = NetworkModel(...)` |
| `saver = tf.train.Saver()` in a method | `self.saver`, made once, which deletes no file either |
| `def test(self, sess, x)`, which nobody calls | `def test(self, x)`, where others get `sess` |
| `if name == "adam": opt = ...` / `elif ...` | the same chain, with TF2's optimizer in each arm |
| `print(logits)`, `print(x.get_shape())` | nothing: TF2 has no such tensors; a finding says so |
| `show(x)` of a function that prints nothing but what a tensor is called | the same |
| a program that applies a model, or only computes with what is fed | the steps that it runs |
| an optimizer that nothing runs, in such a program | nothing; a finding says so |
| `print("%d %d" % sess.run((a, b)))` | a tuple of the values, where one was given |
| `import tensorflow.contrib.slim as slim`, which nothing uses | nothing |
| `[tf.assign(t, e) for t, e in zip(target, evaluated)]` | a step that goes through both lists |
| `collections=` of the author's own, and `tf.get_collection` of those | lists of the variables |
| a layer with the name of an earlier one, and `reuse=True` | the same layer |
| `with tf.device(...)` | such blocks around variables, and in the steps |
| a function that makes layers, beside the `main` that calls it | a class of layers, made once |
| its later calls with `reuse` | calls of the same object |
| `scope.reuse_variables()`, `with tf.variable_scope(scope, reuse=True)` around calls | the same |
| `[v for v in tf.trainable_variables() if 'd_' in v.name]` | the variables of those layers |
| `self.loss`, `self.train_op` of a class that builds its graph | `self.train_step` |
| `model = Model(3)`, and `model.x`, `model.loss` | those parts, by their own names |
| several objects of such a class | variables and steps of each |
| an actor and a critic, each a class with a graph of its own | the same of each class |
| a method that the constructor calls for several networks | a class of layers |

## In public repositories

What becomes of programs with sessions, by the command that anyone can run on a folder of
repositories. Its text says what counts: a program trains where one of its files minimizes
something, or fetches what is called a training step; programs that only restore count as well
where they import such a file.

```sh
python tests/corpus/sessions.py FOLDER
```

*Not run by the tests: it reads repositories of your choice.*

880 programs of 30 repositories train, 351 of them in one of the 30 (notebooks of language models);
of those of the other 29, 56 % become native:

| programs | native | bridge | refused |
| --- | --- | --- | --- |
| straight scripts | 130 | 14 | 8 |
| functions or classes that build, and one scope that runs | 315 | 138 | 8 |
| sessions in objects, or handed to functions | 60 | 206 | 1 |
| all that train | 505 (57 %) | 358 | 17 |
| only apply | 22 | 100 | 1 |

The tool was built on these. Of 26 repositories that nobody had looked at, 37 of 170 programs
that train were native at first sight (22 %), and 51 once some obstacles were taken away; of 23
others after that 12 of 88 (14 %), and then 15. Of 31 more, three are collections of lessons
and scripts: 84 of their 118 programs were native at first sight, and 2 of the 40 of the other
28, then 6. Of 20 repositories after that, which have a program or two each, none of 58 was; of 9
more, one of 7, and 4 of 6 whose training stands in a class of another file. Most of what stays
holds its session in objects, and has three to eight obstacles.

Among 318 repositories that were gathered for other parts of the tool as well (Estimators, towers,
configurations), 261 have programs with sessions that train: 483 of 1,814 were native, 27 %, before
147 more of the 30 above became so.

The same command over 116 repositories of later sets, 94 of which train with sessions (most of them
were used while building):

| programs | native | bridge | refused |
| --- | --- | --- | --- |
| straight scripts | 180 | 17 | 9 |
| functions or classes that build, and one scope that runs | 129 | 50 | 1 |
| sessions in objects, or handed to functions | 60 | 347 | 96 |
| all that train | 369 (42 %) | 414 | 106 |

Of 30 others, gathered after that, for some of which obstacles were taken away as well, 62 of 116
programs that train are native: 14 of 19 straight scripts, 43 of 57 of the second row, 5 of 40 of
the third. Four of the 30 are collections of lessons, with 58 of 84; of the 26 with one to three
programs each, 4 of 32 were native, and 6 once two more obstacles were taken away. Of 14 more that
nobody had looked at, 7 of 36 are native: 5 of 8 of the first two rows, 2 of 28 of the third.

Of 11 more that nobody had looked at, mostly collections of lessons, **94 of 124 programs that
train were native at first sight**: 78 of 93 of the first two rows, 16 of 31 of the third. All
native scripts of these (97, those that only apply among them) were started beside their
originals on 1.15.5, for six steps, by `migrate-mgpu parity`: 72 were equal, in losses,
gradients and weights, and none was different. The other 25 lack their data, a package or an
answer, walk through a set in another order each time, end in NaN on both sides, or do not run
on 1.15.5 either.

## A step's price

A step that computes next to nothing costs more than in TF1: what calls a `tf.function` and a Keras
optimizer is Python. `TF_ENABLE_ONEDNN_OPTS=0` may help where tensors are small: TensorFlow 2 has
oneDNN switched on, TensorFlow 1 has none. `python benchmarks/sessions.py` measures four programs (a
line through points, a dense, a convolutional and a recurrent network) beside their originals, on
your machine.
"""

SHAPES = (
    (
        "fed_rate",
        "A script",
        "Specs stand where the placeholders stood; the learning rate, which is fed, is given to\n"
        "the optimizer before the update.",
    ),
    (
        "handed_session",
        "Functions that build and functions that run",
        "The function that built the graph makes the variables and returns steps; functions that\n"
        "got the session and tensors get the steps.",
    ),
    (
        "class_session",
        "A class",
        "The constructor makes the variables and the optimizer; its object has the steps where it\n"
        "had a session and parts of the graph. Methods that only built are a part of the\n"
        "constructor, and the others keep their names, parameters and values.",
    ),
    (
        "gan",
        "Two optimizers",
        "Each has a step of its own, for its own variables; what both need stays in the author's\n"
        "functions.",
    ),
    (
        "queue_records",
        "An input queue",
        "Producers, readers and batches become a dataset, in the place of the batch; the function\n"
        "that read of the queue takes a record, and the threads that filled it go with their\n"
        "coordinator. What shuffles draws another order in TF2; the harness takes it off both.",
    ),
)


def shape(name: str, title: str, text: str) -> str:
    folder = FIXTURES / name
    before, after = ((folder / f"{side}.py").read_text("utf-8") for side in ("before", "after"))
    targets = json.loads((folder / "proof.json").read_text("utf-8"))["targets"]
    results = [one for found in targets.values() for one in found]
    worst = max(value for one in results for value in one["largest_relative"].values())
    found = f"by more than {worst:.1g}, relative" if worst else "at all"
    return (
        f"\n## {title}\n\n{text} In {results[0]['steps'][0]} steps nothing differs\n"
        f"{found} (`fixtures/session/{name}`).\n\n"
        f"Before:\n\n```python\n{before}```\n\nAfter:\n\n```python\n{after}```\n"
    )


def page() -> str:
    return HEAD + "".join(shape(*one) for one in SHAPES)


if __name__ == "__main__":
    Path(__file__).with_name("sessions.md").write_text(page(), encoding="utf-8")
