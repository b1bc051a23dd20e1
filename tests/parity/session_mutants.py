"""Mistakes in what the tool writes for sessions, and what the harness makes of them.

    python tests/parity/session_mutants.py [NAME ...]              on real TensorFlow
    python tests/parity/session_mutants.py --record [NAME ...]     and keep what was recorded

NAME is a mutant's, or that of a fixture, whose mutants are all meant.

Each is a change of the ``after.py`` of a fixture of ``fixtures/session``, or of its modules: a
pattern, which must be found, and what stands there instead. None of them crashes;
``test_session_mutants.py`` shows that all are seen. What is kept
(``tests/parity/session_mutants/``) are both sides' records; one whose programs have changed is
stale, and fails.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
import tempfile
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import live
import records

from migrate_mgpu.parity import verdict
from migrate_mgpu.parity.compare import outcome
from migrate_mgpu.parity.compare.tolerances import Tolerances
from migrate_mgpu.parity.runs import sides

SESSIONS = Path(__file__).parents[2] / "fixtures" / "session"
STORED = Path(__file__).parent / "session_mutants"
REFERENCE, TARGET = "tf1.15", "tf2.15"


@dataclass(frozen=True)
class Mutant:
    """A mistake.

    Attributes:
      fixture: whose ``after.py`` is changed, or whose modules.
      old: a regular expression, found at least once; all places are changed.
      causes: one of them must be the first that is named; none where the numbers tell no cause.
    """

    fixture: str
    old: str
    new: str
    causes: tuple[str, ...] = ()

    def text(self) -> live.Text:
        """The wrong program.

        Raises:
          AssertionError: the pattern is not in it any longer.
        """
        text = side_of(self.fixture, "after")
        modules = {"": text} if isinstance(text, str) else text
        changed = {
            name: re.sub(self.old, self.new, module, flags=re.M) for name, module in modules.items()
        }
        assert changed != modules, f"{self.old!r} is not in {self.fixture}/after"
        return changed[""] if isinstance(text, str) else changed


def side_of(fixture: str, side: str) -> live.Text:
    """A fixture's TF1 program, or the one that was made of it."""
    alone = SESSIONS / fixture / f"{side}.py"
    if alone.exists():
        return alone.read_text("utf-8")
    modules = sorted((SESSIONS / fixture / side).glob("*.py"))
    return {module.name: module.read_text("utf-8") for module in modules}


_APPLY = r"^( *)(\w*optimizer|adam)\.apply_gradients\(zip\(gradients, (\w+)\)\)\n"
_AGAIN = r"\g<0>\1\2.apply_gradients(zip(gradients, \3))\n"

MUTANTS: dict[str, Mutant] = {
    # What nothing of TF1's ran, and what a module of its own has.
    "an assignment that nothing ran in TF1": Mutant(
        "unrun_assignments",
        r"^( +)product = tf\.reduce_sum\(.*\n",
        r"\g<0>\1self.total.assign(self.total + product * x[i] * x[j])\n",
    ),
    "a layer of its own module without its activation": Mutant(
        "modules_of_its_own", r"            h = self\.activation\(h\)\n", "            pass\n"
    ),
    "a level of ratings that is taken away": Mutant(
        "private_names", r"tf\.add\(both, level\)", "tf.subtract(both, level)"
    ),
    "labels of a list of steps in the other order": Mutant(
        "rnn_listed_steps", r"zip\(logits, labels\)", "zip(logits, labels[::-1])"
    ),
    "a decoder that forgets its biases": Mutant(
        "turned_shapes", r"tf\.nn\.tanh\(tf\.add\(back, bias\)\)", "tf.nn.tanh(back)"
    ),
    # What a network's class tells of its loops.
    "slots by the names of other variables": Mutant(
        "told_names", r"(id\(variable\)\] for variable in variables)\]", r"\1[::-1]]"
    ),
    "slots of the other kind": Mutant(
        "told_names", r'\("/Adam", "/Adam_1"\)', '("/Adam_1", "/Adam")'
    ),
    "a setting that a loop changes too often": Mutant(
        "told_names", r"(?<=dense_2\(x\)\n)( *)units = units \+ 2", r"\1units = units + 3"
    ),
    "a weight that a function gets again, and leaves out": Mutant(
        "variables_again", r"rnn_cell_W\) \+ rnn_cell_b", "rnn_cell_W)"
    ),
    # An optimizer of two losses keeps one state, and counts the steps of both.
    "slots of one loss by the names of the other's variables": Mutant(
        "shared_optimizer",
        r"build\(\[\*train_d_variables, \*train_g_variables\]\)",
        "build([*train_g_variables, *train_d_variables])",
    ),
    "an optimizer of two losses that counts the steps of one": Mutant(
        "shared_optimizer",
        r"^( *)optimizer\.apply_gradients\(zip\(gradients, train_g_variables\)\)\n",
        r"\g<0>\1optimizer.iterations.assign_sub(1)\n",
    ),
    # Of one form each, which no other fixture has.
    "weights that an assignment by a name does not reach": Mutant(
        "named_assignments", r"^ *model\.weights\.assign\(weights\)\n", ""
    ),
    "an assignment that replaces what it should be added to": Mutant(
        "named_assignments", r"model\.bias\.assign_add", "model.bias.assign"
    ),
    "a term of a method that a loss does not have": Mutant(
        "unread_methods", r" \+ 0\.001 \* tf\.nn\.l2_loss\(out\)", ""
    ),
    "one of two layers of a loop, applied twice": Mutant(
        "unread_methods", r"zip\(range\(2\), self\.w_list\)", "zip(range(1), self.w_list)"
    ),
    "an older TensorFlow's order of arguments": Mutant(
        "older_names", r"logits=logits, labels=labels", "logits=labels, labels=logits"
    ),
    "an activation that another module's layer loses": Mutant(
        "older_names", r"tf\.nn\.relu\(self\.linear\(both\)\)", "self.linear(both)"
    ),
    "a penalty of a branch that nobody adds": Mutant(
        "penalty_in_branch",
        r"tf\.reduce_mean\(real_score\) \+ penalty",
        "tf.reduce_mean(real_score)",
    ),
    "a penalty of another branch": Mutant(
        "penalty_in_branch", r"tf\.square\(norm - 1\.0\)", "tf.square(tf.maximum(0.0, norm - 1.0))"
    ),
    "a network that a branch applies to what is between, the other way round": Mutant(
        "penalty_in_branch",
        r"share \* real \+ \(1\.0 - share\) \* painted",
        "share * painted + (1.0 - share) * real",
    ),
    "elements of a pipeline that are told twice to be brighter": Mutant(
        "applied_pipelines", r"picture \* 1\.1", "picture * 1.21"
    ),
    "a pipeline that begins with its second element": Mutant(
        "applied_pipelines", r"shuffle\(1\)\.repeat\(\)", "skip(1).shuffle(1).repeat()"
    ),
    "a block that a counted loop applies twice": Mutant(
        "counted_blocks",
        r"x = two_convs_layer\(x\)",
        "x = two_convs_layer(two_convs_layer(x))",
    ),
    "a critic that is not told what is real": Mutant(
        "counted_blocks", r"real = criticize\(clean\)", "real = criticize(restored)"
    ),
    "weights that a decoder is told, not turned over": Mutant(
        "tied_weights",
        r"W_prime = tf\.transpose\(W\)  # tied weights",
        "W_prime = tf.stop_gradient(tf.transpose(W))",
    ),
    "a term that a function's list does not have": Mutant(
        "terms_in_function", r"for i in range\(num_coeffs\):", "for i in range(num_coeffs - 1):"
    ),
    "pairs of factors that are counted twice": Mutant(
        "table_in_loops", r"second = 0\.5 \* ", "second = 1.0 * "
    ),
    "a memory that is read once too often": Mutant(
        "memory_hops", r"for _ in range\(hops\):", "for _ in range(hops + 1):"
    ),
    "a state that what a hop finds is not added to": Mutant(
        "memory_hops", r"state = state \+ answer", "state = answer"
    ),
    "gates that are not normalized": Mutant(
        "normalized_cells",
        r"\[self\.normalized\(gate, part\) for part, gate in gates\]",
        "[gate for part, gate in gates]",
    ),
    "a cell that forgets more": Mutant("normalized_cells", r"cell\(0\.5\)", "cell(1.0)"),
    "the future's worth that a buffer's batch does not have": Mutant(
        "replay_buffer", r"rewards \+ 0\.9 \* best", "rewards"
    ),
    "a variable that is read as it was before the step": Mutant(
        "kept_variables",
        r"weights = variables\[0\]  # what",
        "weights = tf.identity(variables[0])  # what",
    ),
    "a side of two that reads the other text": Mutant(
        "siamese_scopes", r"tf\.reverse\(inputs, \[1\]\)", "inputs"
    ),
    # What hooks do around a step.
    "a step more than its hook allows": Mutant(
        "monitored_training", r"should_stop = step >= STEPS", "should_stop = step > STEPS"
    ),
    "not saved at the end": Mutant(
        "monitored_queues", r"^if global_step\.numpy\(\) != saved_step:\n.*\n", ""
    ),
    "hooks asked in another order": Mutant(
        "monitored_hooks",
        r"^( +hook\.after_run\(.*\n)( +hook_2\.after_run\(.*\n)",
        r"\2\1",
    ),
    "steps counted from zero": Mutant(
        "monitored_plain", r"global_step\.numpy\(\) \+ limit", "limit - 1"
    ),
    # What a step does.
    "applied twice": Mutant("linear_regression", _APPLY, _AGAIN, ("applied-twice",)),
    "applied twice, Adam": Mutant("handed_session", _APPLY, _AGAIN, ("applied-twice",)),
    "applied twice, by an object of another class": Mutant(
        "trainer_class", _APPLY, _AGAIN, ("applied-twice",)
    ),
    "applied twice, momentum": Mutant("named_feeds", _APPLY, _AGAIN, ("applied-twice",)),
    "an item of what is fed keeps the value that it had": Mutant(
        "feeds_of_functions", r"^    feed_dict\['scale'\] = 0\.5\n", ""
    ),
    "some variables are not trained, of an object that is built outside": Mutant(
        "class_built_outside",
        r"\[\*weights\.values\(\), \*biases\.values\(\)\]",
        "[*weights.values()]",
        ("not-trained",),
    ),
    "not applied": Mutant("logistic_accuracy", _APPLY, "", ("not-applied",)),
    "one of two optimizers not applied": Mutant(
        "gan", r"^    G_solver_optimizer\.apply_gradients.*\n", "", ("not-applied",)
    ),
    "averages that are read, and never move": Mutant(
        "averages_read", r"^        variable_averages\.apply\(variables\)\n", ""
    ),
    "averages that are read, and move before the variables": Mutant(
        "averages_read",
        r"^( +optimizer\.apply_gradients.*\n.*\n)( +variable_averages\.apply\(variables\)\n)",
        r"\2\1",
    ),
    "variables that go on in a later session": Mutant(
        "sessions_in_turn", r"^w\.assign\(first_w\)\n", ""
    ),
    "a count of steps that goes on in a later session": Mutant(
        "sessions_in_turn", r"^steps\.assign\(first_steps\)\n", ""
    ),
    "a later session under a condition that restores nothing": Mutant(
        "sessions_by_one_name", r"^    saver\.restore\(save_path\)\n", ""
    ),
    "a saver made once that does not restore": Mutant(
        "object_by_its_class", r"^saver\.restore\(path\)\n", ""
    ),
    "a graph that is loaded with another checkpoint": Mutant(
        "sessions_by_one_name", r"^saver\.restore\(last_path\)", "saver.restore(save_path)"
    ),
    "variables that are not initialized again": Mutant(
        "initialized_again", r"^W1\.assign\(.*\n", ""
    ),
    "first values that are kept too late": Mutant(
        "initialized_again",
        r"^(first_b1 = .*\n)((?s:.*?))^(b1\.assign)",
        r"\2\1\3",
    ),
    "a critic that is told what the actor would do": Mutant(
        "fed_actions",
        r"(value, next_value = get_value_and_next_value\(.*), action_tensor\)",
        r"\1, get_action_tensor(state_tensor))",
    ),
    "a code that is drawn with its logarithm": Mutant(
        "fed_latent", r"tf\.exp\(log_sigma\) \* noise", "log_sigma * noise"
    ),
    "a variable that keeps its value where all begin again": Mutant(
        "saved_before", r"scale\.assign\(first_scale\)", "scale.assign(scale)"
    ),
    "a first turn that sends no gradient": Mutant(
        "first_turns", r"    out = code\n", "    out = tf.stop_gradient(code)\n"
    ),
    "a number by the name of its constant": Mutant(
        "named_constant", r"width_value = -0\.5", "width_value = 0.5"
    ),
    "a layer of the next item that is left out": Mutant(
        "next_blocks", r"net = conv_layer\(net\)", "net = tf.stop_gradient(conv_layer(net))"
    ),
    "an image of a shape that nobody asked for": Mutant(
        "asked_shapes",
        r"tf\.reshape\(x, \[-1, side, side, sizes\[0\]\]\)",
        "tf.transpose(tf.reshape(x, [-1, side, side, sizes[0]]), [0, 2, 1, 3])",
    ),
    "a layer that was fixed, and learns": Mutant(
        "frozen_layers", r"trainable=False, name='told'", "name='told'"
    ),
    "a step down the slope": Mutant(
        "given_gradients", r"output_gradients=slope", "output_gradients=-slope"
    ),
    "a slope of one": Mutant("given_gradients", r", output_gradients=slope", ""),
    "rows of the batch where others are fed": Mutant(
        "fed_elements",
        r"compute_loss\(test_points, test_heights\)",
        "compute_loss(batch[0], batch[1])",
        ("printed",),
    ),
    "a fed state that begins anew": Mutant(
        "fed_states", r"'begin': last", "'begin': np.zeros([2, 1, UNITS])"
    ),
    "a fed state whose halves are exchanged": Mutant(
        "fed_states",
        r"tf\.stack\(\[states\[0\], states\[1\]\]\)",
        "tf.stack([states[1], states[0]])",
    ),
    "a fetched gradient that is twice as large": Mutant(
        "fetched_gradients",
        r"return by_hand, slope_gradient, shift_gradient",
        "return by_hand, 2 * slope_gradient, shift_gradient",
        ("printed",),
    ),
    "a momentum that is lost beside a returned session": Mutant(
        "returned_session", r", momentum=0\.9", "", ("momentum",)
    ),
    "losses of a sequence divided by its length": Mutant(
        "sequence_losses",
        r"tf\.reduce_sum\(losses\) / self\.batch",
        "tf.reduce_sum(losses) / self.steps",
    ),
    "lengths that are left out where time comes first": Mutant(
        "time_major", r"rnn\(inputs, mask=mask\)", "rnn(inputs)"
    ),
    "Keras's epsilon for tables of arrays": Mutant(
        "arrays_of_floats", r", epsilon=1e-8", "", ("epsilon",)
    ),
    "a backward network that forgets less": Mutant(
        "rnn_twins", r"forget_bias=0\.5", "forget_bias=1.0"
    ),
    "a list of inputs that keeps all": Mutant("rnn_twins", r"step_2, rate=0\.1", "step_2, rate=0"),
    "pictures cut out of the corner": Mutant(
        "sized_batches",
        r"tf\.image\.resize_with_crop_or_pad\(picture, CROP, CROP\)",
        "picture[:CROP, :CROP]",
    ),
    "pictures that are normalized with another bias": Mutant(
        "sized_batches", r"bias=1\.0", "bias=2.0"
    ),
    "a momentum that is lost beside tests": Mutant(
        "graph_beside_tests", r", momentum=0\.5", "", ("momentum",)
    ),
    "averages that move in the step of others": Mutant(
        "gan_averages", r"^        average\.assign\(value\)$", "        pass", ("printed",)
    ),
    "averages that move faster": Mutant(
        "gan_averages", r"momentum=0\.8", "momentum=0.5", ("printed",)
    ),
    "peepholes that are closed": Mutant(
        "rnn_peepholes", r"use_peepholes=sequence_length", "use_peepholes=False"
    ),
    "a stack that reads past the end of a sequence": Mutant(
        "rnn_lengths", r"rnn\(x, mask=mask\)", "rnn(x)"
    ),
    "attention that is twice as sharp": Mutant(
        "rnn_attention",
        r"tf\.nn\.softmax\(tf\.reduce_sum\(self",
        "tf.nn.softmax(2.0 * tf.reduce_sum(self",
    ),
    "a discriminator's noise that is judged as real": Mutant(
        "wgan_gp", r"grad_norm - 1\.0", "grad_norm - 2.0"
    ),
    "routing that sends gradients back": Mutant(
        "routed_capsules", r"tf\.stop_gradient\(votes\)", "votes"
    ),
    "actions that learn from the first alone": Mutant(
        "sampled_actions", r"labels=tf\.stop_gradient\(action\)", "labels=tf.zeros_like(action)"
    ),
    "an iterator's step without momentum": Mutant("iterator_ends", r", momentum=0\.9", ""),
    "a rate that falls faster": Mutant("rate_changes", r"power=2\.0", "power=1.0"),
    "a second rate that does not fall": Mutant("rates_in_turn", r"0\.2, 2, 0\.9", "0.2, 2, 1.0"),
    "the second of two optimizers that is the first": Mutant(
        "optimizers_in_turn", r"Adam\(0\.01, epsilon=1e-8\)", "SGD(0.01)"
    ),
    "a second graph with another rate": Mutant("two_graphs", r"Adagrad\(0\.5, ", "Adagrad(0.6, "),
    "layers by a function of the file with another activation": Mutant(
        "add_layer", r"activation_function=tf\.nn\.relu", "activation_function=tf.nn.tanh"
    ),
    "pools of other pictures": Mutant(
        "built_in_loops", r"tf\.nn\.max_pool2d\(features", "tf.nn.avg_pool2d(features"
    ),
    "a judge that takes all for real": Mutant(
        "called_networks", r"labels=tf\.zeros_like\(fake\)", "labels=tf.ones_like(fake)"
    ),
    "a target that gets gradients": Mutant(
        "class_methods", r"tf\.stop_gradient\(q_target\)", "q_target * 0.5"
    ),
    "averages of which the bias is not taken": Mutant(
        "conditional_normalization",
        r"self\.biased / \(1\.0 - self\.momentum\*\*self\.steps\)",
        "self.biased",
    ),
    "a novelty that is halved": Mutant(
        "fixed_network", r"tf\.square\(wanted - out\)", "0.5 * tf.square(wanted - out)"
    ),
    "a penalty that counts once": Mutant("graphs_in_turn", r"0\.5 \* tf\.add_n", "1.0 * tf.add_n"),
    "a mean over all letters": Mutant(
        "feedable_iterators", r"tf\.reduce_sum\(letters \* inside, 1\)", "tf.reduce_sum(letters, 1)"
    ),
    "a table's layer with another activation": Mutant(
        "filled_tables", r"activation=tf\.nn\.tanh, name='h2'", "activation=tf.nn.relu, name='h2'"
    ),
    "a parallel model without momentum": Mutant("model_parallel", r", momentum=0\.9", ""),
    "sums that begin with another value": Mutant("named_graph", r"epsilon=0\.0", "epsilon=0.1"),
    "a gate that is not closed": Mutant(
        "nested_loops", r"tf\.sigmoid\(x\[:, :, tf", "tf.tanh(x[:, :, tf"
    ),
    "a step by partial layers without momentum": Mutant("partial_layers", r", momentum=0\.9", ""),
    "noise that is dropped with another rate": Mutant(
        "random_seeds", r"rate=0\.4, seed=SEED", "rate=0.5, seed=SEED"
    ),
    "images that are resized by their nearest points": Mutant(
        "resized_images", r"tf\.raw_ops\.ResizeBilinear\(", "tf.raw_ops.ResizeNearestNeighbor("
    ),
    "a speech step without momentum": Mutant("ctc_script", r", momentum=0\.9", ""),
    "a line that is fitted faster": Mutant("last_values", r"SGD\(0\.1\)", "SGD(0.12)"),
    "a layer with another slope": Mutant(
        "layers_dense", r"activation=leaky_relu", "activation=tf.nn.relu"
    ),
    "an agent that takes the worst for the best": Mutant(
        "agent_beside", r"tf\.reduce_max\(q_next", "tf.reduce_min(q_next"
    ),
    "a chosen step without momentum": Mutant("chosen_beside", r", momentum=0\.9", ""),
    "a given optimizer with another decay": Mutant(
        "given_optimizers", r"beta_1=0\.8", "beta_1=0.9"
    ),
    "two networks of another module with another decay": Mutant(
        "gan_beside", r"beta_1=0\.5", "beta_1=0.9"
    ),
    "a decay that counts twice beside a runner": Mutant(
        "runner_beside", r"weight_decay \* tf\.nn\.l2_loss", "2.0 * weight_decay * tf.nn.l2_loss"
    ),
    "a step over slices without momentum": Mutant("queue_slices", r", momentum=0\.9", ""),
    "a restored layer without momentum": Mutant("saver_names", r", momentum=0\.8", ""),
    "averages of another module that move faster": Mutant(
        "parts_elsewhere", r"momentum=0\.8, name='norm'", "momentum=0.5, name='norm'"
    ),
    "a second weight that is not regularized": Mutant(
        "variables_of_functions", r"tf\.nn\.l2_loss\(self\.w2\)", "0.0 * tf.nn.l2_loss(self.w2)"
    ),
    "a line with another rate": Mutant(
        "unread_functions", r"SGD\(learning_rate=0\.1\)", "SGD(learning_rate=0.11)"
    ),
    "described layers with another rate": Mutant("described_parts", r"SGD\(0\.2\)", "SGD(0.25)"),
    "vectors that are not set before the first step": Mutant(
        "assigned_first", r"^assign_embedding\(.*\n", "", ("first-values",)
    ),
    "weights that are not scaled before the first step": Mutant(
        "assigned_first", r"^assign_weights\(\)\n", "", ("first-values",)
    ),
    "another number added before the first step": Mutant(
        "assigned_first", r"assign_add\(0\.5\)", "assign_add(0.25)", ("first-values",)
    ),
    "a number added twice before the first step": Mutant(
        "assigned_first", r"^assign_add_bias\(\)\n", r"\g<0>\g<0>", ("first-values",)
    ),
    "a copy between objects, the other way": Mutant(
        "copied_objects", r"p\.assign\(q\)", "q.assign(p)", ("first-values",)
    ),
    "a copy between objects that is not made at first": Mutant(
        "copied_objects", r"^ +target\.copy_from\(network\)\n", "", ("first-values",)
    ),
    "a network that does not follow the other one": Mutant(
        "copied_objects", r"^ +follow_ops\(target, network\)\n", ""
    ),
    "a share for the other network": Mutant(
        "copied_objects", r"share \* q \+ \(1\.0 - share\) \* p", "share * p + (1.0 - share) * p"
    ),
    "a copy between scopes, the other way": Mutant(
        "copied_by_scope",
        r"ours\.assign\(theirs\)",
        "theirs.assign(ours)",
        ("first-values",),
    ),
    "a copy between scopes that leaves out the first variable": Mutant(
        "copied_by_scope",
        r"zip\(dest\.variables, src\.variables\)",
        "list(zip(dest.variables, src.variables))[1:]",
    ),
    "a network that does not follow the other scope": Mutant(
        "copied_by_scope", r"^ +follow_ops\(late, online, 0\.25\)\n", "            pass\n"
    ),
    "another share of the other scope": Mutant(
        "copied_by_scope", r"online, 0\.25\)", "online, 0.3)"
    ),
    "a kept copy, the other way": Mutant(
        "kept_copies", r"t\.assign\(e\)", "e.assign(t)", ("first-values",)
    ),
    "a kept copy of one variable alone": Mutant(
        "kept_copies",
        r"zip\(self\.late\.params, self\.net\.params\)",
        "list(zip(self.late.params, self.net.params))[:1]",
        ("first-values",),
    ),
    "a kept share of the wrong network": Mutant(
        "kept_copies", r"SHARE \* e \+ \(1 - SHARE\) \* t", "SHARE * t + (1 - SHARE) * e"
    ),
    "gathered gradients that do not begin at zero again": Mutant(
        "fed_gradients",
        r"(update_step\(.*\))\n(.*\n).*sums\[i\] = value \* 0\n",
        r"\1\n\2            sums[i] = value\n",
        ("gathered-gradients",),
    ),
    "gathered gradients that are halved": Mutant(
        "fed_gradients", r"sums\[i\] \+= value", "sums[i] += 0.5 * value", ("gradient-scale",)
    ),
    "a fed gradient whose elements are turned round": Mutant(
        "fed_gradients",
        r"gathered = \[of_w1, of_b1, of_w2\]",
        "gathered = [of_w1, tf.reverse(of_b1, [0]), of_w2]",
    ),
    "gradients that are fed an episode too late": Mutant(
        "fed_gradients", r"== GATHERED - 1", "== 0 and episode"
    ),
    "sums of gradients that do not begin at zero again": Mutant(
        "summed_gradients", r"^ +run_begin\(\)\n", "", ("gathered-gradients",)
    ),
    "the last part's gradients for the sum of all": Mutant(
        "summed_gradients", r"total\.assign_add\(", "total.assign("
    ),
    "a sum of gradients for their mean": Mutant(
        "summed_gradients", r"total / PARTS for", "total for", ("gradient-scale",)
    ),
    "a part of a batch that is left out": Mutant(
        "summed_gradients",
        r"np\.split\(rows, PARTS\)",
        "np.split(rows, PARTS)[: PARTS - batch // 3]",
    ),
    "target network not replaced": Mutant(
        "target_network", r"^ +self\.run_replace_target\(\)\n", ""
    ),
    "a layer that is shared by name, and not trained there": Mutant(
        "shared_layers",
        r"c_hidden_drawn = hidden\(drawn\)",
        "c_hidden_drawn = tf.nn.relu(drawn @ tf.stop_gradient(hidden.kernel) + hidden.bias)",
    ),
    "a second network, where a scope says that it is the first": Mutant(
        "shared_by_scope",
        r"^discriminator = Discriminator\(\)\n((?s:.*?))fake_logits = discriminator\(",
        r"discriminator = Discriminator()\nsecond = Discriminator()\n\1fake_logits = second(",
    ),
    "copied the other way": Mutant(
        "target_network", r"zip\(target, evaluated\)", "zip(evaluated, target)"
    ),
    "copied from the other network in a function": Mutant(
        "copied_in_function", r"zip\(t_params, e_params\)", "zip(e_params, t_params)"
    ),
    "a loop whose state begins anew": Mutant(
        "loop_lists", r"^        before = state$", "        before = begin * 0.5"
    ),
    "an activation for all layers of a loop": Mutant(
        "layer_loops", r"tf\.nn\.tanh if i < len\(sizes\) - 1 else None", "tf.nn.tanh"
    ),
    "layers of a class that are not added up": Mutant(
        "class_loops", r"net \+= tf\.nn\.tanh", "net = tf.nn.tanh"
    ),
    "layers of a class that are not trained": Mutant(
        "class_loops", r", \*more_dense_layers\.trainable_variables", ""
    ),
    "tests what was trained last, not the best": Mutant(
        "train_and_test",
        r"^    saver\.restore\(.*\n",
        "",
        ("printed",),
    ),
    "dropout where it is evaluated": Mutant(
        "train_and_test", r"feed\(texts, labels, 1\.0\)", "feed(texts, labels, 0.5)"
    ),
    "rows of a table that are added up before they are clipped": Mutant(
        "sequence_tagger",
        r"^( +gradients = \[tf\.clip_by_value.*\n)( +gradients = \[tf\.convert_to_tensor.*\n)",
        r"\2\1",
    ),
    "what reads backwards reads forwards": Mutant(
        "sequence_tagger", r"bw_2\(embedded_back", "bw_2(embedded"
    ),
    "summaries of before the step, not of behind it": Mutant(
        "object_by_its_class",
        r"^( +loss_ = .*\n +print\(.*\n)((?:.*\n)+?)( +with writer)",
        r"\2\1\3",
    ),
    "moves between tags behind a sequence's end that count": Mutant(
        "random_fields", r"moved \* mask\[:, 1:\]", "moved"
    ),
    "applies the model of the session before, not the one that is restored": Mutant(
        "applied_model", r"^saver\.restore\(path\)\n", ""
    ),
    "a variable that is left out where its name means more": Mutant(
        "tied_in_loops", r"dense\(code\) \+ shift", "dense(code)"
    ),
    "the last layer is squashed as well": Mutant(
        "tied_in_loops", r"if i < len\(self\.sizes\) - 2", "if i < len(self.sizes)"
    ),
    "a decay that a network collects, and nobody adds": Mutant(
        "pooled_sizes", r" \+ tf\.add_n\(losses\)", ""
    ),
    "distances that are not scaled": Mutant("without_variables", r"scale \* tf\.sqrt", "tf.sqrt"),
    "drops activations where a model is applied": Mutant(
        "applied_model", r'"keep_prob": 1\.0', '"keep_prob": 0.5'
    ),
    "tests the model of the end, not the one that a method restores": Mutant(
        "methods_that_save", r"^    saver\.restore\(.*\n", ""
    ),
    "a rate that is fed and not taken": Mutant(
        "methods_that_save", r"^ +optimizer\.learning_rate\.assign\(.*\n", ""
    ),
    "the whole copied, not a share": Mutant(
        "soft_target", r"old\.assign\(\(1 - TAU\) \* old \+ TAU \* new\)", "old.assign(new)"
    ),
    "copied before the update": Mutant(
        "soft_target",
        r"^(    value = train_step.*\n)(    run_follow\(\)\n)",
        r"\2\1",
    ),
    "loss fetched after the update": Mutant(
        "linear_regression",
        r"^    return cost$",
        "    return tf.reduce_mean(tf.square(X * W + b - Y))",
        ("printed",),
    ),
    "loss of after the update, softmax": Mutant(
        "logistic_accuracy",
        r"^    return cost$",
        "    pred = tf.nn.softmax(tf.matmul(x, W) + b)\n"
        "    return tf.reduce_mean(-tf.reduce_sum(y * tf.math.log(pred), axis=1))",
        ("printed",),
    ),
    "what is fed is divided as well": Mutant(
        "fed_results", r"tf\.reshape\(tf_x, ", "tf.reshape(tf_x / 255.0, "
    ),
    "results fetched after the step": Mutant(
        "decay_and_lists",
        r"^(    results = .*\n)(    train_step\(.*\n)",
        r"\2\1",
        ("printed",),
    ),
    "a step for what is only fetched": Mutant(
        "decay_and_lists", r"^    train_step\(.*\n", r"\g<0>\g<0>", ("data-order", "step-count")
    ),
    "the step before the first is lost": Mutant(
        "linear_regression", r"range\(41\)", "range(1, 41)"
    ),
    "one step too many": Mutant("fed_rate", r"range\(8\)", "range(9)", ("step-count",)),
    "a later call told what it left to its default": Mutant(
        "shared_defaults", r"samples = generator\(z\)$", "samples = generator(z, alpha=alpha)"
    ),
    # Losses.
    "the loss of no method that a setting knows": Mutant(
        "chosen_loss", r"tf\.minimum\(\n *surrogate,\n *tf\.clip_by_value.*\)\)$", "surrogate)"
    ),
    "weight decay on biases as well": Mutant("decay_of_all", r" if 'bias' not in v\.name", ""),
    "one layer's regularization terms dropped": Mutant(
        "regularizers", r"\[\*dense\.losses, \*output_layer\.losses\]", "dense.losses"
    ),
    # Steps that optimize_loss makes.
    "a step of optimize_loss that does not clip": Mutant(
        "optimize_loss", r"^ *gradients, _ = tf\.clip_by_global_norm\(gradients, 0\.25\)\n", ""
    ),
    "averages that a step of optimize_loss leaves": Mutant(
        "optimize_loss",
        r"(    is_training = True\n(?s:.*?)forward\(x, )is_training",
        r"\1False",
    ),
    "Adam's count that is not restored": Mutant(
        "class_restores",
        r"self\.optimizer\.iterations\.assign\(int\(round\(steps\)\)\)",
        "pass",
    ),
    # Several graphs.
    "a graph that begins with its own values": Mutant(
        "graphs_by_function",
        r"(def evaluate(?s:.*?))    saver\.restore\(path\)\n",
        r"\1",
    ),
    "a graph with the variables of the call before": Mutant(
        "graph_each_call",
        r"w = (tf\.Variable\(.*\))$",
        r"w = globals().setdefault('kept', \1)",
    ),
    # Summaries.
    "the summary of another layer's weights": Mutant(
        "layer_summaries", r"values=logits_layer\.W", "values=fc_layer.W"
    ),
    "the summary of another layer's value": Mutant(
        "layer_summaries", r"values=wider\)", "values=again)"
    ),
    "a scope of a function that is not counted": Mutant(
        "layer_summaries", r"hidden_1/cost", "hidden/cost"
    ),
    "the gradient of another variable": Mutant(
        "gradient_summaries", r"values=gradients\[0\]", "values=gradients[3]"
    ),
    "gradients of after they are clipped": Mutant(
        "gradient_summaries",
        r"^(    merged = (?s:.*?)\n    \]\)\n)(    gradients = .*\n)(    optimizer.*)",
        r"\2\1\3",
    ),
    "gradients that a histogram doubles": Mutant(
        "gradient_lists", r"values=gradients\[1\]\)", "values=2.0 * gradients[1])"
    ),
    "the sparsity of another gradient": Mutant(
        "gradient_lists", r"zero_fraction\(gradients\[0\]\)", "zero_fraction(gradients[1])"
    ),
    # Input queues.
    "one epoch too few": Mutant("queue_records", r"repeat\(num_epochs\)", "repeat(2)"),
    "epochs that end with a batch of their own": Mutant(
        "queue_records",
        r"\.repeat\(num_epochs\)((?:.*\n)*?.*)drop_remainder=True\)",
        r"\1drop_remainder=True).repeat(num_epochs)",
        ("data-order", "step-count"),
    ),
    "the rest as a batch": Mutant("queue_records", r", drop_remainder=True", ""),
    "the first file again and again": Mutant(
        "queue_lines",
        r"from_tensor_slices\(files\)\.repeat\(\)((?:.*\n)*?.*?)\.skip\(1\)",
        r"from_tensor_slices(files)\1.skip(1).repeat()",
    ),
    # Assignments.
    "the learning rate halved twice": Mutant(
        "assign_operations", r"rate\.assign\(rate \* 0\.5\)", "rate.assign(rate * 0.25)"
    ),
    "a rate that is fed and not assigned": Mutant(
        "assign_operations", r"^    model\.assign_rate\(.*\n", ""
    ),
    # Gradients.
    "clipping by value dropped": Mutant(
        "clipped_gradients", r"^    gradients = \[tf\.clip_by_value.*\n", "", ("clipping",)
    ),
    "clipping by value at another limit": Mutant(
        "clipped_gradients", r"grad, -1\., 1\.", "grad, -0.5, 0.5", ("clipping",)
    ),
    "clipping by the norm dropped": Mutant(
        "clipped_gradients",
        r"^    gradients, _ = tf\.clip_by_global_norm.*\n",
        "",
        ("clipping", "gradient-scale"),
    ),
    "clipped one by one": Mutant(
        "clipped_gradients",
        r"gradients, _ = tf\.clip_by_global_norm\(gradients, max_norm\)",
        "gradients = [tf.clip_by_norm(g, max_norm) for g in gradients]",
    ),
    "wrong list of variables": Mutant(
        "gan", r"^G_solver_variables = theta_G$", "G_solver_variables = [G_W1, G_b1]"
    ),
    "a variable of the other player is trained": Mutant(
        "gan", r"D_solver_variables = \[D_W1, D_W2\]", "D_solver_variables = [D_W1, D_W2, G_W2]"
    ),
    "gradients of the other loss": Mutant(
        "gan", r"tape\.gradient\(D_loss,", "tape.gradient(D_loss_fake,"
    ),
    "one half of a loss forgotten": Mutant(
        "gan", r"D_loss = D_loss_real \+ D_loss_fake", "D_loss = D_loss_real"
    ),
    "repeated ids are not added up": Mutant(
        "embedding",
        r"^    gradients = \[tf\.convert_to_tensor\(value\).*\n",
        "    first = gradients[0]\n"
        "    gradients[0] = tf.tensor_scatter_nd_update(\n"
        "        tf.zeros_like(embeddings), first.indices[:, None], first.values)\n",
    ),
    "a gradient stopped": Mutant(
        "decay_and_lists",
        r"net = tf\.matmul\(net, layers\[1\]\) \+ bias",
        "net = tf.matmul(tf.stop_gradient(net), layers[1]) + bias",
    ),
    # Optimizers.
    "Keras' epsilon": Mutant("gan", r", epsilon=1e-8", "", ("epsilon",)),
    "Keras' epsilon of Adagrad": Mutant("embedding", r"epsilon=0\.0", "epsilon=1e-3", ("epsilon",)),
    "Keras' beta": Mutant("optimizers", r"beta_1=0\.5, ", "", ("beta",)),
    "momentum lost": Mutant("named_feeds", r", momentum=0\.9", "", ("momentum",)),
    "nesterov": Mutant(
        "named_feeds", r"momentum=0\.9", "momentum=0.9, nesterov=True", ("momentum",)
    ),
    "RMSProp's slots begin at zero": Mutant(
        "optimizers", r"= RMSprop\(", "= tf.keras.optimizers.RMSprop(", ("initial-slot",)
    ),
    "RMSProp's decay": Mutant("optimizers", r"rho=0\.8", "rho=0.9", ("decay",)),
    "another rate": Mutant(
        "linear_regression", r"learning_rate=0\.01", "learning_rate=0.02", ("learning-rate",)
    ),
    "the fed rate is not assigned": Mutant(
        "fed_rate", r"^    optimizer\.learning_rate\.assign.*\n", "", ("learning-rate",)
    ),
    "the fed rate is assigned too late": Mutant(
        "fed_rate",
        r"^(    optimizer\.learning_rate\.assign.*\n)(    optimizer\.apply.*\n)",
        r"\2\1",
        ("learning-rate", "schedule"),
    ),
    "Keras' epsilon in the arm of a choice": Mutant(
        "chosen_optimizers", r"Adam\((.*), epsilon=1e-8\)", r"Adam(\1, epsilon=1e-3)"
    ),
    "momentum that moves the rows of a table that no word has": Mutant(
        "chosen_optimizers",
        r"class TableMomentum\(OwnRows, Momentum\)",
        "class TableMomentum(Momentum)",
    ),
    "mean squares of a table's rows that begin at zero": Mutant(
        "chosen_optimizers", r"tf\.ones\(mean_square", "tf.zeros(mean_square"
    ),
    "a rate that one of several optimizers is not told": Mutant(
        "chosen_optimizers", r"^( *)optimizer_rate\.assign\(rate\)", r"\1optimizer_rate.assign(0.2)"
    ),
    "what one of several optimizers keeps, not restored": Mutant(
        "chosen_by_flag", r", \*\*optimizer_state\(optimizer\)", ""
    ),
    # Networks and what is fed.
    "dropout dropped": Mutant("dropout_fed", r"^    h = tf\.nn\.dropout.*\n", "", ("dropout",)),
    "what is kept is dropped": Mutant(
        "dropout_fed", r"rate=1 - p_keep_hidden", "rate=p_keep_hidden", ("dropout", "model")
    ),
    "dropout in the evaluation": Mutant(
        "dropout_fed", r"compute_predict_op\(trX, 1\.0\)", "compute_predict_op(trX, 0.2)"
    ),
    "weight decay forgotten": Mutant(
        "decay_and_lists", r"^    loss \+= .*\n", "", ("regularization",)
    ),
    "weight decay doubled": Mutant(
        "decay_and_lists", r"loss \+= 0\.01", "loss += 0.02", ("regularization",)
    ),
    "an activation forgotten": Mutant(
        "decay_and_lists", r"tf\.nn\.elu\((tf\.matmul\(net, layers\[0\]\))\)", r"\1", ("model",)
    ),
    "softmax twice": Mutant(
        "named_feeds",
        r"labels=labels, logits=logits",
        "labels=labels, logits=tf.nn.softmax(logits)",
        ("softmax-twice",),
    ),
    "summed instead of averaged": Mutant(
        "named_feeds", r"tf\.reduce_mean\(\n", "tf.reduce_sum(\n", ("loss-reduction",)
    ),
    "feeds in the wrong order": Mutant(
        "clipped_gradients",
        r"'y': wanted\[start:start \+ 8\]",
        "'y': wanted[start:start + 8][::-1]",
    ),
    "the last batch again": Mutant(
        "named_feeds",
        r"rows = slice\(step % 3 \* 10",
        "rows = slice(step % 2 * 10",
    ),
    "batch normalization as in evaluation": Mutant(
        "batch_norm", r"^    training = True$", "    training = False", ("batch-norm", "model")
    ),
    "averages that are never moved": Mutant(
        "batch_norm", r"moving\.assign\(.*\)", "pass", ("batch-norm", "printed")
    ),
    "another momentum of the averages": Mutant(
        "batch_norm", r"momentum=0\.9", "momentum=0.99", ("batch-norm", "printed")
    ),
    "the batch's variance for a sample's": Mutant(
        "averages_of_matrices",
        r"= FusedBatchNormalization",
        "= tf.keras.layers.BatchNormalization",
        ("batch-norm", "printed"),
    ),
    "averages in place that are never moved": Mutant(
        "averages_in_place", r"moving\.assign\(.*\)", "pass", ("batch-norm", "printed")
    ),
    "evaluated as in training": Mutant(
        "batch_norm", r"^    training = False$", "    training = True", ("batch-norm", "printed")
    ),
    "a network that is not told that it trains": Mutant(
        "network_beside_main", r"x, is_training=is_training\)$", "x, is_training=False)"
    ),
    "averages of images that are the last batch's": Mutant(
        "network_beside_main",
        r"moving \* self\.momentum \+ value \* \(1\.0 - self\.momentum\)",
        "value",
    ),
    "the second call as the first one": Mutant(
        "shared_networks", r"temperature=2\.0\)$", "temperature=1.0)"
    ),
    "a step that trains nothing": Mutant(
        "class_model", r"self\.train_step = train_step", "self.train_step = compute_loss"
    ),
    "what is added to a loss later": Mutant(
        "class_last_values", r"loss_tensor \+= self\.l2", "loss_tensor += 0 * self.l2"
    ),
    "a copied network that is the trained one": Mutant(
        "copied_network", r"target_q = target_q_layer\(s=s\)", "target_q = q_layer(s=s)"
    ),
    "a policy that is compared with its first form": Mutant(
        "policy_workers", r"^        self\.run_keep\(\)\n", ""
    ),
    "a density that is not divided by its width": Mutant(
        "policy_workers", r" - \((0\.9\d+) \+ tf\.math\.log\(self\.scale\)\)", r" - \1"
    ),
    "repeated steps that are run once": Mutant(
        "policy_workers",
        r"\[self\.train_policy_step\((.*)\) for _ in range\(REPEATS\)\]",
        r"self.train_policy_step(\1)",
    ),
    "the actor goes the other way": Mutant(
        "actor_critic", r"loss_value = -exp_v", "loss_value = exp_v"
    ),
    "objects that train one of them": Mutant("class_ensemble", r"m\.train\(", "models[0].train("),
    "a later session with values of its own": Mutant(
        "class_trains",
        r"^        self\.saver\.restore\(PATH\)\n        hidden, ",
        "        self.__init__(4, 2)\n        hidden, ",
    ),
    "a policy that no gain weighs": Mutant("default_session", r"action\)\) \* target", "action))"),
    "the activation of the default": Mutant(
        "method_trains", r"return activation\(tf\.matmul", "return tf.nn.sigmoid(tf.matmul"
    ),
    "the online network gets the target's": Mutant(
        "collecting_layers", r"t\.assign\(o\)", "o.assign(t)"
    ),
    "a layer of the object's is not trained": Mutant(
        "class_model", r"\[weights, \*prediction_layer\.trainable_variables\]", "[weights]"
    ),
    "another attribute of the object": Mutant(
        "class_session", r"RMSprop\(self\.lr", "RMSprop(self.gamma"
    ),
    "weight decay that is dropped": Mutant(
        "collected_losses", r"losses = losses \+ \[weight_decay\]", "losses = losses + []"
    ),
    "weight decay that is counted twice": Mutant(
        "collected_losses", r"(0\.004, name='weight_loss'\))$", r"2 * \1"
    ),
    "no gradient into the network below": Mutant(
        "shared_networks", r"discriminator\(samples,", "discriminator(tf.stop_gradient(samples),"
    ),
    # Iterators, metrics, control flow.
    "an iterator that goes on where it was": Mutant(
        "restarted_iterator",
        r"^iterator = iter\(train_data\)\n(?=print)",
        "iterator = iter(train_data.skip(1))\n",
    ),
    "an iterator that begins with the other dataset": Mutant(
        "datasets_in_turn",
        r"^    iterator = iter\(test_data\)$",
        "    iterator = iter(train_data)",
    ),
    "a method that begins with the other dataset": Mutant(
        "iterators_of_object", r"iter\(self\.test_set\)", "iter(self.train_set)"
    ),
    "dropout as a method sets it later on": Mutant(
        "iterators_of_object", r"training=False", "training=True"
    ),
    "an activation that the call does not give": Mutant(
        "weights_given_back", r"outputs = sums_3$", "outputs = tf.nn.tanh(sums_3)"
    ),
    "weights given back of the other layer": Mutant(
        "weights_given_back",
        r"excites = hidden_weights / ",
        "excites = output_weights / ",
    ),
    "a stack whose lower cell drops nothing": Mutant(
        "rnn_stacked_dropout",
        r"outputs_1 = tf\.nn\.dropout\(outputs_1, rate=1 - keep_prob\)",
        "outputs_1 = tf.identity(outputs_1)",
    ),
    "a stack whose upper cell knows no lengths": Mutant(
        "rnn_stacked_dropout",
        r"(rnn_multi_rnn_cell_cell_1\(tf\.identity\(outputs_1\)), mask=mask\)",
        r"\1)",
    ),
    "a list that leaves out what it was to have": Mutant(
        "variables_left_in",
        r"^train_error_variables = .*$",
        "train_error_variables = [*encode.trainable_variables]",
    ),
    "a method that begins behind the first batch": Mutant(
        "dataset_of_object",
        r"^                self\.iterator = iter\(self\.dataset\)$",
        "                self.iterator = iter(self.dataset.skip(1))",
    ),
    "a dataset that goes on where it has ended": Mutant(
        "handed_datasets",
        r"^            iterator = iter\(dataset\)$",
        "            iterator = iter(dataset.skip(1))",
    ),
    "metrics that are never reset": Mutant("metrics", r"^    acc\.reset_state\(\)\n", ""),
    "a batch that a metric does not see": Mutant(
        "metrics", r"^    mean_loss_metric\.update_state\(loss\)\n", "", ("printed",)
    ),
    "the other branch": Mutant(
        "control_flow", r"lambda: net \* 0\.5, lambda: net\)", "lambda: net, lambda: net * 0.5)"
    ),
    "a loop that ends too early": Mutant("control_flow", r"return i < 4", "return i < 3"),
    # Several optimizers in one step.
    "one of two optimizers of a step not applied": Mutant(
        "two_optimizers", r"^    optimizer_narrow\.apply_gradients.*\n", "", ("not-applied",)
    ),
    "one of two optimizers of a step applied twice": Mutant(
        "two_optimizers",
        r"^(    optimizer_narrow\.apply_gradients.*\n)",
        r"\1\1",
        ("applied-twice",),
    ),
    "the discriminator trained with the generator": Mutant(
        "gan_scopes",
        r"^train_g_variables = generator\.trainable_variables$",
        "train_g_variables = [*generator.trainable_variables, *discriminator.trainable_variables]",
    ),
    # Forms of public programs.
    "one tensor for another in a loss": Mutant("vae_globals", r"z_std=z_std", "z_std=z_mean"),
    "a place of the window left out": Mutant(
        "cbow_nce", r"in range\(2\*window_size\)", "in range(2*window_size - 1)"
    ),
    "weights of a sequence left out": Mutant("sequence_loss", r"losses \* weights", "losses"),
    "one of two lists trained": Mutant(
        "adversarial_lists", r"\[\*theta_P, \*theta_Q\]", "[*theta_P]"
    ),
    "the second graph trains one variable": Mutant(
        "two_graphs", r"trained_variables = \[a, b\]", "trained_variables = [a]"
    ),
    "the second graph uses a layer of the first": Mutant(
        "graphs_beside", r"conv2d_4\(widened\)", "conv2d_2(widened)"
    ),
    "a layer of contrib's by its name in tf.layers": Mutant(
        "contrib_names", r'"block_1/Conv_1/weights"', '"block_1/conv2d/kernel"'
    ),
    "what another draw gives": Mutant(
        "asked_sizes", r"generator\(z_placeholder, count=1\)", "generator(-z_placeholder, count=1)"
    ),
    "what the step gives is of after it": Mutant(
        "values_beside",
        r"return loss, line_loss, certain",
        "return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits("
        "logits=forward(x), labels=y)), line_loss, certain",
    ),
    "weights that are limited to another value": Mutant(
        "clipped_weights", r"-0\.3, 0\.3", "-0.3, 0.4"
    ),
    "c and h the other way round": Mutant(
        "rnn_states",
        r"initial_state=\[_istate\]",
        "initial_state=[tf.concat(tf.split(_istate, 2, axis=1)[::-1], 1)]",
    ),
    "a network that begins with zeros": Mutant("rnn_states", r", initial_state=\[code\]", ""),
    "read backwards from the padding on": Mutant(
        "rnn_layers",
        r"tf.reverse_sequence\(encoder_embedded, X_seq_len, 1\)",
        "tf.reverse(encoder_embedded, [1])",
    ),
    "h for c where a decoder begins": Mutant(
        "rnn_layers", r"\[bi_state_c, bi_state_h\]", "[bi_state_h, bi_state_c]"
    ),
    "no dropout between two cells": Mutant(
        "rnn_dropout", r" +outputs = tf.nn.dropout\(outputs, 1 - self.output_keep_prob\)\n", ""
    ),
    "a cell that adds nothing": Mutant("rnn_dropout", r"inputs \+ outputs", "outputs"),
    "the network of the graph before": Mutant(
        "graph_sizes", r"network_2 = Network\(5\)", "network_2 = network"
    ),
    "an array as it was before": Mutant("values_below", r"shown\[0\] = 1\n", ""),
    "the other network's list of variables": Mutant(
        "parameter_lists", r"g_trainer_variables = g_params", "g_trainer_variables = d_params"
    ),
    # What a session that a loop makes anew begins with.
    "trained values for averages": Mutant(
        "averages_restored", r'"(\w+)/ExponentialMovingAverage": ', r'"\1": '
    ),
    "restored once": Mutant(
        "averages_restored",
        r"^    for path in paths:\n        saver.restore\(path\)",
        "    saver.restore(paths[0])\n    for path in paths:",
    ),
    # One name for several variables.
    "an earlier variable of the name decays": Mutant(
        "names_in_turn", r"l2_loss\(W_2\)", "l2_loss(W)"
    ),
    "an earlier variable of the name is shown": Mutant(
        "names_in_turn", r"print\(conv2_biases", "print(conv1_biases"
    ),
}


def before(fixture: str) -> live.Text:
    """What a mutant is compared with."""
    return side_of(fixture, "before")


def run(names: Collection[str], folder: Path) -> None:
    """Run mutants, what they are compared with, and the programs that they are changes of,
    importing each TensorFlow once."""
    wanted = sorted({MUTANTS[name].fixture for name in names})
    live.run(REFERENCE, {fixture: (fixture, before(fixture)) for fixture in wanted}, folder)
    texts = {slug(name): (MUTANTS[name].fixture, MUTANTS[name].text()) for name in names}
    for fixture in wanted:
        texts[f"{fixture}.after"] = (fixture, side_of(fixture, "after"))
    live.run(TARGET, texts, folder)


def slug(name: str) -> str:
    """A mutant's name as a file's."""
    return re.sub(r"\W+", "_", name)


def keys(names: Collection[str]) -> dict[str, str]:
    """For each record a text that changes with everything that it depends on."""
    found = {}
    for name in names:
        old = live.whole(before(MUTANTS[name].fixture))
        new = live.whole(MUTANTS[name].text())
        for record, text in ((MUTANTS[name].fixture, ""), (slug(name), new)):
            whole = f"{live.DEVICES}\n{old}\n{text}".encode()
            found[record] = hashlib.sha256(whole).hexdigest()[:16]
    return found


def unpack(folder: Path) -> None:
    """Put the kept records where ``judge`` finds them.

    Raises:
      AssertionError: a record is missing, or not of today's programs.
    """
    how = "python tests/parity/session_mutants.py --record FIXTURE"
    records.unpack(keys(MUTANTS), STORED, folder, how)


def judge(name: str, folder: Path, changed: bool = True) -> verdict.Judged:
    """The verdict on a mutant that was run, or on the program that it is a change of."""
    fixture = MUTANTS[name].fixture
    reference = sides.collect(folder, fixture, "before.py", REFERENCE)
    assert not reference.failure, f"{name}: {reference.failure}: {reference.stderr[-2000:]}"
    record = slug(name) if changed else f"{fixture}.after"
    target = sides.collect(folder, record, "after.py", TARGET)
    return verdict.judge(live.DEVICES, reference, target, Tolerances())


def differences(judged: verdict.Judged) -> set[tuple[int, str, str]]:
    found = [(rung.number, one) for rung in judged.rungs for one in rung.outputs]
    return {(n, one.name, one.detail) for n, one in found if one.status == outcome.DIFFERS}


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args(argv)
    if unknown := {*options.names} - {*MUTANTS} - {one.fixture for one in MUTANTS.values()}:
        parser.error(f"no mutant and no fixture: {', '.join(sorted(unknown))}")
    names = [n for n, one in MUTANTS.items() if {n, one.fixture} & {*options.names}]
    if options.record:  # all that share a reference's run, which gives the first values
        fixtures = {MUTANTS[name].fixture for name in names}
        names = [name for name, mutant in MUTANTS.items() if mutant.fixture in fixtures]
    names = names or list(MUTANTS)
    seen = right = 0
    with tempfile.TemporaryDirectory() as folder:
        run(names, Path(folder))
        for name in names:
            found = judge(name, Path(folder))
            causes = [(one.cause, one.likelihood) for one in found.diagnosis]
            red = found.verdict == verdict.NOT_EQUIVALENT and not found.target.failure
            # Rounding that the unchanged program shows as well is no mistake that is seen.
            unchanged = judge(name, Path(folder), changed=False)
            red = red and not differences(found) <= differences(unchanged)
            first = causes[0][0] if causes else None
            named = not MUTANTS[name].causes or first in MUTANTS[name].causes
            seen, right = seen + red, right + bool(red and named)
            print(f"{'red' if red else 'MISSED'}{'' if named else ' CAUSE'} {name}: {causes}")
            if not red or not named:
                print(f"    {found.reason[:300]} {found.target.failure or ''}")
        if options.record:
            records.keep(keys(names), Path(folder), STORED)
    print(f"{seen} of {len(names)} seen, {right} with their cause where there is one")
    return 0 if seen == len(names) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
