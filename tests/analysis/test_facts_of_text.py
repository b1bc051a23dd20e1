"""What follows from a module's text is asked once, however often its run is planned."""

from __future__ import annotations

from pathlib import Path

from migrate_mgpu.analysis.module import Module, fact, fact_of_text
from migrate_mgpu.source.source import Source


def test_copies_share_what_the_text_says_until_names_mean_something_else() -> None:
    asked: list[Module] = []

    def lines(module: Module) -> int:
        asked.append(module)
        return module.source.text.count("\n")

    of_text, of_module = fact_of_text(lines), fact(lines)
    first = Module(Path("train.py"), Source(Path("train.py"), "a = 1\nb = 2\n"), "train")
    again = first.again()
    assert of_text(first) == of_text(again) == of_text(again.again()) == 2
    assert asked == [first]
    assert of_module(first) == of_module(again) == 2  # it may name the module: each has its own
    assert asked == [first, first, again]
    again.forget()  # TensorFlow by way of another module, say
    assert of_text(again) == 2 and asked[-1] is again and len(asked) == 4
    assert of_text(first) == 2 and len(asked) == 4
