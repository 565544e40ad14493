"""A log that keeps everything, and a way to run functions recorded."""

from __future__ import annotations

import sys

from qdqviz.record.instrument import runtime
from qdqviz.record.instrument.instrumenter import Instrumenter
from qdqviz.record.instrument.raw import RawEvents


class Item:
    """What the log takes for a node: the only thing that an attempt can be about."""

    def __init__(self, name: str, **attributes: object) -> None:
        self.name = name
        self.__dict__.update(attributes)

    def __repr__(self) -> str:
        return self.name


class Log:
    """Keeps every event, and notes among them which item was opened and closed."""

    def __init__(self) -> None:
        self.raw = RawEvents()
        self.spans: list[tuple[int, tuple]] = []
        self.tokens: dict[object, Item] = {}

    forced = None
    vetoes = False

    @property
    def events(self) -> list[tuple]:
        """Events as (kind, site, outcome, *values), items opened and closed among them."""
        told = list(self.raw)
        for count, (place, span) in enumerate(self.spans):
            told.insert(place + count, span)
        return told

    def open(self, site: int, item: object, skippable: bool = True) -> object | None:
        held = item if type(item) is Item else None
        if type(item) in (tuple, list):
            held = next((one for one in item if type(one) is Item), None)
        if held is None:
            return None
        token = object()
        self.tokens[token] = held
        self.spans.append((len(self.raw), ("open", site, None, held)))
        return token

    def close(self, token: object) -> None:
        item = self.tokens.pop(token)  # a KeyError if it were closed twice
        self.spans.append((len(self.raw), ("close", -1, None, item)))


class Recorder:
    """Runs functions of a module plain and recorded."""

    def __init__(self, instrumenter: Instrumenter) -> None:
        self.instrumenter = instrumenter
        self.log = Log()

    def __call__(self, function, *args, **kwargs):
        """Instrument what `function` reaches, call it, and give its result; `log` holds what happened."""
        missing = self.instrumenter.ensure(function)
        assert missing == []
        self.log = Log()
        runtime.activate(self.log)
        try:
            return function(*args, **kwargs)
        finally:
            runtime.end_calls(0, sys.exc_info()[0])
            runtime.deactivate()

    def seen(self, *kinds: str) -> list[tuple]:
        """Events as (kind, text of the site, outcome, *values)."""
        table = self.instrumenter.sites
        told = []
        for kind, site, outcome, *values in self.log.events:
            name = kind if isinstance(kind, str) else kind.name
            if not kinds or name in kinds:
                told.append((name, table[site].text if site >= 0 else "", outcome, *values))
        return told

    def site(self, text: str, kind: str | None = None):
        """The site with this text among those that reported, described."""
        table = self.instrumenter.sites
        for _, number, *_ in self.log.events:
            if number >= 0 and table[number].text == text and kind in (None, table[number].kind):
                return self.instrumenter.describe(number)
        raise AssertionError(f"no site {text!r} reported")
