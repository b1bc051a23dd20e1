"""Functions of `tf.contrib.learn.datasets.base` as functions of the program.

    training_set = tf.contrib.learn.datasets.base.load_csv_with_header(
        filename=IRIS_TRAINING, target_dtype=np.int64, features_dtype=np.float32)

TF1's reads rows of numbers, whose first line says how many there are, and has one column apart.
``maybe_download`` gives the path of a file, which it loads where the folder has it not.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.import_edits import with_imports
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_HOMES = ("contrib.learn.datasets.base.", "contrib.learn.python.learn.datasets.base.")
_PARAMETERS = "filename, target_dtype, features_dtype, target_column=-1"
_BODY = '''\
Dataset = collections.namedtuple("Dataset", ["data", "target"])


def {name}({parameters}):
    """The columns of a file of numbers but one, and that one: its first line counts both."""
    with {tf}.io.gfile.GFile(filename) as csv_file:
        rows = csv.reader(csv_file)
        n_samples, n_features = (int(number) for number in next(rows)[:2])
        data = {np}.zeros((n_samples, n_features), dtype=features_dtype)
        target = {np}.zeros((n_samples,), dtype=target_dtype)
        for i, row in enumerate(rows):
            target[i] = {np}.asarray(row.pop(target_column), dtype=target_dtype)
            data[i] = {np}.asarray(row, dtype=features_dtype)
    return Dataset(data=data, target=target)


'''
_DOWNLOAD = '''\
def {name}(filename, work_directory, source_url):
    """The path of a file in a folder, which it is loaded into if it is not there."""
    filepath = os.path.join(work_directory, filename)
    if not {tf}.io.gfile.exists(filepath):
        {tf}.io.gfile.makedirs(work_directory)
        loaded, _ = urllib.request.urlretrieve(source_url)
        {tf}.io.gfile.copy(loaded, filepath)
        size = {tf}.io.gfile.stat(filepath).length
        print("Successfully downloaded", filename, size, "bytes.")
    return filepath


'''


@record(frozen=True)
class _Known:
    """A function: what it may be called, its text, what that imports and names else."""

    name: str
    other: str
    body: str
    imports: frozenset[str]
    taken: tuple[tuple[str, str], ...]  # names, and what they must stand for
    of_numpy: bool = False


_KNOWN = (
    _Known(
        "load_csv_with_header",
        "load_csv",
        _BODY,
        frozenset({"collections", "csv"}),
        (("Dataset", ""), ("collections", "collections"), ("csv", "csv")),
        of_numpy=True,
    ),
    _Known(
        "maybe_download",
        "download_file",
        _DOWNLOAD,
        frozenset({"os", "urllib.request"}),
        (("os", "os"), ("urllib", "urllib")),
    ),
)


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for all such calls of the Estimator's own module; none where it has others."""
    module = flow.module
    if module.importers or not module.writable:
        return {}
    for known in _KNOWN:
        edits = _edits(module, known)
        if edits:
            return {module: edits}
    return {}


def _edits(module: Module, known: _Known) -> list[Edit]:
    names, source = module.names, module.source
    found = [
        node
        for node in names.attributes.get(known.name, ())
        if tensorflow_name(module, node) in [home + known.name for home in _HOMES]
    ]
    numpy = _numpy(module) if known.of_numpy else ""
    if not found or numpy is None:
        return []
    for node in found:
        call = names.parents[node]
        if not isinstance(call, ast.Call) or call.func is not node:
            return []
    bound = names.module_scope.bindings
    if any(b.qualname != what for name, what in known.taken for b in bound.get(name, ())):
        return []
    first = next(s for s in module.tree.body if _holds(s, found) or isinstance(s, _DEFINITIONS))
    layout = Layout(source, first)
    if not layout.owns_lines:
        return []
    style = style_at(module, first)
    name = names.fresh(names.module_scope, known.name, known.other)
    text = style.indented(
        known.body.format(name=name, parameters=_PARAMETERS, tf=style.tensorflow, np=numpy)
    )
    text = text.replace('"Dataset", ["data", "target"]', _quoted(source.quote))
    for said in ("Successfully downloaded", "bytes."):
        text = text.replace(f'"{said}"', f"{source.quote}{said}{source.quote}")
    edits = [Edit(*source.span(node), name) for node in found]
    return [
        *edits,
        layout.insert_before(text.split("\n")[:-1]),
        *with_imports(module, {*known.imports}),
    ]


_DEFINITIONS = (ast.FunctionDef, ast.ClassDef)


def _quoted(quote: str) -> str:
    data, target = (f"{quote}{word}{quote}" for word in ("data", "target"))
    return f"{quote}Dataset{quote}, [{data}, {target}]"


def _holds(statement: ast.stmt, nodes: list[ast.Attribute]) -> bool:
    inside = set(ast.walk(statement))
    return any(node in inside for node in nodes)


def _numpy(module: Module) -> str | None:
    """What a module calls NumPy; None where it does not have it."""
    for name, bindings in module.names.module_scope.bindings.items():
        if len(bindings) == 1 and bindings[0].kind == "import":
            if module.names.roots(name, module.names.module_scope) == ("numpy",):
                return name
    return None
