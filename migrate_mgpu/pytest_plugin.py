"""pytest's ``parity`` fixture: a test that two versions of a program do the same.

    def test_train(parity):
        parity.assert_equivalent("train_v1.py", "train_v2.py", devices=[1, 2])

Every pytest run imports this module: what a comparison needs is imported by the first one.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from migrate_mgpu import INSTALL

if TYPE_CHECKING:
    from migrate_mgpu.parity.compare.tolerances import Tolerances
    from migrate_mgpu.parity.pair import Pair

PROPERTY = "parity_comparison"  # of a report: its number


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("parity", "migrate-mgpu parity")
    group.addoption(
        "--parity-record",
        action="store_true",
        help="write the traces of the old programs anew; each such test fails once",
    )
    group.addoption(
        "--parity-devices", metavar="N,N", help="instead of parity_devices and devices="
    )
    group.addoption("--parity-reference", metavar="RUNTIME", help="runtime of the old programs")
    group.addoption("--parity-target", metavar="RUNTIME", help="runtime of the new programs")
    group.addoption("--parity-report", metavar="FILE", help="all comparisons as one HTML page")
    parser.addini(
        "parity_devices",
        "numbers of GPUs, by commas (1,2; without those that are too few for the program)",
    )
    parser.addini("parity_reference", "runtime of the old programs (tf1.15)")
    parser.addini("parity_target", "runtime of the new programs (tf2.15)")
    parser.addini("parity_timeout", "seconds for a program", default="600")
    parser.addini(
        "parity_recorded", "compare with recorded traces of the old programs", "bool", False
    )


def pytest_configure(config: pytest.Config) -> None:
    path = config.getoption("--parity-report")
    if path and not hasattr(config, "workerinput"):
        if importlib.util.find_spec("jinja2") is None:
            raise pytest.UsageError(f"--parity-report needs jinja2; {INSTALL}")
        config.pluginmanager.register(_Page(Path(path)))


@pytest.fixture
def parity(request: pytest.FixtureRequest) -> Parity:
    """Compares the old and the new version of a program: ``parity.assert_equivalent``."""
    return Parity(request)


class Parity:
    """What the ``parity`` fixture is."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._request = request
        self._config = request.config

    def assert_equivalent(
        self,
        before: str | Path,
        after: str | Path | None = None,
        *,
        devices: Sequence[int] | None = None,
        argv: Sequence[str] = (),
        steps: int | None = None,
        rtol: float | Mapping[str, float] | None = None,
        atol: float | Mapping[str, float] | None = None,
        reference: str | None = None,
        target: str | None = None,
        dropout: str = "mask",
        run_on: str = "auto",
        root: str | Path | None = None,
        packages: Sequence[str] = (),
        timeout: float | None = None,
        recorded: bool | None = None,
    ) -> dict[str, Any]:
        """Fail unless both programs do the same.

        The arguments are the options of ``migrate-mgpu parity``, which docs/parity.md explains.

        Args:
          before, after: the programs; paths start from the test's folder. Without ``after`` a
            copy of the old one is migrated.
          devices: numbers of GPUs, each compared.
          argv: the programs' arguments.
          packages: what both programs import beside TensorFlow, as ``--with`` takes it.
          rtol, atol: tolerances, for all outputs or by their names.
          recorded: compare with the trace that lies beside the old program. One that is missing,
            or of another version of the program, is written, and the test fails once.

        Returns:
          The result, as ``migrate-mgpu parity --json`` prints it.
        """
        __tracebackhide__ = True
        pytest.importorskip("numpy", reason=f"numpy is needed; {INSTALL}")
        from migrate_mgpu.parity.pair import Pair
        from migrate_mgpu.parity.runs.programs import Options
        from migrate_mgpu.parity.runs.supervise import Limits

        seconds = float(self._config.getini("parity_timeout")) if timeout is None else timeout
        limits = Limits(seconds=seconds, memory_mib=None)
        numbers = self._devices(devices)
        wanted = Pair(
            self._path(before),
            None if after is None else self._path(after),
            numbers or (1, 2),
            None if root is None else self._path(root),
            Options(tuple(argv), steps, dropout, run_on, limits),
            _tolerances(rtol, atol),
            self._chosen("reference", reference),
            self._chosen("target", target),
            packages=tuple(packages),
            adapt=not numbers,
        )
        for program in (wanted.before, wanted.after):
            if program is not None and not program.is_file():
                pytest.fail(f"{program}: no such program")
        return self._assert(wanted, recorded)

    def _assert(self, wanted: Pair, recorded: bool | None) -> dict[str, Any]:
        __tracebackhide__ = True
        from migrate_mgpu.cli import migrate_copy
        from migrate_mgpu.parity import pair, storage
        from migrate_mgpu.parity.compare import outcome
        from migrate_mgpu.parity.reports import words

        if recorded is None:
            recorded = bool(self._config.getini("parity_recorded"))
        self._record(wanted, recorded)
        problem: pair.NotCompared | None = None
        result: dict[str, Any] = {}
        try:
            result = pair.compare(wanted, migrate_copy, only_recorded=recorded, make=False)
        except pair.NotCompared as error:
            problem = error
        # Not while it is handled: pytest would show where it was raised.
        if isinstance(problem, pair.Missing):
            pytest.skip(str(problem))
        if problem is not None:
            pytest.fail(f"not compared: {problem}")
        keep = self._config.getoption("--parity-report")
        if words.verdict(result) == outcome.EQUIVALENT:
            if not keep:
                storage.remove(result["comparison"])
                return result
            self._request.node.user_properties.append((PROPERTY, result["comparison"]))
            return result
        self._request.node.user_properties.append((PROPERTY, result["comparison"]))
        pytest.fail(_explained(result))

    def _record(self, wanted: Pair, recorded: bool) -> None:
        """Write the recorded trace where it was asked for, or is needed and not good."""
        __tracebackhide__ = True
        from migrate_mgpu.parity import pair
        from migrate_mgpu.parity.recorded import exists, folder

        again = self._config.getoption("--parity-record")
        problem = pair.recorded_problem(wanted)
        if not again and (not recorded or problem is None):
            return
        failure: pair.NotCompared | None = None
        try:
            pair.keep_reference(wanted, make=False)
        except pair.NotCompared as error:
            failure = error
        if isinstance(failure, pair.Missing):
            if again or not all(exists(wanted.before, n) for n in wanted.devices):
                pytest.skip(f"{problem or 'recording'}: {failure}")
            pytest.fail(f"{problem}, and it cannot be recorded anew: {failure}")
        if failure is not None:
            pytest.fail(f"not recorded: {failure}")
        place = folder(wanted.before, wanted.devices[0]).parent
        pytest.fail(f"recorded trace written to {place}: look at it, and run again")

    def _path(self, path: str | Path) -> Path:
        found = (self._request.path.parent / path).resolve()
        here = Path.cwd()
        # As short as one would type it: reports show it, and the command that repeats.
        return found.relative_to(here) if here in found.parents else found

    def _devices(self, devices: Sequence[int] | None) -> tuple[int, ...]:
        """The numbers that someone chose; empty where nobody did."""
        __tracebackhide__ = True
        text = self._config.getoption("--parity-devices")
        if devices is None or text:
            text = text or self._config.getini("parity_devices")
            if not text:
                return ()
            devices = self._numbers(text)
        if not devices or min(devices) < 1:
            pytest.fail(f"devices {list(devices)}: at least one device")
        return tuple(devices)

    @staticmethod
    def _numbers(text: str) -> tuple[int, ...]:
        __tracebackhide__ = True
        words = [word.strip() for word in text.split(",")]
        if not all(word.isdecimal() for word in words):
            pytest.fail(f"parity_devices {text}: numbers, separated by commas")
        return tuple(int(word) for word in words)

    def _chosen(self, name: str, argument: str | None) -> str | None:
        option: str | None = self._config.getoption(f"--parity-{name}")
        return option or argument or self._config.getini(f"parity_{name}") or None


def _tolerances(
    rtol: float | Mapping[str, float] | None, atol: float | Mapping[str, float] | None
) -> Tolerances:
    from migrate_mgpu.parity.compare.tolerances import Tolerances

    named = [dict(value) if isinstance(value, Mapping) else {} for value in (rtol, atol)]
    common = [None if isinstance(value, Mapping) else value for value in (rtol, atol)]
    return Tolerances(common[0], common[1] or 0.0, named[0], named[1])


def _explained(result: Mapping[str, Any]) -> str:
    """The verdict in a line, which pytest's summary shows, and what the terminal shows."""
    import io

    from migrate_mgpu.parity.reports import terminal, words

    worst = words.verdict(result)
    one = next(one for one in result["results"] if one["verdict"] == worst)
    stream = io.StringIO()
    terminal.write(result, stream)
    first = f"{worst} on {words.devices(one)}: {words.visible(one['reason'])}"
    more = f"more: migrate-mgpu parity show {result['comparison']} --report page.html"
    return f"{first}\n\n{stream.getvalue()}{more}"


class _Page:
    """``--parity-report``: collects the numbers of comparisons, from xdist's workers too."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.numbers: list[int] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            self.numbers += [int(str(n)) for name, n in report.user_properties if name == PROPERTY]

    def pytest_sessionfinish(self) -> None:
        if not self.numbers:
            return
        from migrate_mgpu.parity import storage
        from migrate_mgpu.parity.reports import html

        found = [storage.read(storage.find(str(number))) for number in self.numbers]
        html.write(found, self.path)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.numbers:
            terminalreporter.write_sep("-", f"parity report: {self.path}")
