"""`kill -9` between and during submissions: no confirmed rating is lost, none is there twice."""

import random
import threading
import time
from pathlib import Path

import httpx
import pytest
from tests.annotate.conftest import stored
from tests.annotate.serving import Person, Server

from babelquake.annotate.people import add_annotator
from babelquake.annotate.prepare import Recipe, prepare

pytest.importorskip("uvicorn", reason="needs uvicorn (pip install 'babelquake[annotate]')")


@pytest.mark.slow
def test_no_confirmed_rating_is_lost_and_none_is_doubled(tuples: Path, tmp_path: Path) -> None:
    project = prepare(tuples, tmp_path / "p.db", practice=0, recipe=Recipe(40, 10, 10, annotators=6, seed=1))
    server = Server(project.path)
    people: list[Person] = []
    threads: list[threading.Thread] = []
    over = threading.Event()

    def work(person: Person) -> None:
        while not over.is_set() and not person.done:
            try:
                person.rate()
            except (httpx.TransportError, ValueError):
                time.sleep(0.02)

    try:
        server.start()
        people += [Person(server, add_annotator(project, f"p{number}"), number) for number in range(6)]
        threads += [threading.Thread(target=work, args=(person,), daemon=True) for person in people]
        for thread in threads:
            thread.start()
        pause = random.Random(5)
        for _ in range(4):
            time.sleep(0.3 + pause.random() * 0.7)
            server.kill()
            server.start()
        over.wait(0.5)
    finally:
        over.set()
        for thread in threads:
            thread.join(30)
        server.kill()
    kept = stored(project)
    items = [row["item"] for row in kept]
    assert len(items) == len(set(items))
    by_item = {row["item"]: row["answer"]["scores"] for row in kept}
    confirmed = {item: scores for person in people for item, scores in person.confirmed.items()}
    assert len(confirmed) > 30, "the test did some work"
    order = {row["id"]: row["sides"] for row in project.database.execute("SELECT id, sides FROM items")}
    import json

    for person in people:
        for item in person.confirmed:
            sides = json.loads(order[item])
            assert tuple(int(by_item[item][side]) for side in sides) in person.sent[item]
    sent = {item for person in people for item in person.sent}
    assert set(confirmed) <= set(by_item) <= sent
    integrity = project.database.execute("PRAGMA integrity_check").fetchone()[0]
    assert integrity == "ok"


@pytest.mark.slow
def test_a_killed_server_is_taken_up_where_everybody_was(tuples: Path, tmp_path: Path) -> None:
    project = prepare(tuples, tmp_path / "p.db", tuples=4, practice=1, recipe=Recipe(4, 1, 1, annotators=1, seed=1))
    server = Server(project.path)
    try:
        server.start()
        ann = Person(server, add_annotator(project, "ann"), 1)
        for _ in range(3):
            ann.rate()
        server.kill()
        server.start()
        while not ann.done:
            ann.rate()
    finally:
        server.stop()
    assert len(stored(project)) == 7
    assert len(ann.confirmed) == 7
