"""`migrate-mgpu parity` and `checkpoint` in this process: the one way for tests to ask."""

from __future__ import annotations

import io
from typing import Any

from migrate_mgpu.parity import conversion_command
from migrate_mgpu.parity.command import command


def run(*argv: object, migrate: Any = None, programs: Any = None) -> tuple[int, str, str]:
    """Its status, and what it prints on stdout and stderr."""
    stdout, stderr = io.StringIO(), io.StringIO()
    status = command([str(one) for one in argv], stdout, stderr, migrate, programs)
    return status, stdout.getvalue(), stderr.getvalue()


def convert(*argv: object) -> tuple[int, str, str]:
    """`migrate-mgpu checkpoint`: its status, and what it prints on stdout and stderr."""
    stdout, stderr = io.StringIO(), io.StringIO()
    status = conversion_command.command([str(one) for one in argv], stdout, stderr)
    return status, stdout.getvalue(), stderr.getvalue()
