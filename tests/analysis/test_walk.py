"""The engine's own walk over a tree sees what Python's does."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from migrate_mgpu.analysis.scopes import walk

FIXTURES = Path(__file__).parents[2] / "fixtures/estimator"
UNSEEN = (ast.expr_context, ast.operator, ast.boolop, ast.cmpop, ast.unaryop)
CODE = """
async def f(a, /, b: int = 1, *c, d=lambda x: x, **e) -> "f":
    async with a as (g, h), b:
        return [i async for i in a if not i] + {**e, 1: f"{a!r:>{b}}"}["x"]
    try:
        del a[1:2, ...], c.d
    except (A, B) as error:
        raise C from error
    else:
        global z
    finally:
        z: int = (y := await a) @ ~b if a and b < c is not d else (yield)
    with a:
        from m import n as o, p
    return {*a}
"""


@pytest.mark.parametrize("text", [CODE, *(p.read_text() for p in FIXTURES.glob("*/before.py"))])
def test_the_nodes_and_their_order(text: str) -> None:
    tree = ast.parse(text)
    seen = [node for node in ast.walk(tree) if not isinstance(node, UNSEEN)]
    assert walk(tree) == tuple(seen)
