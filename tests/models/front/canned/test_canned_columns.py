"""Lists of feature columns that functions and loops make, and what becomes of categories."""

from __future__ import annotations

import pytest

from tests.models.front.canned.canned import dense, made_when_run, program
from tests.support.migration import migrated

IDENTITY = "fc.categorical_column_with_identity('a', 3)"
INDICATOR = f"fc.indicator_column({IDENTITY})"


def test_a_function_of_plain_numbers_gives_their_keys() -> None:
    body = "def columns():\n    return [fc.numeric_column('b')]\n\n\n" + dense("columns()")
    after, _ = migrated(program(body))
    assert 'def columns():\n    return ["b"]\n' in after.replace("'", '"')
    assert "feature_columns=columns()" in after


def test_a_function_of_other_columns_goes_with_its_call() -> None:
    body = (
        '# All of them.\ndef columns():\n    """Columns."""\n'
        f"    found = [fc.numeric_column('b')]\n    found.append({INDICATOR})\n"
        "    # These.\n    return found\n\n\n"
    )
    after, _ = migrated(program(body + dense("columns()")))
    assert "def columns" not in after
    assert after.count("# All of them.") == after.count("# These.") == 1
    assert after.index("features['a']") < after.index("features['b']")
    after, _ = migrated(program(body + "given = columns()\n" + dense("given")))
    assert "def columns" not in after and "given" not in after


def test_a_method_may_be_another_one_in_a_subclass() -> None:
    body = (
        f"class Trainer:\n    def columns(self):\n        return [{INDICATOR}]\n\n"
        "    def run(self):\n        est = tf.estimator.DNNClassifier([4], self.columns())\n"
        "        est.train(input_fn, steps=2)\n\n\nTrainer().run()\n"
    )
    made_when_run(body, "which feature columns these are cannot be determined")


EMBEDDED = (
    "def columns({}):\n    hours = fc.categorical_column_with_identity('a', size)\n"
    "    return [fc.embedding_column(hours, dimension=width)]\n\n\n"
)


@pytest.mark.parametrize(
    ("parameters", "call", "size", "width"),
    [
        ("size, width=4", "columns(9)", "9", "4"),
        ("size=7, *, width", "columns(width=2 + X)", "7", "2 + X"),
        ("size, width", "columns(width=X, size=X)", "X", "X"),
    ],
)
def test_a_function_with_parameters(parameters: str, call: str, size: str, width: str) -> None:
    after, _ = migrated(program("X = 3\n" + EMBEDDED.format(parameters) + dense(call)))
    assert f"tf.one_hot(tf.reshape(tf.cast(features['a'], tf.int64), [-1]), {size})" in after
    shown = f"({width})" if " " in width else width
    assert f"            {width},\n" in after and f"stddev={shown} ** -0.5" in after
    assert "def columns" not in after


@pytest.mark.parametrize(
    ("parameters", "call", "more"),
    [
        ("size, width", "columns(*ARGS)", ""),
        ("size, width", "columns(9, w)", "w = 2\n    "),
        ("size, width=3", "columns(9)", "width = width + 1\n    "),
    ],
)
def test_parameters_that_are_not_known_before(parameters: str, call: str, more: str) -> None:
    body = EMBEDDED.format(parameters)
    if "width =" in more:
        body = body.replace("    hours", f"    {more}hours")
        made_when_run(body + dense(call), "one function only")
        return
    made = "ARGS = [1, 2]\n\n\n" + body + f"def main():\n    {more}"
    made += dense(call).replace("\nest", "\n    est") + "\n\nmain()\n"
    made_when_run(made, "one function only")


def test_an_initializer_out_of_a_parameter() -> None:
    body = EMBEDDED.format("size, width").replace(
        "dimension=width", "dimension=2, initializer=tf.truncated_normal_initializer(0.0, width)"
    )
    made_when_run(body + dense("columns(9, 0.1)"), "this initializer cannot be analyzed")


def test_a_function_of_both_parts() -> None:
    body = (
        f"def columns():\n    wide = [{IDENTITY}]\n    deep = [fc.numeric_column('b')]\n"
        "    return wide, deep\n\n\nwide, deep = columns()\n"
        "est = tf.estimator.DNNLinearCombinedClassifier(\n"
        "    linear_feature_columns=wide, dnn_feature_columns=deep, dnn_hidden_units=[4])\n"
        "est.train(input_fn, steps=2)\n"
    )
    after, _ = migrated(program(body))
    assert "def columns" not in after and "wide" not in after
    assert "features['a']" in after and "features['b']" in after
    after, _ = migrated(program(body + "print(wide)\n"))
    assert "class WeightedColumns(" in after and "wide, deep = columns()" in after


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (f"    found = [{INDICATOR}]\n    print(found)\n    return found", "does more than make"),
        (f"    print('columns')\n    return [{INDICATOR}]", "does more than make"),
        (f"    if X:\n        return []\n    return [{INDICATOR}]", "cannot be determined"),
    ],
)
def test_functions_that_do_more(function: str, reason: str) -> None:
    made_when_run(f"X = 1\n\n\ndef columns():\n{function}\n\n\n" + dense("columns()"), reason)


def test_a_function_that_is_called_for_something_else() -> None:
    body = f"def columns():\n    return [{INDICATOR}]\n\n\n"
    made_when_run(body + dense("columns()") + "print(len(columns()))\n", "cannot be determined")
    after, _ = migrated(
        program(
            body + dense("columns()") + "other = tf.estimator.LinearRegressor(columns())\n"
            "other.train(input_fn, steps=2)\n"
        )
    )
    assert "def columns" not in after and "class LinearRegressor(" in after


@pytest.mark.parametrize(
    "columns",
    [
        "[fc.numeric_column(k, shape=2) for k in KEYS]",
        "[fc.numeric_column(k, shape=2) for k in ['c', 'b']]",
        "[fc.numeric_column(shape=2, key=k) for k in ('c',)] + [fc.numeric_column('b', shape=2)]",
    ],
)
def test_loops_over_what_is_written_out(columns: str) -> None:
    after, _ = migrated(program("KEYS = ['c', 'b']\n" + dense(columns)))
    assert after.index("features['b']") < after.index("features['c']")
    looped = (
        "KEYS = ['c', 'b']\ncolumns = []\n# Each.\nfor key in KEYS:\n"
        "    columns.append(fc.numeric_column(key, shape=2))\n"
    )
    after, _ = migrated(program(looped + dense("columns")))
    assert "for key in KEYS" not in after and after.count("# Each.") == 1
    assert after.index("features['b']") < after.index("features['c']")


@pytest.mark.parametrize(
    "wrapped",
    [
        "columns = [fc.indicator_column(one) for one in kinds]",
        "columns = []\nfor one in kinds:\n    columns.append(fc.indicator_column(one))",
        "more = [fc.indicator_column(one) for one in kinds]\ncolumns = [*more]",
    ],
)
def test_loops_over_other_columns(wrapped: str) -> None:
    kinds = "kinds = [fc.categorical_column_with_identity(k, 3) for k in ['c', 'a']]\n"
    second = IDENTITY.replace("'a'", "'c'")
    for made in (kinds, f"first = {IDENTITY}\nkinds = [first]\nkinds.append({second})\n"):
        after, _ = migrated(program(made + wrapped + "\n" + dense("columns")))
        assert after.index("features['a']") < after.index("features['c']")
        assert "kinds" not in after and "columns =" not in after.split("class ")[0]


def test_columns_of_both_parts_in_one_list() -> None:
    body = (
        "kinds = [fc.categorical_column_with_identity(k, 3) for k in ['c', 'a']]\n"
        "est = tf.estimator.DNNLinearCombinedClassifier(linear_feature_columns=kinds,\n"
        "    dnn_feature_columns=[fc.embedding_column(kind, 2) for kind in kinds],\n"
        "    dnn_hidden_units=[4])\nest.train(input_fn, steps=2)\n"
    )
    after, _ = migrated(program(body))
    assert after.count("tf.one_hot(tf.reshape(tf.cast(features['a'], tf.int64), [-1]), 3)") == 2
    assert "self.a_embedding" in after and "self.c_embedding" in after


def test_what_a_loop_leaves_behind() -> None:
    looped = (
        "columns = []\nfor key in ['c', 'b']:\n"
        "    columns.append(fc.numeric_column(key, shape=2))\n"
    )
    made_when_run(
        looped + dense("columns") + "print(key)\n",
        "`key` is used after the loop that makes the columns",
    )
    after, _ = migrated(program(looped + dense("columns") + "for key in 'xy':\n    print(key)\n"))
    assert "class DNNClassifier(" in after


def test_loops_over_a_dictionary() -> None:
    body = "WORDS = {'a': ['x', 'y'], 'c': ['z']}\n" + dense(
        "[fc.indicator_column(fc.categorical_column_with_vocabulary_list(k, w))\n"
        "    for k, w in WORDS.items()]"
    )
    after, _ = migrated(program(body))
    assert "tf.cast(tf.reshape(features['a'], [-1, 1]) == WORDS['a'], tf.float32)," in after
    assert "tf.cast(tf.reshape(features['c'], [-1, 1]) == WORDS['c'], tf.float32)," in after
    made_when_run("WORDS = {}\nWORDS['q'] = ['x']\n" + body, "cannot be determined")
    made_when_run(body.replace("est =", "WORDS.update(q=['x'])\nest ="), "cannot be determined")


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ("[fc.numeric_column(k, shape=2) for k in KEYS if k]", "cannot be determined"),
        ("[fc.numeric_column(k, shape=2) for k in sorted(KEYS)]", "cannot be determined"),
        ("[fc.numeric_column(k, shape=2) for k in KEYS + ['c']]", "is not a list literal"),
        ("[fc.numeric_column(k, shape=2) for k in MORE]", "is not a list literal"),
        (
            "[fc.numeric_column(k, shape=2, normalizer_fn=lambda x: x / len(k)) for k in KEYS]",
            "normalizer_fn cannot be analyzed",
        ),
    ],
)
def test_loops_that_are_not_written_out(columns: str, reason: str) -> None:
    made_when_run("KEYS = ['b']\nMORE = ['b']\nMORE.append('c')\n" + dense(columns), reason)


def test_a_list_that_grows_is_not_what_was_written() -> None:
    """Its first value is not all of it: for a vocabulary, for boundaries, for a cross."""
    grown = "KEYS = ['a', 'b']\nKEYS.append('c')\n"
    words = "fc.categorical_column_with_vocabulary_list('a', KEYS)"
    made_when_run(grown + dense(f"[fc.indicator_column({words})]"), "not a list literal")
    cross = dense("[fc.indicator_column(fc.crossed_column(KEYS, 9))]")
    made_when_run(grown + cross, "what this crossed_column crosses")
    assert "cross_hashed(" in migrated(program(grown.replace("KEYS.append('c')\n", "") + cross))[0]


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("fc.categorical_column_with_identity('a', 3, default_value=1)",
         "tf.where((a < -1) | (a >= 3), tf.constant(1, tf.int64), a)"),
        ("fc.categorical_column_with_vocabulary_list('a', ['x', 'y'], default_value=1)",
         "tf.one_hot(1, 2)"),
        ("fc.categorical_column_with_vocabulary_list('a', [7, 8], default_value=0)",
         "axis=1, keepdims=True) | (a == -1)"),
        ("fc.categorical_column_with_vocabulary_list('a', ['x'], num_oov_buckets=4)",
         "tf.strings.to_hash_bucket_fast(a, 4)"),
        ("fc.categorical_column_with_hash_bucket('a', 9, dtype=tf.int64)",
         "tf.strings.to_hash_bucket_fast(tf.strings.as_string(a), 9)"),
    ],
)  # fmt: skip
def test_unknown_categories(column: str, expected: str) -> None:
    after, _ = migrated(program(dense(f"[fc.indicator_column({column})]")))
    assert expected in " ".join(after.split()).replace("( ", "(").replace(" )", ")")


def test_names_of_a_category_do_not_hide_others() -> None:
    column = "fc.categorical_column_with_hash_bucket('{}', SIZE)"
    for key in ("tf", "SIZE", "len", "class", "features"):
        after, _ = migrated(program("SIZE = 9\nsize = 8\n" + dense(
            f"[fc.indicator_column({column.format(key)})]"
        )))  # fmt: skip
        assert f"\n        {key.lower()}_values = tf.reshape(features['{key}'], [-1])\n" in after
