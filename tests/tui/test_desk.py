import threading
import time

from qdqviz.tui.desk import Desk


def test_a_newer_job_of_a_kind_takes_the_place_of_one_that_waits():
    done, gate = [], threading.Event()
    desk = Desk("test", ("a", "b"), lambda *_: None)
    desk.ask("b", lambda _: gate.wait(5))
    for number in range(5):
        desk.ask("a", lambda _, number=number: done.append(number))
    gate.set()
    assert desk.wait(5)
    assert done == [4]


def test_the_most_urgent_kind_comes_first():
    done, gate = [], threading.Event()
    desk = Desk("test", ("urgent", "idle"), lambda *_: None)
    desk.ask("urgent", lambda _: gate.wait(5))
    desk.ask("idle", lambda _: done.append("idle"))
    desk.ask("urgent", lambda _: done.append("urgent"))
    gate.set()
    assert desk.wait(5)
    assert done == ["urgent", "idle"]


def test_a_job_finds_itself_stale_once_a_newer_one_waits_or_it_is_dropped():
    answers, started, gate = [], threading.Event(), threading.Event()

    def job(stale):
        answers.append(stale())
        started.set()
        gate.wait(5)
        answers.append(stale())

    for end in (
        lambda desk: desk.ask("a", lambda _: None),
        lambda desk: desk.drop("a"),
        lambda desk: desk.close(),
    ):
        desk = Desk("test", ("a",), lambda *_: None)
        desk.ask("a", job)
        assert started.wait(5)
        end(desk)
        gate.set()
        desk.wait(5)
        started.clear()
        gate.clear()
    assert answers == [False, True] * 3


def test_a_job_that_raises_is_told_and_the_next_one_is_done():
    told, done = [], []
    desk = Desk("test", ("a",), lambda kind, error: told.append((kind, str(error))))
    desk.ask("a", lambda _: 1 / 0)
    assert desk.wait(5)
    desk.ask("a", lambda _: done.append(1))
    assert desk.wait(5)
    assert told == [("a", "division by zero")] and done == [1]


def test_a_closed_desk_ends_its_thread():
    desk = Desk("test-end", ("a",), lambda *_: None)
    desk.close()
    until = time.monotonic() + 5
    while any(thread.name == "test-end" for thread in threading.enumerate()):
        assert time.monotonic() < until
        time.sleep(0.01)
