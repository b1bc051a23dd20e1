"""A program of Python 2 becomes one of Python 3, which is what TF2 runs on.

## What it does
In the files of a program that is migrated, what only Python 2 understands is written as Python 3
has it: `print` and `exec` statements, `except X, e`, `raise X, y`, backticks, `<>`, old numbers,
`has_key`, `iteritems`, lists from `map`, `zip`, `filter`, `range` and `keys()`, parameters that are
tuples, `__metaclass__`, names of built-ins (`xrange`, `unicode`, `raw_input`, `long`,
`reduce`, ...) and of modules (`cPickle`, `Queue`, `urllib2`, ...). `reload(sys)` with
`sys.setdefaultencoding('utf-8')` goes. Where both sides of `/` are seen to be integers, it becomes
`//`. Tabs become spaces in a file that mixes them in a way that Python 3 refuses; `__future__`
imports behind a second string stand below the first.
[fissix](https://github.com/amyreese/fissix), which goes on with lib2to3, does it.

## Why
TF2 has no Python 2. A program is refused for a single print statement otherwise.

## Safety
All other lines stay byte for byte, and no list is made of what is walked through on the spot. The
result must compile, or the file stays and the finding says why; a file outside of any migrated
program stays too. The cells of a notebook are converted together, those of `%%` magics stay; choose
a kernel of Python 3 for it. Where the two Pythons compute differently and the code
does not say enough (`/` of what may be integers, `encode` and `decode`, `.next()`, pickles),
MGPU908 names the place. `StringIO` that is used, `cmp`, `execfile` and `unicode(x, encoding)`
have more than one form in Python 3: such a program stays. In a file without a print statement
`print(a, b)` stays, which Python 2 printed as a tuple.

## References
[lib2to3's fixers](https://docs.python.org/3.12/library/2to3.html#fixers)
"""

from __future__ import annotations

import ast
import warnings
from contextlib import suppress
from pathlib import Path

from migrate_mgpu.core.registry import Case, Rule
from migrate_mgpu.session_config.program_rewriter import PythonRewriter
from migrate_mgpu.source.source import Edit, Source, SourceError, splice

RULE = Rule(
    code="MGPU212",
    name="python-3",
    summary="the file is Python 3 now",
)

CASES = (
    Case(
        "statements that are functions",
        """\
import tensorflow as tf

with tf.Session() as sess:
    for step in xrange(10):
        try:
            print "step", step  # each of them
        except tf.errors.OutOfRangeError, e:
            print >>log, e
""",
        """\
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

with tf.Session() as sess:
    for step in range(10):
        try:
            print("step", step)  # each of them
        except tf.errors.OutOfRangeError as e:
            print(e, file=log)
""",
    ),
    Case(
        "the default encoding",
        """\
# -*- coding: utf-8 -*-
import sys
reload(sys)
sys.setdefaultencoding('utf8')
import tensorflow as tf

with tf.Session() as sess:
    print(sess.run(tf.constant(1)))
""",
        """\
# -*- coding: utf-8 -*-
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

with tf.Session() as sess:
    print(sess.run(tf.constant(1)))
""",
    ),
    Case(
        "names and divisions",
        """\
import cPickle
import tensorflow as tf

names = {1: u"one"}
half = len(names) / 2
total = reduce(lambda a, b: a + b, names.keys())
if isinstance(names[1], unicode) and names.has_key(1):
    first = names.keys()[0]
with tf.Session() as sess:
    cPickle.dump(sess.run(tf.constant(half)), open("half", "wb"))
""",
        """\
from functools import reduce
import pickle
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

names = {1: u"one"}
half = len(names) // 2
total = reduce(lambda a, b: a + b, list(names.keys()))
if isinstance(names[1], str) and 1 in names:
    first = list(names.keys())[0]
with tf.Session() as sess:
    pickle.dump(sess.run(tf.constant(half)), open("half", "wb"))
""",
    ),
    Case(
        "imports behind two strings",
        """\
'''The license.'''

'''Trains.'''

from __future__ import print_function

import tensorflow as tf

with tf.Session() as sess:
    print(sess.run(tf.constant(1)))
""",
        """\
'''The license.'''
from __future__ import print_function

'''Trains.'''


import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

with tf.Session() as sess:
    print(sess.run(tf.constant(1)))
""",
    ),
    Case(
        "a division that may be one of integers",
        """\
import tensorflow as tf

def batches(count, size):
    print "batches:", count / size
    return count / float(size)

with tf.Session() as sess:
    sess.run(batches(10, 3))
""",
        """\
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

def batches(count, size):
    print("batches:", count / size)
    return count / float(size)

with tf.Session() as sess:
    sess.run(batches(10, 3))
""",
        refused="Python 2 divided integers to an integer here",
    ),
    Case(
        "text or bytes",
        """\
import StringIO
import tensorflow as tf

with tf.Session() as sess:
    StringIO.StringIO(sess.run(tf.constant("a")))
""",
        refused="`StringIO` is Python 2",
    ),
    Case(
        "a module that nothing uses",
        """\
import StringIO
import tensorflow as tf

with tf.Session() as sess:
    print(sess.run(tf.constant("a")))
""",
        """\
import io
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

with tf.Session() as sess:
    print(sess.run(tf.constant("a")))
""",
    ),
)


def convert(source: Source) -> list[Edit]:
    """The edits that make Python 3 of a file.

    Raises:
        SourceError: they cannot be made, with the reason.
    """
    from migrate_mgpu.source.python_2 import (
        converted,
        edits_to,
        with_first_futures,
        without_tabs,
    )

    old = "\n".join(source.line_text(n + 1) for n in range(len(source.line_starts)))
    with suppress(SyntaxError, ValueError):  # other words of Python 2 may have to go first
        old = with_first_futures(old)
    text = converted(old, keep_prints=_compiles(old))
    try:
        text = with_first_futures(text)
    except TabError:
        text = without_tabs(text)
    except (SyntaxError, ValueError):
        pass  # told below
    text = _named(source.path, text)
    if not _compiles(text):
        raise SourceError("what fissix makes of it does not compile in Python 3")
    return edits_to(source, text)


def _named(path: Path, text: str) -> str:
    from migrate_mgpu.analysis.module import Module
    from migrate_mgpu.analysis.python_2 import renames

    return splice(text, renames(Module(path, Source(path, text), "")))


def _compiles(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the author's code
            # Flagged, for notebooks have `await` at the top.
            compile(text, "<file>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


REWRITER = PythonRewriter(RULE, CASES, convert)
