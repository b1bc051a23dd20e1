"""Names that newer Pythons, NumPys and SciPys have no more: TF2 brings those along.

TF 2.15 takes Python 3.9 to 3.11 and NumPy before 2.0, the newest TensorFlow later ones; those
have no scikit-learn, pandas and h5py from before 2020. What is listed here stops a program there,
whatever TensorFlow has.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from migrate_mgpu.analysis.diagnostics import Diagnostic, Place
from migrate_mgpu.analysis.module import Module, fact, fact_of_text
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.ragged_arrays import MAKES_ARRAYS

_ABSTRACT = (
    "Callable Container Hashable ItemsView Iterable Iterator KeysView Mapping MappingView "
    "MutableMapping MutableSequence MutableSet Sequence Set Sized ValuesView"
)
_SCIPY_IMAGES = "bytescale fromimage imfilter imread imresize imrotate imsave imshow toimage"

# Each name by the release that has it no more: the name that does the same there.
CHANGES: dict[str, dict[str, str]] = {
    "NumPy 1.24": {
        **{f"numpy.{name}": name for name in ("complex", "float", "int", "object", "str")},
        "numpy.unicode": "str",
    },
    "NumPy 1.24 to 1.26": {"numpy.bool": "bool", "numpy.long": "int"},
    "NumPy 1.23": {"numpy.asscalar": "x.item()"},
    "NumPy 1.18": {"numpy.rank": "numpy.ndim"},
    "NumPy 2.0": {
        "numpy.Inf": "numpy.inf",
        "numpy.Infinity": "numpy.inf",
        "numpy.NAN": "numpy.nan",
        "numpy.NINF": "-numpy.inf",
        "numpy.NaN": "numpy.nan",
        "numpy.PINF": "numpy.inf",
        "numpy.alltrue": "numpy.all",
        "numpy.asfarray": "numpy.asarray(x, dtype=float)",
        "numpy.cast": "numpy.asarray(x, dtype=...)",
        "numpy.complex_": "numpy.complex128",
        "numpy.cumproduct": "numpy.cumprod",
        "numpy.float_": "numpy.float64",
        "numpy.infty": "numpy.inf",
        "numpy.mat": "numpy.asmatrix",
        "numpy.product": "numpy.prod",
        "numpy.round_": "numpy.round",
        "numpy.sctypes": "the types by name",
        "numpy.sometrue": "numpy.any",
        "numpy.string_": "numpy.bytes_",
        "numpy.unicode_": "numpy.str_",
    },
    "NumPy 2.5": {
        "numpy.bool8": "numpy.bool_",
        "numpy.in1d": "numpy.isin",
        "numpy.int0": "numpy.intp",
        "numpy.msort": "numpy.sort(x, axis=0)",
        "numpy.row_stack": "numpy.vstack",
        "numpy.trapz": "numpy.trapezoid",
    },
    "SciPy 1.2": {"scipy.ndimage.imread": "imageio.imread"},
    "SciPy 1.3": {
        **{f"scipy.misc.{name}": "imageio or Pillow" for name in _SCIPY_IMAGES.split()},
        "scipy.misc.comb": "scipy.special.comb",
        "scipy.misc.factorial": "scipy.special.factorial",
        "scipy.misc.logsumexp": "scipy.special.logsumexp",
    },
    "SciPy 1.8": {"scipy.sparse.linalg.eigen.arpack": "scipy.sparse.linalg"},
    "Python 3": {
        "itertools.ifilter": "filter",
        "itertools.imap": "map",
        "itertools.izip": "zip",
        "itertools.izip_longest": "itertools.zip_longest",
        "os.getcwdu": "os.getcwd",
        "string.letters": "string.ascii_letters",
        "string.lowercase": "string.ascii_lowercase",
        "string.maketrans": "str.maketrans",
        "string.uppercase": "string.ascii_uppercase",
        "sys.maxint": "sys.maxsize",
        "sys.setdefaultencoding": "nothing: text is Unicode",
        "urllib.quote": "urllib.parse.quote",
        "urllib.unquote": "urllib.parse.unquote",
        "urllib.urlencode": "urllib.parse.urlencode",
        "urllib.urlopen": "urllib.request.urlopen",
        "urllib.urlretrieve": "urllib.request.urlretrieve",
    },
    "Python 3.8": {
        "cgi.escape": "html.escape",
        "platform.dist": "the package distro",
        "platform.linux_distribution": "the package distro",
        "time.clock": "time.perf_counter",
    },
    "Python 3.9": {
        "base64.decodestring": "base64.decodebytes",
        "base64.encodestring": "base64.encodebytes",
        "fractions.gcd": "math.gcd",
    },
    "Python 3.10": {f"collections.{name}": f"collections.abc.{name}" for name in _ABSTRACT.split()},
    "Python 3.11": {
        "inspect.formatargspec": "inspect.signature",
        "inspect.getargspec": "inspect.getfullargspec",
    },
    "Python 3.12": {"imp": "importlib"},
    "librosa 0.8": {"librosa.output": "soundfile.write"},
    "scikit-image 0.18": {
        "skimage.measure.compare_mse": "skimage.metrics.mean_squared_error",
        "skimage.measure.compare_psnr": "skimage.metrics.peak_signal_noise_ratio",
        "skimage.measure.compare_ssim": "skimage.metrics.structural_similarity",
    },
    "Pillow 10": {"PIL.Image.ANTIALIAS": "PIL.Image.LANCZOS"},
    "scikit-learn 0.20": {
        "sklearn.cross_validation": "sklearn.model_selection",
        "sklearn.grid_search": "sklearn.model_selection",
        "sklearn.learning_curve": "sklearn.model_selection",
        "sklearn.lda": "sklearn.discriminant_analysis",
        "sklearn.qda": "sklearn.discriminant_analysis",
    },
    "scikit-learn 0.22": {
        "sklearn.datasets.fetch_mldata": "sklearn.datasets.fetch_openml",
        "sklearn.preprocessing.Imputer": "sklearn.impute.SimpleImputer",
    },
    "scikit-learn 0.23": {"sklearn.externals.joblib": "joblib"},
    "scikit-learn 1.2": {
        "sklearn.datasets.load_boston": "sklearn.datasets.fetch_california_housing"
    },
}
# Arguments of functions, in the same form; `bytes` are those that are no text with a `sep`.
ARGUMENTS: dict[str, dict[str, str]] = {
    "NumPy 1.24": {f"numpy.{name}(normed)": "density" for name in ("histogram", "histogram2d")},
    "NumPy 2.5": {
        "numpy.fromstring(bytes)": "numpy.frombuffer",
        "numpy.reshape(newshape)": "the shape as its second argument",
        **{
            f"numpy.{name}(interpolation)": "method"
            for name in ("nanpercentile", "nanquantile", "percentile", "quantile")
        },
    },
}
_CHANGED = {
    name: (release, instead)
    for table in (CHANGES, ARGUMENTS)
    for release, names in table.items()
    for name, instead in names.items()
}
# What SciPy's root has itself: until 1.12 it had NumPy's functions as well.
_SCIPYS = (
    "LowLevelCallable cluster constants datasets differentiate fft fftpack integrate interpolate "
    "io linalg misc ndimage odr optimize show_config signal sparse spatial special stats test "
    "version"
)
_LAST = {name.rpartition(".")[2] for names in CHANGES.values() for name in names if "." in name}
_GIVEN = [name[:-1].partition("(")[::2] for names in ARGUMENTS.values() for name in names]
# Methods by the number of their arguments: what has them no more, and what does the same.
METHODS = {
    "_parse_flags": (0, "FLAGS of TensorFlow 1.5", "FLAGS(sys.argv, known_only=True)"),
    "has_key": (1, "dict of Python 3", "in"),
    "iteritems": (0, "dict of Python 3", "items"),
    "iterkeys": (0, "dict of Python 3", "keys"),
    "itervalues": (0, "dict of Python 3", "values"),
    "tostring": (0, "array of NumPy 2.5", "tobytes"),
    "viewitems": (0, "dict of Python 3", "items"),
}
# The same of a package's objects, told where a file imports it: `ix` and `value` are no methods.
OBJECTS = {
    "as_matrix": ("pandas", "DataFrame of pandas 1.0", "to_numpy()"),
    "ix": ("pandas", "DataFrame of pandas 1.0", "loc"),
    "value": ("h5py", "Dataset of h5py 3.0", "[()]"),
}
# Calls that need an argument more, and one that gives a value more.
PICKLED, UNSAFE, STEP = "numpy.load(pickled)", "yaml.load(file)", "gym.Env.step"
# A pickle that is written to, or read from, a file of text; the flags in an object of TensorFlow's.
AS_TEXT, OF_DICT = "pickle(text)", "FLAGS.__dict__"
_PICKLES = {f"{name}.{kind}" for name in ("pickle", "cPickle") for kind in ("dump", "load")}
# What gave lists in Python 2: methods of a dict, and functions.
_VIEWS = ("items", "keys", "values")
_LAZY = ("filter", "map", "zip")
_WORDS = "|".join(sorted(_LAST | METHODS.keys() | {"fromstring", "imp"}))
_ARGUMENTS = "|".join(sorted({argument for _, argument in _GIVEN}))
_MAY_HAVE = re.compile(
    rf"\.(?:{_WORDS})\b|\bimport\b[^\n]*\b(?:{_WORDS})\b|\b(?:{_ARGUMENTS})\s*="
    r"|\bimport[^\n]*\bscipy\b(?!\.)|\bfrom\s+scipy\s"
    rf"|\.(?:{'|'.join(_VIEWS)})\(\)\s*[+[]|\+\s*[^\n]*\.(?:{'|'.join(_VIEWS)})\(\)"
    rf"|\b(?:{'|'.join(_LAZY)})\([^\n]*\)\s*[+[]|\+\s*(?:{'|'.join(_LAZY)})\("
    r"|=[^\n=]*\.step\(|\bas_matrix\(|\.ix\[|\]\.value\b|\byaml\.load\("
    r"|\bload\([^\n]*\)\s*(?:\.item\(\)|\[\(\)\])"
    r"|\b[pP]ickle\b|__dict__\[.__flags.\]"
    rf"|{MAKES_ARRAYS}".encode()
)


def may_have_changes(data: bytes) -> bool:
    """Whether a file may have such a name, or make such arrays, by its words."""
    return _MAY_HAVE.search(data) is not None


@fact
def library_changes(module: Module) -> list[Diagnostic]:
    """Each such name of a module, once, where it stands first."""
    return [_removed_name(Place(module, node), name) for name, node in _first(module).items()]


@fact_of_text
def _first(module: Module) -> dict[str, ast.AST]:
    found: dict[str, ast.AST] = {}
    for name, node in sorted(_mentions(module), key=lambda one: one[1].lineno):
        if name not in found and not module.is_guarded(node):
            found[name] = node
    return found


def _mentions(module: Module) -> Iterator[tuple[str, ast.expr | ast.stmt]]:
    names = module.names
    for last in _LAST & names.attributes.keys():
        for node in names.attributes[last]:
            name = names.qualname(node)
            if name in _CHANGED:
                yield name, node
    if "scipy" in module.source.text:
        for nodes in names.attributes.values():
            yield from (
                (name, node) for node in nodes if _was_numpys(name := names.qualname(node) or "")
            )
    for statement in names.imports:
        if isinstance(statement, ast.ImportFrom):
            base = names.absolute(statement)
            spelled = [base, *(f"{base}.{alias.name}" for alias in statement.names)]
        else:
            spelled = [alias.name for alias in statement.names]
        for name in spelled:
            top = name.partition(".")[0]
            if name in _CHANGED or top in _CHANGED:
                yield (name if name in _CHANGED else top), statement
            elif _was_numpys(name) and isinstance(statement, ast.ImportFrom):
                yield name, statement
    for function, argument in _GIVEN:
        for node in names.attributes.get(function.rpartition(".")[2], ()):
            call = names.parents[node]
            if isinstance(call, ast.Call) and call.func is node and _gives(call, argument):
                if names.qualname(node) == function:
                    yield f"{function}({argument})", node
    for method, (count, *_) in METHODS.items():
        for node in names.attributes.get(method, ()):
            call = names.parents[node]
            if isinstance(call, ast.Call) and call.func is node and len(call.args) == count:
                if f"def {method}" not in module.source.text:
                    yield method, node
    yield from _used_as_lists(module)
    for name, (package, *_) in OBJECTS.items():
        for node in names.attributes.get(name, ()) if _imports(module, package) else ():
            if _is_of_object(names.parents[node], node, name):
                yield name, node
    for node in names.attributes.get("load", ()):
        call = names.parents[node]
        if isinstance(call, ast.Call) and call.func is node:
            name = names.qualname(node)
            if name == "numpy.load" and _reads_objects(module, call):
                yield PICKLED, node
            elif name == "yaml.load" and len(call.args) == 1 and not call.keywords:
                yield UNSAFE, node
    for node in (*names.attributes.get("dump", ()), *names.attributes.get("load", ())):
        call = names.parents[node]
        if isinstance(call, ast.Call) and call.func is node and _is_of_text(module, call):
            yield AS_TEXT, node
    for node in names.attributes.get("__dict__", ()):
        parent = names.parents[node]
        if isinstance(parent, ast.Subscript) and constant(parent.slice) == "__flags":
            yield OF_DICT, node
    for node in names.attributes.get("step", ()) if _imports(module, "gym") else ():
        call = names.parents[node]
        called = isinstance(call, ast.Call) and call.func is node
        taken = names.parents[call] if called else None
        if isinstance(taken, ast.Assign) and taken.value is call:
            target = taken.targets[0]
            if isinstance(target, ast.Tuple) and len(target.elts) == 4:
                yield STEP, node


def _is_of_text(module: Module, call: ast.Call) -> bool:
    """Whether a pickle is of a file that is opened as text, in the call or by a name."""
    name = module.names.qualname(call.func)
    at = 1 if name is not None and name.endswith(".dump") else 0
    if name not in _PICKLES or len(call.args) <= at:
        return False
    opened: ast.AST | None = call.args[at]
    if isinstance(opened, ast.Name):
        opened = _opened(module, opened)
    if not isinstance(opened, ast.Call) or not isinstance(opened.func, ast.Name):
        return False
    if opened.func.id != "open" or module.names.qualname(opened.func) != "builtins.open":
        return False
    given = {one.arg: one.value for one in opened.keywords}
    mode = opened.args[1] if len(opened.args) > 1 else given.get("mode")
    told = "r" if mode is None and None not in given else constant(mode)
    return isinstance(told, str) and "b" not in told


def _opened(module: Module, name: ast.Name) -> ast.AST | None:
    """What a name is in the `with` around it, or the only thing that it is given."""
    for parent in module.names.ancestors(name):
        for item in parent.items if isinstance(parent, ast.With) else ():
            target = item.optional_vars
            if isinstance(target, ast.Name) and target.id == name.id:
                return item.context_expr
    return module.names.only_value(name)


def _imports(module: Module, package: str) -> bool:
    return any(name.partition(".")[0] == package for name, _ in module.imported_names)


def _is_of_object(parent: ast.AST | None, node: ast.Attribute, name: str) -> bool:
    """Whether an attribute is used as that of a table, or of an array by its name in a file."""
    if name == "as_matrix":
        return isinstance(parent, ast.Call) and parent.func is node
    if name == "ix":
        return isinstance(parent, ast.Subscript) and parent.value is node
    key = node.value.slice if isinstance(node.value, ast.Subscript) else None
    if not isinstance(node.ctx, ast.Load) or (isinstance(parent, ast.Call) and parent.func is node):
        return False
    return isinstance(key, ast.Constant) and isinstance(key.value, str)


def _reads_objects(module: Module, call: ast.Call) -> bool:
    """Whether what NumPy loads is asked for the dict that it is, and may not be one.

    That is `np.load(path).item()`, or `[()]` behind it.
    """
    given = {one.arg for one in call.keywords}
    if {"allow_pickle", None} & given or len(call.args) > 2:
        return False
    parent = module.names.parents[call]
    if isinstance(parent, ast.Attribute) and parent.attr == "item":
        taken = module.names.parents[parent]
        return isinstance(taken, ast.Call) and taken.func is parent and not taken.args
    if not isinstance(parent, ast.Subscript) or parent.value is not call:
        return False
    return isinstance(parent.slice, ast.Tuple) and not parent.slice.elts


def _used_as_lists(module: Module) -> Iterator[tuple[str, ast.expr]]:
    """What gives no list in Python 3, where it is added to something or asked for a place."""
    names = module.names
    for name in _VIEWS:
        for node in names.attributes.get(name, ()):
            call = names.parents[node]
            asks = isinstance(call, ast.Call) and call.func is node and not call.args
            if asks and _is_used_as_list(names.parents[call], call):
                if f"def {name}" not in module.source.text:
                    yield name, node
    for call in names.calls:
        func = call.func
        if isinstance(func, ast.Name) and func.id in _LAZY:
            known = names.qualname(func) == f"builtins.{func.id}"
            if known and _is_used_as_list(names.parents[call], call):
                yield func.id, func


def _is_used_as_list(parent: ast.AST | None, call: ast.AST) -> bool:
    if isinstance(parent, ast.BinOp):
        return isinstance(parent.op, ast.Add)
    return isinstance(parent, ast.Subscript) and parent.value is call


def _was_numpys(name: str) -> bool:
    """Whether a name of SciPy's root was NumPy's."""
    root, _, rest = name.partition(".")
    return (
        root == "scipy" and rest.isidentifier() and rest[0] != "_" and rest not in _SCIPYS.split()
    )


def _gives(call: ast.Call, argument: str) -> bool:
    named = {keyword.arg for keyword in call.keywords}
    if argument == "bytes":
        return "sep" not in named and len(call.args) < 4
    return argument in named


def _removed_name(place: Place, name: str) -> Diagnostic:
    if name in _VIEWS:
        text = f"no dict of Python 3 gives a list by `{name}`"
        advice = f"write list(x.{name}()), if it is a dict"
    elif name in _LAZY:
        text, advice = f"`{name}` gives no list in Python 3", f"write list({name}(...))"
    elif name == PICKLED:
        text = "`numpy.load` reads no pickled objects since NumPy 1.16.3, unless it is told to"
        advice = "give it allow_pickle=True, for a file that you trust"
    elif name == UNSAFE:
        text = "`yaml.load` asks for a Loader since PyYAML 6"
        advice = "use yaml.safe_load, or give it Loader=yaml.Loader for a file that you trust"
    elif name == AS_TEXT:
        text = "`pickle` gives and takes bytes in Python 3, and this file is opened as text"
        advice = "open it with 'wb', or 'rb'"
    elif name == OF_DICT:
        text = "`FLAGS` has no `__flags` in its `__dict__` since TensorFlow 1.5"
        advice = "write FLAGS.__flags, or FLAGS.flag_values_dict()"
    elif name == STEP:
        text = "`step` of gym 0.26 gives five values, and no gym runs with NumPy 2"
        advice = "beside TF 2.15 install gym<0.26; for the newest use gymnasium"
    elif name in OBJECTS:
        _, owner, instead = OBJECTS[name]
        text, advice = f"no {owner} has `{name}`", f"write `{instead}`"
    elif name in METHODS:
        _, owner, instead = METHODS[name]
        text, advice = f"no {owner} has `{name}`", f"write `{instead}`"
    else:
        if _was_numpys(name):
            release, instead = "SciPy 1.12", name.replace("scipy", "numpy", 1)
        else:
            release, instead = _CHANGED[name]
        text, advice = f"`{name}` is gone in {release}", f"use {instead}"
    return Diagnostic("library-change", place, text, advice, symbol=name)
