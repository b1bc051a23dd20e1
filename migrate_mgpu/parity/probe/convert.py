"""Give a TF2 program's variables what a checkpoint of TF1 has, and save them as it would.

The program runs until it asks for its checkpoint, or saves the first: then its variables
exist. They get the checkpoint's tensors, one at a time; the program's own checkpoint object
writes them; the program is ended. The other way round they get what a checkpoint of its own
has, and are written by the names of TF1's program.

Runs in the interpreter under test: Python 3.7, standard library and numpy only.
"""

# Plain strings for paths: pathlib's resolve() would follow links.

from __future__ import annotations

import collections
import contextlib
import fnmatch
import functools
import gc
import os
import shutil
import traceback
from collections.abc import Iterable
from typing import Any, Callable

PART_BYTES = 256 * 2**20  # of a checkpoint with names is in memory at once
OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"  # the key that TF2's checkpoints have
# What Keras's optimizers keep of each variable, in the order of TF1's names: the attribute,
# and the option without which Keras does not keep it.
_SLOTS = {
    "Adam": (("_momentums", ""), ("_velocities", "")),
    "SGD": (("momentums", ""),),
    "Adagrad": (("_accumulators", ""),),
    "Adadelta": (("_accumulated_grads", ""), ("_accumulated_delta_vars", "")),
    "RMSprop": (("_velocities", ""), ("_average_gradients", "centered"), ("_momentums", "")),
    "Ftrl": (("_accumulators", ""), ("_linears", "")),
}


def patches(load: Callable[[str], Any], options: dict[str, Any]) -> tuple[Any, Any]:
    """The conversion, and its patches by module name; ``load`` gives a module of this folder."""
    found = Conversion(options, load("partners"))
    found.tools = load("eager_tools")
    found.creation = load("watch_creation").Creation(found, found.tools)
    found.files = load("weights_file")
    return found, found.patches()


_SUM = "sum of gradients"
_ONLY_ALL = {
    "problems": ["--weights-only: the program restores all that its saver names, by TF1's names"]
}


def _own_slots(optimizer: Any, count: int) -> list[tuple[str, list[Any]]]:
    """What an optimizer of the program's own keeps of each variable, by the attribute."""
    known = {word for slots in _SLOTS.values() for word, _ in slots}
    found = []
    for name, value in sorted(vars(optimizer).items()):
        if name.startswith("_") or name in known or not isinstance(value, list):
            continue
        if count and len(value) == count and all(hasattr(one, "assign") for one in value):
            found.append((name, list(value)))
    return found


class Ended(BaseException):
    """The checkpoint is written, or cannot be: the program is ended."""


class Refused(Exception):
    """It cannot be converted; the message says why."""


class Conversion:
    """Stands where the recorder of a training stands.

    Args:
      options: ``source`` (the checkpoint's prefix), ``given``, ``order``, ``skip``,
        ``weights_only``, ``model_dir`` (the program's folder, if it has several), ``isolate``
        (the program's copy), ``into`` (the folder in it that the new checkpoint is left in);
        ``values``, where a checkpoint of the program's own becomes one of TF1's: its prefix.
        ``source`` is what ``template`` wrote then. Where ``source`` is a file of weights that
        Keras wrote, ``file`` is the new one's name.
    """

    part = "checkpoint"  # of the trace
    carries = False  # no first values of a reference

    def __init__(self, options: dict[str, Any], partners: Any) -> None:
        self.options = options
        self.partners = partners
        self.stopped = False
        self.source: dict[str, Any] = {}  # the shapes of TF1's tensors
        self.data: dict[str, Any] = {"state": "not reached", "folders": []}
        self.creation: Any = None  # watch_creation's
        self.tools: Any = None  # eager_tools
        self.files: Any = None  # weights_file
        self._saving: list[Any] = []  # managers that saved

    # What a recorder is asked ---------------------------------------------------------------------

    def save(self) -> dict[str, Any]:
        return self.data

    def finish(self, status: int) -> None:
        pass

    def note(self, text: str) -> None:
        pass

    # Where a program asks for its checkpoint ------------------------------------------------------

    def patches(self) -> dict[str, Callable[[Any], None]]:
        if "file" in self.options:
            used = ("load_weights", "fit", "evaluate", "predict")
            return {
                "": self._imported,
                "keras.src.backend.tensorflow.core": self.creation.patch_keras,
                "keras.src.engine.training": lambda m: self._patch_model(m.Model, used),
                "keras.src.models.model": lambda m: self._patch_model(m.Model, used[:1]),
                "keras.src.backend.tensorflow.trainer": lambda m: self._patch_model(
                    m.TensorFlowTrainer, used[1:]
                ),
            }
        return {
            "": self._imported,
            ".python.checkpoint.checkpoint_management": self._patch_manager,
            ".python.checkpoint.checkpoint": self._patch_checkpoint,
            "._api.v2.raw_ops": self._patch_raw,
            ".python.training.saver": self._patch_saver,
            "keras.src.backend.tensorflow.core": self.creation.patch_keras,
        }

    def _imported(self, module: Any) -> None:
        if "compat" in module.__dict__:
            self.creation.begin()

    def _patch_manager(self, module: Any) -> None:
        cls = module.CheckpointManager
        self._manager = cls
        saves = cls.save

        def look(manager: Any) -> Any:
            if manager in self._saving:  # it asks itself
                return manager._latest_checkpoint
            self._seen(manager._checkpoint, manager, False)
            return None  # what lies there now is TF1's

        def restore_or_initialize(manager: Any) -> Any:
            look(manager)
            return manager._init_fn() if manager._init_fn is not None else None

        @functools.wraps(saves)
        def save(manager: Any, *args: Any, **options: Any) -> Any:
            self._seen(manager._checkpoint, manager, True)
            self._saving.append(manager)
            return saves(manager, *args, **options)

        self._save_by_manager = saves
        cls.latest_checkpoint = property(look)
        cls.restore_or_initialize = restore_or_initialize
        cls.save = save

    def _patch_checkpoint(self, module: Any) -> None:
        cls = module.Checkpoint
        self._read = cls.read
        for name in ("restore", "read"):
            self._wrap(cls, name, False)
        for name in ("save", "write"):
            self._wrap(cls, name, True)

    def _wrap(self, cls: Any, name: str, saves: bool) -> None:
        original = getattr(cls, name)

        @functools.wraps(original)
        def method(checkpoint: Any, path: Any = None, *args: Any, **options: Any) -> Any:
            self._seen(checkpoint, None, saves, path)
            if not saves and name == "restore":
                path = None  # what lies there now is TF1's
            return original(checkpoint, path, *args, **options)

        setattr(cls, name, method)

    def _patch_raw(self, module: Any) -> None:
        """A saver of the program's own, that keeps TF1's names."""
        for name in ("SaveV2", "RestoreV2"):
            original = getattr(module, name)

            @functools.wraps(original)
            def operation(*args: Any, **options: Any) -> Any:
                self._named(list(options["tensor_names"]))

            setattr(module, name, operation)

    def _patch_saver(self, module: Any) -> None:
        """Graph code keeps TF1's names too."""
        for name in ("save", "restore"):
            original = getattr(module.Saver, name)

            setattr(module.Saver, name, self._looking(original, module))

    def _looking(self, original: Any, module: Any) -> Any:
        @functools.wraps(original)
        def method(saver: Any, *args: Any, **options: Any) -> Any:
            if not self.tools.in_tf2():
                if not saver._is_built:
                    saver.build()
                named = saver._var_list
                if not isinstance(named, dict):
                    named = module.saveable_object_util.op_list_to_dict(named)
                self._graph(sorted(named))
            return original(saver, *args, **options)

        return method

    def _graph(self, names: list[str]) -> None:
        reader = self._reader()
        self.data["named"] = True
        shapes = {name: list(shape) for name, shape in self.source.items()}
        missing: dict[str, Any] = {}
        if self._back:  # its own files are of the same kind
            own = self._own(False)
            missing["left"] = [name for name in shapes if name not in own]
            self._without_cells(missing["left"], own, reader)
        else:
            missing["lacking"] = [[name, []] for name in names if name not in shapes]
            missing["left"] = [name for name in shapes if name not in names]
            self._of_cells(missing, reader)
        if missing.get("lacking", missing["left"]):
            self._end({"state": "refused", "shapes": shapes, **missing})
        self._end({"state": "refused", **_ONLY_ALL} if self._only() else {"state": "graph"})

    def _of_cells(self, missing: dict[str, Any], reader: Any) -> None:
        """Writes a copy with Keras's new names, where recurrent layers' cells are all it misses."""
        lacking = [name for name, _ in missing["lacking"]]
        plan = self.partners.plan_cells(lacking, missing["left"])
        if not lacking or not plan.complete or self._only():
            return
        eager = self.tools.tf("eager.context").eager_mode

        def write(found: Any) -> None:
            with eager():  # the program's own code builds a graph
                self._save_named(found, reader)

        self._carry_out(lambda: plan, write)

    def _without_cells(self, left: list[str], own: dict[str, Any], reader: Any) -> None:
        """The other way round: a copy with TF1's names of what its graph code has in cells."""
        made = {name for name in own if self.partners.without_cell(name) != name}
        plan = self.partners.plan_cells(sorted(made), left)
        if not left or not plan.complete or self._only():
            return
        eager = self.tools.tf("eager.context").eager_mode
        names = {name: name for name in self.source}
        names.update((row.source, row.name) for row in plan.rows)

        def write(found: Any) -> None:
            with eager():  # the program's own code builds a graph
                read = self.values.get_tensor
                values = {old: functools.partial(read, new) for old, new in names.items()}
                self._save_as_tf1(values, reader)

        self._carry_out(lambda: plan, write)

    def _patch_model(self, cls: Any, names: Iterable[str]) -> None:
        for name in names:
            setattr(cls, name, self._using(getattr(cls, name), name == "load_weights"))

    def _using(self, original: Any, loads: bool) -> Any:
        @functools.wraps(original)
        def method(model: Any, *args: Any, **options: Any) -> Any:
            path = [*args, *options.values()][:1] if loads else []
            if not loads or self.files.named_alike(*path, self.options["source"]):
                self._model(model)
            elif not self.stopped:
                with contextlib.suppress(Exception):  # that may be a file of TF1's, too
                    return original(model, *args, **options)
                return None
            return original(model, *args, **options)

        return method

    def _model(self, model: Any) -> None:
        """A Keras model that is there, and takes up a file's weights."""
        if self.stopped or not self.tools.tf("eager.context").executing_eagerly():
            return
        checkpoint = self.tools.tf("checkpoint.checkpoint").Checkpoint(model=model)
        holder = Holder(checkpoint, self.creation, self.tools)
        if not holder.weights:
            return  # a model that its first batch builds
        name = str(self.options["file"])

        reader = self._reader()

        def plan() -> Any:
            if _is_of_keras_3(model) and not name.endswith(".weights.h5"):
                raise Refused(f"Keras 3 reads {name} as Keras 2's: let --to end in .weights.h5")
            if reader.twice:
                raise Refused(f"several weights of the file are called {reader.twice[0]}")
            return self._plan(holder, reader)

        def write(found: Any) -> None:
            self.stopped = True
            holder.assign(found, reader)
            os.makedirs(self._folder())
            model.save_weights(os.path.join(self._folder(), name))

        self._carry_out(plan, write)

    def _folder(self) -> str:
        return os.path.join(str(self.options["isolate"]), str(self.options["into"]))

    def _only(self) -> bool:
        return bool(self.options.get("weights_only"))

    def _end(self, data: dict[str, Any]) -> None:
        self.data.update(data)
        self.stopped = True
        raise Ended

    # The conversion -------------------------------------------------------------------------------

    def _seen(self, checkpoint: Any, manager: Any, saves: bool, path: Any = None) -> None:
        if self.stopped:  # this is the new checkpoint that is being written
            return
        if not self.tools.tf("eager.context").executing_eagerly():
            return
        folder = manager.directory if manager is not None else os.path.dirname(str(path or ""))
        wanted = self.options.get("model_dir")
        if folder not in self.data["folders"]:
            self.data["folders"].append(folder)
        if wanted and os.path.normpath(folder) != os.path.normpath(wanted):
            return
        holder = Holder(checkpoint, self.creation, self.tools)
        if not saves and not holder.built:
            return  # a restoration that waits for its variables: there is the first save
        reader = self._reader()
        if self._back:
            self._to_tf1(checkpoint, holder, reader)

        def write(plan: Any) -> None:
            self.stopped = True
            holder.assign(plan, reader)
            steps = [row.change[1] for row in plan.rows if row.change[0] == "steps"]
            self._save(checkpoint, manager, path, max(steps, default=0))

        self._carry_out(lambda: self._plan(holder, reader), write)

    def _carry_out(self, plan: Callable[[], Any], write: Callable[[Any], None]) -> None:
        """Plan, report, write where all have partners, and end the program."""
        self.data["state"] = "refused"
        try:
            found = plan()
            self._report(found)
            if found.complete:
                write(found)
                self.data["state"] = "written"
        except Refused as error:
            self.data["problems"] = [str(error)]
        except Exception as error:  # a fault of ours, not the program's
            self.data["state"] = "failed"
            self.data["error"] = f"{type(error).__name__}: {error}"
            self.data["traceback"] = traceback.format_exc()
        self._end({})

    def _report(self, plan: Any) -> None:
        self.data.update(
            rows=[row.data() for row in plan.rows],
            lacking=plan.lacking,
            left=plan.left,
            unused=plan.unused,
            problems=plan.problems,
            shapes={name: list(shape) for name, shape in self.source.items()},
        )

    def _reader(self) -> Any:
        if "file" in self.options:
            reader = self.files.Reader(self.options["source"])
        else:
            load = self.tools.tf("training.checkpoint_utils").load_checkpoint
            reader = load(self.options["source"])
        self.source = dict(reader.get_variable_to_shape_map())
        if OBJECT_GRAPH in self.source:
            self._end({"state": "object-based"})
        return reader

    # The other way round --------------------------------------------------------------------------

    @property
    def _back(self) -> bool:
        return "values" in self.options

    def _own(self, of_objects: bool) -> dict[str, Any]:
        """The shapes of the program's own checkpoint, which is of the kind that it writes."""
        load = self.tools.tf("training.checkpoint_utils").load_checkpoint
        self.values = load(self.options["values"])
        found = dict(self.values.get_variable_to_shape_map())
        if (OBJECT_GRAPH in found) is not of_objects:
            self._end({"state": "not its own"})
        return found

    def _to_tf1(self, checkpoint: Any, holder: Any, reader: Any) -> None:
        """Of the program's own checkpoint; ``reader`` reads what TF1's saver wrote."""
        self.stopped = True  # what is read now is the program's own
        self._own(True)
        counts: dict[str, Any] = {}

        def plan() -> Any:
            try:
                status = self._read(checkpoint, self.options["values"])
                status.assert_existing_objects_matched()
            except (AssertionError, ValueError) as error:  # something is missing; a shape
                text = " ".join(str(error).split())[:300]
                raise Refused(f"the checkpoint is not one of this program: {text}") from error
            found = self._plan(holder, reader)
            if not self._only():
                counts.update(self._counts(found, holder))
            return found

        def write(found: Any) -> None:
            values: dict[str, Any] = {n: functools.partial(int, v) for n, v in counts.items()}
            values.update(
                (name, functools.partial(_power, *about))
                for name, about in self._powers(found).items()
            )
            for row in found.rows:
                if row.kind in ("weight", "slot") and row.source is not None:
                    values[row.source] = functools.partial(holder.value, row)
            self._save_as_tf1(values, reader)

        self._carry_out(plan, write)

    def _counts(self, found: Any, holder: Any) -> dict[str, int]:
        """The step of TF1's, and in ``found`` the powers of beta that its Adam keeps."""
        step, rows = self.partners.STEP, [row for row in found.rows if row.kind == "steps"]
        steps = {holder.steps(row.place) for row in rows}
        if len(steps) > 1:
            found.problems.append(
                f"the optimizers have made different numbers of steps, {sorted(steps)}: which is "
                f"{step} cannot be determined"
            )
        if len(steps) != 1:
            return {}
        (made,) = steps
        for row in rows:
            row.change = ("steps", made) if row.source is not None else row.change
        for row in found.rows:
            if row.change[0] == "times" and not row.change[1]:
                found.problems.append(f"{row.name}: with a learning rate of zero it has no {_SUM}")
        adams = [one for one in holder.made if _kind(one) == "Adam"]
        betas = {(float(one.beta_1), float(one.beta_2)) for one in adams}
        names = [name for name in self.source if self.partners.power_of(name)] if adams else []
        if len(betas) > 1 and names:
            found.problems.append(f"which of several Adam optimizers has {names[0]} is not known")
        elif names:
            (pair,) = betas
            for name in names:
                change = ("power", pair[self.partners.power_of(name) - 1], made + 1)
                place = next(row for row in rows if holder.made[row.place] is adams[0])
                new = self.partners.Row("power", None, place.name, name, self.partners.NAME, change)
                found.rows.append(new)
        return {step: made} if step in self.source else {}

    def _powers(self, found: Any) -> dict[str, Any]:
        return {row.source: row.change[1:] for row in found.rows if row.kind == "power"}

    def _names_to_tf1(self, names: list[str]) -> None:
        """Of a checkpoint with TF1's names, and those of what Keras's optimizers keep."""
        reader = self._reader()
        self.data["named"] = True
        if self._only():
            self._end({"state": "refused", **_ONLY_ALL})
        own = self._own(False)

        def read(name: str) -> Any:
            return (self.values if name in own else reader).get_tensor(name)

        def plan() -> Any:
            other = [name for name in names if name not in self.source]
            found = self.partners.plan_names(other, self.source, read, _moved())
            made = {row.source for row in found.rows if row.kind == "slot" and row.name in own}
            found.left += [n for n in self.source if n not in made and n not in own]
            return found

        def write(found: Any) -> None:
            values = {n: functools.partial(read, n) for n in self.source}
            for row in found.rows:
                if row.kind == "slot":
                    values[row.source] = functools.partial(self._undone, row)
            self._save_as_tf1(values, reader)

        self._carry_out(plan, write)

    def _undone(self, row: Any) -> Any:
        return _undone(self.values.get_tensor(row.name), row.change)

    def _save_as_tf1(self, values: dict[str, Any], reader: Any) -> None:
        """All that TF1's saver writes; what nothing new continues has its first value."""
        step = self.partners.STEP
        made = values[step]() if step in values else 0
        self.data["step"] = int(made)

        def typed(name: str) -> Any:
            import numpy

            first = reader.get_tensor(name)
            if name not in values:
                return first
            return numpy.asarray(values[name]()).astype(numpy.asarray(first).dtype)

        self._write(
            f"model.ckpt-{int(made)}", [(n, functools.partial(typed, n)) for n in self.source]
        )

    def _plan(self, holder: Any, reader: Any) -> Any:
        patterns = self.options.get("skip", [])

        def skipped(name: str) -> bool:
            return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)

        request = self.partners.Request(
            [holder.about(i) for i in range(len(holder.weights))],
            [] if self.options.get("weights_only") else holder.optimizers(),
            self.source,
            reader.get_tensor,
            self.options.get("given", {}),
            self.options.get("order", []),
            skipped,
            bool(self.options.get("weights_only")),
        )
        return self.partners.plan(request)

    def _save(self, checkpoint: Any, manager: Any, path: Any, step: int) -> None:
        name = getattr(manager, "_checkpoint_name", None)
        if name is None:
            name = os.path.basename(str(path or "")).rpartition("-")[0] or "ckpt"
        folder = self._folder()
        os.makedirs(folder, exist_ok=True)
        made = self._manager(checkpoint, folder, max_to_keep=None, checkpoint_name=name)
        self._saving.append(made)
        self._save_by_manager(made, checkpoint_number=step)
        self.data["written"] = sorted(os.listdir(folder))
        self.data["step"] = step

    # Files with TF1's names -----------------------------------------------------------------------

    def _named(self, names: list[Any]) -> None:
        names = [name.decode() if isinstance(name, bytes) else str(name) for name in names]
        if self._back:
            self._names_to_tf1(names)
        reader = self._reader()
        self.data["named"] = True
        if self._only():
            self._end({"state": "refused", **_ONLY_ALL})
        lacking = [name for name in names if name not in self.source]
        if not lacking:
            self._end({"state": "names"})

        def plan() -> Any:
            return self.partners.plan_names(lacking, self.source, reader.get_tensor, _moved())

        self._carry_out(plan, lambda found: self._save_named(found, reader))

    def _save_named(self, plan: Any, reader: Any) -> None:
        """All that the old file has, and what is made of it."""

        def made(row: Any) -> Any:
            import numpy

            if row.change[0] == "steps":
                return numpy.asarray(row.change[1], "int64")
            return _changed(reader.get_tensor(row.source), row.change)

        found: list[Any] = [(row.name, functools.partial(made, row)) for row in plan.rows]
        found += [(name, functools.partial(reader.get_tensor, name)) for name in self.source]
        self._write(os.path.basename(self.options["source"]), found)

    def _write(self, name: str, values: Iterable[tuple[str, Callable[[], Any]]]) -> None:
        """A checkpoint with names, in parts that fit into memory."""
        import numpy

        operations = self.tools.tf("ops.gen_io_ops")
        folder = self._folder()
        parts = os.path.join(folder, "parts")
        os.makedirs(parts)
        prefixes: list[str] = []
        waiting: dict[str, Any] = {}

        def flush() -> None:
            prefixes.append(os.path.join(parts, str(len(prefixes))))
            operations.save_v2(
                prefixes[-1], list(waiting), [""] * len(waiting), list(waiting.values())
            )
            waiting.clear()

        for tensor, value in values:
            waiting[tensor] = numpy.asarray(value())
            if sum(one.nbytes for one in waiting.values()) > PART_BYTES:
                flush()
        if waiting:
            flush()
        operations.merge_v2_checkpoints(prefixes, os.path.join(folder, name))
        with open(os.path.join(folder, "checkpoint"), "w", encoding="utf-8") as stream:
            stream.write(f'model_checkpoint_path: "{name}"\n')
            stream.write(f'all_model_checkpoint_paths: "{name}"\n')
        shutil.rmtree(parts, ignore_errors=True)
        self.data["written"] = sorted(os.listdir(folder))


class Holder:
    """What a checkpoint object holds: variables, optimizers and what they keep.

    Raises:
      Refused: an optimizer that TF1 has no equal of.
    """

    def __init__(self, checkpoint: Any, creation: Any, tools: Any) -> None:
        view = tools.tf("checkpoint.graph_view").ObjectGraphView(checkpoint)
        objects, paths = view.breadth_first_traversal()
        self.tools = tools
        self.made = [one for one in objects if hasattr(one, "apply_gradients")]
        other = [*self.made, *(one for one in objects if _is_a(one, ("Metric", "SeedGenerator")))]
        own = {id(variable) for one in other for variable in _variables(one)}
        self.weights = [
            one
            for one in objects
            if _is_variable(one) and id(one) not in own and one is not _counter(checkpoint)
        ]
        self.weights.sort(key=lambda one: creation.place(tools.variable(one)))
        names = [_name(one, tools) for one in self.weights]
        twice = {name for name, count in collections.Counter(names).items() if count > 1}
        self.names = [
            "/".join(part.name for part in paths[one]) if name in twice else name
            for name, one in zip(names, self.weights)
        ]
        self.averaged = self._averaged(objects)

    def _averaged(self, objects: list[Any]) -> dict[int, int]:
        """By the place of a moving average, that of the weight whose average it is.

        The migration writes models that have another one of their class as ``averages``; their
        steps move its variables with the model's in this order.
        """
        place = {id(self.tools.variable(one)): i for i, one in enumerate(self.weights)}
        found: dict[int, int] = {}
        for one in objects:
            other = getattr(one, "__dict__", {}).get("averages")
            if other is None or type(other) is not type(one):
                continue
            sides = [
                [place.get(id(self.tools.variable(v))) for v in model.trainable_variables]
                for model in (other, one)
            ]
            if None not in sides[0] + sides[1] and len(sides[0]) == len(sides[1]):
                found.update(zip(*sides))
        return found

    @property
    def built(self) -> bool:
        """Whether the variables exist."""
        return bool(self.weights) and all(
            getattr(one, "built", False) or getattr(one, "_built", False) for one in self.made
        )

    def about(self, i: int) -> dict[str, Any]:
        shape = [int(n) for n in self.weights[i].shape]
        return {"name": self.names[i], "shape": shape, "averages": self.averaged.get(i)}

    def optimizers(self) -> list[dict[str, Any]]:
        """The optimizers as ``partners`` is told of them; keeps what each row's place means."""
        self.slots: dict[Any, Any] = {}
        return [self._about(place, one) for place, one in enumerate(self.made)]

    def _about(self, place: int, optimizer: Any) -> dict[str, Any]:
        kind = _kind(optimizer)
        name = getattr(optimizer, "name", None) or kind
        about: dict[str, Any] = {"kind": kind, "steps": f"{name}/iterations", "slots": []}
        indices = getattr(optimizer, "_index_dict", None)  # of Keras 2
        if indices is None:
            indices = getattr(optimizer, "_trainable_variables_indices", {})
        at = {}
        for i, weight in enumerate(self.weights):
            for one in (weight, self.tools.variable(weight)):
                index = indices.get(optimizer._var_key(one))
                if index is not None:
                    at[i] = index
        about["weights"] = list(at)
        if kind == "Adam":
            about["beta"] = [float(optimizer.beta_1), float(optimizer.beta_2)]
        slot: dict[str, Any]
        for word, kept in _own_slots(optimizer, len(indices)):
            # A class of the program's own, which calls them as it did in TF1.
            variables = {i: f"{self.names[i]}/{word}" for i in at}
            slot = {"word": word, "own": True, "variables": variables, "change": ("copy",)}
            about["slots"].append(slot)
            self.slots.update({(place, word, i): kept[index] for i, index in at.items()})
        if about["slots"] or (kind == "SGD" and not optimizer.momentum):
            return about
        for attribute, option in _SLOTS[kind]:
            if option and not getattr(optimizer, option):
                continue
            word = attribute.strip("_")
            kept = list(getattr(optimizer, attribute))
            slot = {"word": word, "variables": None, "change": ("copy",)}
            slot["reason"] = f"the new program's {kind} has no {word}"
            if kept:
                slot["variables"] = {i: f"{self.names[i]}/{word}" for i in at}
                self.slots.update({(place, word, i): kept[index] for i, index in at.items()})
            if kind == "SGD":
                slot["change"] = ("times", -_rate(optimizer))
            if word == "velocities" and kind == "RMSprop":
                slot["change"] = ("rest of one",)
            about["slots"].append(slot)
        return about

    def assign(self, plan: Any, reader: Any) -> None:
        """One tensor at a time; the counts of steps first, on which other values depend."""
        for row in sorted(plan.rows, key=lambda row: row.kind != "steps"):
            self._assign(row, reader)

    def _assign(self, row: Any, reader: Any) -> None:
        import numpy

        if row.change[0] == "own":
            return
        if row.kind == "steps":
            self._set(self.made[row.place].iterations, numpy.asarray(row.change[1]))
            return
        variable = self._variable(row)
        self._set(variable, _changed(reader.get_tensor(row.source), self._change(row)))

    def steps(self, place: int) -> int:
        """How many an optimizer has made."""
        return int(self.tools.value(self.tools.variable(self.made[place].iterations)))

    def value(self, row: Any) -> Any:
        """What TF1 has for a row's variable."""
        variable = self.tools.variable(self._variable(row))
        return _undone(self.tools.value(variable), self._change(row))

    def _variable(self, row: Any) -> Any:
        return self.weights[row.place] if row.kind == "weight" else self.slots[row.place]

    def _change(self, row: Any) -> Any:
        if row.change[0] == "rest of one":
            return ("minus", _rest(self.made[row.place[0]]))
        return row.change

    def _set(self, variable: Any, value: Any) -> None:
        inner = self.tools.variable(variable)
        for part in self.tools.parts(inner) or [inner]:
            part.assign(value.astype(part.dtype.as_numpy_dtype))


def _changed(value: Any, change: Any) -> Any:
    import numpy

    if change[0] == "times":
        value = value * numpy.asarray(change[1], value.dtype)
    elif change[0] == "minus":
        value = value - numpy.asarray(change[1], value.dtype)
    return numpy.asarray(value)


def _undone(value: Any, change: Any) -> Any:
    """``_changed``, the other way round."""
    import numpy

    if change[0] == "times":
        value = value / numpy.asarray(change[1], value.dtype)
    elif change[0] == "minus":
        value = value + numpy.asarray(change[1], value.dtype)
    return value


def _power(beta: float, exponent: int) -> Any:
    """As TF1 has it: multiplied step by step, in single precision."""
    import numpy

    factor = found = numpy.float32(beta)
    for _ in range(exponent - 1):
        found = numpy.float32(found * factor)
        if not found:
            break
    return found


def _moved() -> dict[str, Any]:
    """By the kind of an optimizer that the program has built, what its slots are made of: the
    factor of a velocity; whether there is a mean gradient, and what is left of the one that mean
    squares begin at, by the step."""
    found: dict[str, Any] = {}
    for one in gc.get_objects():
        if not _is_a(one, ("Optimizer",)) or not hasattr(one, "apply_gradients"):
            continue
        if not (getattr(one, "built", False) or getattr(one, "_built", False)):
            continue
        kind = _kind(one)
        if kind == "SGD" and one.momentum:
            about: Any = -_rate(one)
        elif kind == "RMSprop":
            one.iterations.assign(0)
            about = (bool(one.centered), float(one.rho) if _rest(one) > 0.5 else 0.0)
        else:
            continue
        if found.setdefault(kind, about) != about:
            raise Refused(f"which of several {kind} optimizers keeps what cannot be determined")
    return found


def _is_variable(one: Any) -> bool:
    return hasattr(one, "assign") and hasattr(one, "shape") and not hasattr(one, "apply_gradients")


def _is_a(one: Any, names: tuple[str, ...]) -> bool:
    """Whether it is of a class of Keras's, or of one derived from it."""
    return any(c.__name__ in names and "keras" in c.__module__ for c in type(one).__mro__)


def _is_of_keras_3(model: Any) -> bool:
    return any(c.__module__ == "keras.src.models.model" for c in type(model).__mro__)


def _variables(one: Any) -> list[Any]:
    """The variables of an optimizer, a metric, a generator of seeds."""
    found = getattr(one, "variables", None) or []
    found = list(found() if callable(found) and not isinstance(found, list) else found)
    names = ("state", "_iterations", "_learning_rate")
    return found + [getattr(one, name) for name in names if hasattr(one, name)]


def _counter(checkpoint: Any) -> Any:
    return getattr(checkpoint, "_save_counter", None)


def _name(variable: Any, tools: Any) -> str:
    name = getattr(variable, "path", None) or tools.name(variable)
    return str(name).split(":")[0]


def _kind(optimizer: Any) -> str:
    """The class of Keras's whose update an optimizer does."""
    for cls in type(optimizer).__mro__:
        if "keras" in cls.__module__:
            if cls.__name__ in _SLOTS and "legacy" not in cls.__module__:
                return cls.__name__
            raise Refused(f"what {cls.__module__}.{cls.__name__} keeps is not known to be TF1's")
    raise Refused(f"what {type(optimizer).__name__} keeps is not known to be TF1's")


def _rate(optimizer: Any) -> float:
    """The factor between TF1's sum of gradients and the velocity of Keras's SGD."""
    rate = optimizer._learning_rate
    if not hasattr(rate, "assign"):
        raise Refused(
            "Keras's SGD keeps earlier learning rates in its momentum, TF1 does not: under a "
            "schedule no value of it continues TF1's (--weights-only)"
        )
    return float(rate.numpy())


def _rest(optimizer: Any) -> float:
    """What TF1's mean squares have more than these: they begin at one, where that is not in the
    epsilon of the class that the migration writes."""
    base = float(optimizer.get_config()["epsilon"])
    now = optimizer.epsilon
    now = float(now.numpy() if hasattr(now, "numpy") else now)
    return (now - base) / float(optimizer.rho)
