"""The HTML page: what stands in it, that nothing from a program gets out of its text, and
how a real browser shows it."""

from __future__ import annotations

import copy
import io
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numpy")
pytest.importorskip("jinja2")
sys.path.insert(0, str(Path(__file__).parent))
import report_samples as samples

from migrate_mgpu.parity.reports import html as page
from migrate_mgpu.parity.reports import junit, tensorboard, words
from migrate_mgpu.parity.reports import terminal as report
from tests.conftest import BROWSERS

HOSTILE = (
    "</style></svg><script>document.title='taken'</script><img src=x onerror=alert(1)>\"'&{{7*7}}"
)
VOID = {"meta", "img", "br", "hr", "link", "input"}


class Elements(HTMLParser):
    """All elements with their attributes, and all text; fails on what is not closed."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag, f"</{tag}> at {self.getpos()}"

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    @property
    def words(self) -> str:
        return re.sub(r"\s+(?=[\s:])", "", " ".join(self.text)).replace("\n", " ")


def replaced(value: Any, text: str) -> Any:
    """The same result with every text that a program can choose replaced."""
    ours = {"status", "verdict", "likelihood", "cause", "anchor", "text", "kind"}
    if isinstance(value, dict):
        return {k: v if k in ours else replaced(v, text) for k, v in value.items()}
    if isinstance(value, list):
        return [replaced(v, text) for v in value]
    if isinstance(value, str) and value not in ("nan", "inf", "-inf", "loss", "loss[2]"):
        return text
    return value


@pytest.fixture(scope="module")
def bad(tmp_path_factory) -> dict[str, Any]:
    """Equal on one device, another learning rate on two."""
    folder = tmp_path_factory.mktemp("sides")
    return samples.result(samples.equal(folder / "1"), samples.wrong_rate(folder / "2"))


def test_the_page_says_what_happened(bad):
    found = Elements(page.render([bad])).words
    for text in (
        "equivalent on 1 device",
        "not equivalent on 2 devices: rung 6, weights after one step: weights/hidden/kernel",
        "first to break differs: weights/hidden/kernel",
        "Likely cause: another learning rate",
        "the first update is 1.1 times the reference's",
        "What to change: set the learning rate to 0.1",
        "migrate-mgpu explain learning-rate",
        "tensorflow 1.15.5",
        "keras 2.15.0",
        "Some CPU @ 2.00GHz, 2 cores, 7900 MiB, Linux 6.1 x86_64",
        "logical CPUs in the place of GPUs",
        "first bad: step 2",
        "migrate-mgpu parity train_v1.py train_v2.py --devices 1,2 migrate-mgpu parity show 7",
        "17 of 50 steps are identical: drawn at 0.",
    ):
        assert text in found, text


def test_worst_steps_are_the_worst(bad):
    text = page.render([bad])
    section = text[text.index('<section aria-labelledby="p1d2"') :]
    rows = re.findall(r'<tr><td class="number">(\d+)</td>(?:.*?)([\d.e+]+)( ✗)?</td></tr>', section)
    times = [float(number) for _, number, _ in rows]
    assert len(times) == page.MOST_STEPS and times == sorted(times, reverse=True)
    curve = bad["results"][1]["curves"][0]
    ratio = [
        abs(a - b) / c for a, b, c in zip(curve["reference"], curve["target"], curve["allowed"])
    ]
    assert int(rows[0][0]) == ratio.index(max(ratio)) + 1
    assert all(mark for *_, mark in rows)


def test_it_needs_nothing_else(bad):
    for results in ([bad], [bad, bad]):
        text = page.render(results)
        found = Elements(text)
        tags = {tag for tag, _ in found.found}
        assert not tags & {"script", "link", "img", "iframe", "object", "embed", "base"}
        for tag, attributes in found.found:
            for name, value in attributes.items():
                assert not name.startswith("on"), (tag, name)
                if name in ("href", "src", "xlink:href", "action"):
                    assert value and value.startswith("#"), (tag, name, value)
        assert "http" not in text.replace("http-equiv", "")
        assert "url(" not in text and "@import" not in text
        ids = [a["id"] for _, a in found.found if a.get("id")]
        assert len(ids) == len(set(ids))
        links = [a["href"] for _, a in found.found if a.get("href")]
        assert {link.lstrip("#") for link in links if link} <= set(ids)
        labels = [a["aria-labelledby"] for _, a in found.found if a.get("aria-labelledby")]
        assert set(labels) <= set(ids)


def test_every_text_of_a_program_is_escaped(bad):
    hostile = replaced(copy.deepcopy(bad), HOSTILE)
    for one in hostile["results"]:
        one["reference"]["versions"] = {HOSTILE: HOSTILE}
        one["target"]["pins"] = {HOSTILE: HOSTILE}
    failed = {**hostile, "results": [], "failure": HOSTILE}
    text = page.render([hostile, failed])
    found = Elements(text)
    assert not {tag for tag, _ in found.found} & {"script", "img"}
    assert text.count("<style>") == text.count("</style>") == 1
    assert "{{7*7}}" in found.words and HOSTILE not in text
    assert found.words.count("title='taken'") > 40  # of all the places, each as text


def test_hidden_characters_are_shown(bad):
    text = page.render([replaced(copy.deepcopy(bad), "a\x00b\x1b[31m\u202edc\ud800")])
    text.encode("utf-8")
    assert "a\\x00b\\x1b[31m\\x202edc\\xd800" in text
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e]", text)


def test_programs_that_did_not_come_far(tmp_path):
    one = samples.side(tmp_path / "a", "v1.py", [])
    crash = {"type": "ValueError", "message": "shapes <3> & <4>"}
    crash["frames"] = [["v2.py", 3, "build", "y = tf.matmul(x, w)"]]
    other = samples.side(tmp_path / "b", "v2.py", [], exception=crash, old=False)
    found = Elements(page.render([samples.result(samples.judged(one, other))])).words
    assert "the target crashed: v2.py, line 3: ValueError: shapes <3> & <4>" in found
    assert 'File "v2.py", line 3, in build' in found
    assert "Diagnosis" not in found and "Worst steps" not in found and "What differs" not in found
    assert "neither program trains" not in found and "device configuration" in found


def test_losses_that_are_no_numbers(tmp_path):
    losses = samples.falling(20)
    worse = [*losses[:11], *[float("nan")] * 8, float("inf")]
    one = samples.side(tmp_path / "a", "v1.py", losses)
    other = samples.side(tmp_path / "b", "v2.py", worse, old=False)
    result = samples.result(samples.judged(one, other))
    found = Elements(page.render([result]))
    assert "not a finite number in 9 steps from step 12 on: a gap in its curve" in found.words
    assert "not a number ✗" in found.words
    assert "The cause is unknown" in found.words
    points = " ".join(a.get("points") or "" for t, a in found.found if t == "polyline")
    assert "nan" not in points and "inf" not in points and points.count(",") > 40


def test_the_index_of_several_pairs(bad, tmp_path):
    good = samples.result(samples.equal(tmp_path), before="b.py", after="c.py")
    failed = {**good, "before": "x.py", "after": "?", "results": [], "failure": "tf.contrib"}
    found = Elements(page.render([good, bad, failed])).words
    assert "3 pairs: 1 equivalent, 1 not compared, 1 not equivalent" in found
    assert "2 ✗ not equivalent rung 6, weights after one step: weights/hidden/kernel" in found
    assert "x.py -> ? ○ not compared tf.contrib" in found
    assert "Parity of" not in Elements(page.render([bad])).words


# In a browser -------------------------------------------------------------------------------

MEASURE = """<script>
const wrong = [];
if (document.documentElement.scrollWidth > innerWidth) wrong.push("the page is too wide");
for (const svg of document.querySelectorAll("svg.chart")) {
  const frame = svg.getBoundingClientRect();
  if (frame.width < 300) wrong.push("a chart is " + frame.width + " wide");
  for (const part of svg.querySelectorAll("polyline, text, circle")) {
    const box = part.getBoundingClientRect();
    if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1
        || box.bottom > frame.bottom + 1) wrong.push(part.outerHTML + " is cut off");
  }
  const texts = [...svg.querySelectorAll("text")]
    .map(t => [t.textContent, t.getBoundingClientRect()]);
  texts.forEach(([a, x], i) => texts.slice(i + 1).forEach(([b, y]) => {
    if (x.left < y.right && y.left < x.right && x.top < y.bottom - 2 && y.top < x.bottom - 2)
      wrong.push(a + " lies on " + b);
  }));
}
const style = name => getComputedStyle(document.querySelector(name));
const dashes = ["reference", "target"].map(c => style("polyline." + c).strokeDasharray);
if (dashes[0] !== "none" || dashes[1] === "none") wrong.push("dashes " + dashes);
document.body.textContent = "MEASURED " + document.querySelectorAll("*").length + wrong.join("; ");
</script></body>"""


def browser() -> str:
    for name in BROWSERS:
        found = shutil.which(name)
        if found:
            return found
    pytest.skip("no Chromium and no Chrome on PATH")


def opened(path: Path, *more: str) -> str:
    """What the browser made of a page, as text."""
    command = [browser(), "--headless", "--no-sandbox", "--disable-gpu", *more, path.as_uri()]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert answer.returncode == 0, answer.stderr[-2000:]
    return answer.stdout


@pytest.mark.external
def test_in_a_browser_nothing_overlaps_or_is_cut_off(bad, tmp_path):
    """The page's own policy forbids scripts: the measuring copy goes without it."""
    text = page.render([bad])
    policy = re.search(r"<meta http-equiv.*?>\n", text)
    assert policy
    path = tmp_path / "measured.html"
    path.write_text(text.replace(policy[0], "").replace("</body>", MEASURE), encoding="utf-8")
    for width in (1200, 600):
        found = opened(path, "--dump-dom", f"--window-size={width},900")
        assert re.search(r"MEASURED \d+\s*</body>", found), found[-2000:]
    # With the policy the same script does not run.
    path.write_text(text.replace("</body>", MEASURE), encoding="utf-8")
    assert "MEASURED" not in opened(path, "--dump-dom").rpartition("</script>")[2]


@pytest.mark.external
def test_in_a_browser_hostile_names_stay_text_and_it_prints(bad, tmp_path):
    path = tmp_path / "hostile.html"
    page.write([replaced(copy.deepcopy(bad), HOSTILE)], path)
    found = opened(path, "--dump-dom")
    assert "<title>Parity: &lt;/style" in found and "<title>taken" not in found
    assert "<img" not in found and "<script" not in found
    pdf = tmp_path / "page.pdf"
    opened(path, f"--print-to-pdf={pdf}")
    assert pdf.read_bytes().startswith(b"%PDF")


def test_results_of_earlier_versions_can_be_shown(bad):
    """Additions do not change the format: a reader does without them."""
    old = copy.deepcopy(bad)
    del old["time"]
    for one in old["results"]:
        del one["curves"], one["diagnosis"]
        for side in ("reference", "target"):
            del one[side]["hardware"], one[side]["devices"]
    found = Elements(page.render([old])).words
    assert "not equivalent on 2 devices: rung 6" in found and "hardware not known" in found
    stream = io.StringIO()
    report.write(old, stream)
    assert "2 devices: NOT EQUIVALENT: rung 6" in stream.getvalue()
    assert junit.render([old]) and tensorboard.runs([old], Path("/x"))


def test_words_of_a_verdict():
    def of(*verdicts: str) -> str:
        return words.verdict({"results": [{"verdict": v} for v in verdicts]})

    assert of("equivalent", "equivalent") == "equivalent"
    assert of("equivalent", "not compared") == "not compared"
    assert of("not compared", "not equivalent") == "not equivalent"
    assert of("equivalent", "not comparable") == "not comparable"
    assert of() == "not compared"
