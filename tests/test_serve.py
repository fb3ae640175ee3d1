"""The service of docs/programs/serve.py: answers, refusals, what is logged, and its page."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import textreg

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("httpx")

if TYPE_CHECKING:
    from selenium.webdriver import Chrome
    from starlette.testclient import TestClient

PROGRAM = Path(textreg.__file__).parent.parent / "docs" / "programs" / "serve.py"
pytestmark = [
    pytest.mark.skipif(not PROGRAM.is_file(), reason="textreg is not installed from a checkout"),
    # The client of starlette warns of the version of httpx; the service has no part in it.
    pytest.mark.filterwarnings("ignore::DeprecationWarning:starlette"),
    pytest.mark.filterwarnings("ignore:Using `httpx`"),
]
TEXT = "A superb plot. The end was dull."


def trained() -> textreg.Model:
    texts = ["A superb plot.", "Superb end.", "A dull plot.", "Dull.", TEXT] * 3
    labels = ["good", "good", "bad", "bad", "good"] * 3
    return textreg.train(texts, labels, reg="ridge", reg_l2=0.1, tokenizer="words")


@pytest.fixture(scope="module")
def program() -> Any:
    spec = spec_from_file_location("serve", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def model() -> textreg.Model:
    return trained()


@pytest.fixture(scope="module")
def client(program: Any, model: textreg.Model) -> TestClient:
    from starlette.testclient import TestClient

    return TestClient(program.service(model), raise_server_exceptions=False)


def test_predicts_as_the_model_does(client: TestClient, model: textreg.Model) -> None:
    texts = [TEXT, "", "dull"]
    reply = client.post("/predict", json={"texts": texts})
    assert reply.status_code == 200
    assert reply.json()["predictions"] == model.predict(texts)
    expected = model.predict_proba(texts)
    for row, found in zip(expected, reply.json()["probabilities"], strict=True):
        assert list(found.values()) == row.tolist()
        assert tuple(found) == model.labels


def status_of(service: Any, messages: list[dict[str, Any]]) -> int:
    """What is answered to a body that comes in these parts, and does not end."""
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        if not messages:
            await asyncio.sleep(60)
        return messages.pop(0)

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/predict", "query_string": b""}
    asyncio.run(service({**scope, "headers": [], "server": ("a", 1)}, receive, send))
    assert (b"connection", b"close") in sent[0]["headers"]
    return int(sent[0]["status"])


def test_bodies_that_do_not_end(
    program: Any, model: textreg.Model, caplog: pytest.LogCaptureFixture, monkeypatch: Any
) -> None:
    """A client that goes away was a traceback in the log, and an unfinished body was waited for."""
    monkeypatch.setattr(program, "MAX_SECONDS", 0.1)
    part = {"type": "http.request", "body": b'{"texts": ["secret', "more_body": True}
    service = program.service(model)
    assert status_of(service, [part, {"type": "http.disconnect"}]) == 400
    assert status_of(service, [part, part]) == 408
    assert [record.exc_info for record in caplog.records] == [None, None]
    assert caplog.messages == [
        "the client went away in /predict",
        "no whole body in 0.1 s in /predict",
    ]


def test_explains_by_sentences(client: TestClient, model: textreg.Model) -> None:
    reply = client.post("/explain", json={"text": TEXT})
    told, expected = reply.json(), model.explain(TEXT)
    assert told["label"] == expected.label
    assert told["score"] == expected.score
    parts = [TEXT[one["start"] : one["end"]] for one in told["sentences"]]
    assert parts == ["A superb plot.", "The end was dull."]
    assert "text" not in told
    assert told["html"] == expected._repr_html_()


@pytest.mark.parametrize(
    ("address", "body", "status", "message"),
    [
        ("/predict", b"no JSON", 400, "a JSON object"),
        ("/predict", b"[" * 100_000, 400, "a JSON object"),
        ("/predict", b"\xff", 400, "a JSON object"),
        ("/predict", b'{"text": "x"}', 400, 'with "texts"'),
        ("/predict", b'["x"]', 400, "a JSON object"),
        ("/predict", b"7", 400, "a JSON object"),
        ("/predict", b'{"texts": "x"}', 400, "list"),
        ("/predict", b'{"texts": [1]}', 400, "list"),
        ("/predict", b'{"texts": []}', 400, "1 to 1,000"),
        ("/predict", json.dumps({"texts": ["x"] * 1_001}).encode(), 400, "1 to 1,000"),
        ("/predict", b" " * 1_000_001, 413, "1,000,000 bytes"),
        ("/explain", b'{"text": ["x"]}', 400, "one text"),
        ("/other", b"{}", 404, "Not Found"),
    ],
)
def test_refusals(client: TestClient, address: str, body: bytes, status: int, message: str) -> None:
    reply = client.post(address, content=body)
    assert reply.status_code == status
    assert message in reply.json()["error"]


def test_other_methods_are_refused(client: TestClient) -> None:
    reply = client.get("/predict")
    assert reply.status_code == 405
    assert reply.json() == {"error": "Method Not Allowed"}


def test_half_of_a_surrogate_pair(client: TestClient) -> None:
    reply = client.post("/predict", content=b'{"texts": ["good \\ud800"]}')
    assert reply.status_code == 200
    reply = client.post("/explain", content=b'{"text": "superb \\ud800"}')
    assert reply.status_code == 200
    assert "superb" in reply.json()["html"]


def test_errors_of_the_model_are_told_and_not_logged(
    client: TestClient, model: textreg.Model, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    caplog.set_level(logging.DEBUG)

    def refuse(texts: Any) -> None:
        raise textreg.TextregError(f"not {texts[0]} \ud800")

    def fail(texts: Any) -> None:
        raise RuntimeError(f"fault at {texts[0]}")

    monkeypatch.setattr(model, "decision_function", refuse)
    reply = client.post("/predict", json={"texts": ["my secret"]})
    assert (reply.status_code, reply.json()["error"][:13]) == (400, "not my secret")
    monkeypatch.setattr(model, "decision_function", fail)
    reply = client.post("/predict", json={"texts": ["my secret"]})
    assert (reply.status_code, reply.json()) == (500, {"error": "internal error"})
    assert "RuntimeError in /predict" in caplog.text
    assert "secret" not in caplog.text


def test_fields(program: Any) -> None:
    from starlette.testclient import TestClient

    rows = [{"title": "good", "body": "so good"}, {"title": "bad", "body": "so bad"}] * 4
    given: Any = {"fields": {"title": "text", "body": "text"}, "reg": "ridge", "reg_l2": 0.1}
    model = textreg.train(rows, ["p", "n"] * 4, **given)  # type: ignore[arg-type]
    client = TestClient(program.service(model), raise_server_exceptions=False)
    assert client.post("/predict", json={"texts": rows[:2]}).json()["predictions"] == ["p", "n"]
    assert client.post("/explain", json={"text": rows[0]}).json()["label"] == "p"
    reply = client.post("/predict", json={"texts": [{"title": "good"}]})
    assert reply.status_code == 400
    assert "body" in reply.json()["error"]
    assert client.get("/about").json() == {
        "labels": ["n", "p"],
        "example": {"title": "", "body": ""},
    }


@pytest.fixture
def service(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], int, Path]]:
    """The program itself, with two processes."""
    import socket

    path = tmp_path / "model.textreg"
    trained().save(path)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, "-m", "uvicorn", "serve:app", "--factory", "--workers", "2"]
    words += ["--app-dir", str(PROGRAM.parent), "--port", str(port)]
    env = {**os.environ, "MODEL": str(path)}
    log = (tmp_path / "log").open("w")
    with log, subprocess.Popen(words, stdout=log, stderr=log, text=True, env=env) as process:
        try:
            yield process, port, path
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)


def answer_of(port: int, text: str) -> Any:
    """What the service predicts; waits until it is there."""
    import httpx

    transport = httpx.HTTPTransport(retries=0)
    with httpx.Client(transport=transport, timeout=60) as client:
        for _ in range(600):
            try:
                reply = client.post(f"http://127.0.0.1:{port}/predict", json={"texts": [text]})
                return reply.json()["predictions"][0]
            except httpx.ConnectError:
                threading.Event().wait(0.1)
    raise AssertionError("the service did not begin")


def wait_for(log: Path, words: str, times: int) -> None:
    """Wait for a line of the log."""
    for _ in range(600):
        if log.read_text(encoding="utf-8").count(words) >= times:
            return
        threading.Event().wait(0.1)
    raise AssertionError(f"no '{words}' in the log:\n{log.read_text(encoding='utf-8')}")


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="there is no such signal")
def test_the_program_its_page_and_reloading(
    service: tuple[subprocess.Popen[str], int, Path], browser: Chrome
) -> None:
    process, port, path = service
    assert answer_of(port, "superb") == "good"
    browser.get(f"http://127.0.0.1:{port}/")
    from selenium.webdriver.support.ui import WebDriverWait

    wait, text = WebDriverWait(browser, 60), browser.find_element("id", "text")
    wait.until(lambda _: text.get_property("value"))
    assert text.get_property("value") == "dull superb"
    assert browser.find_element("id", "labels").text == "Labels: bad, good"
    text.clear()
    text.send_keys("A superb plot. Dull <b>end</b>.")
    browser.find_element("css selector", "button").click()
    wait.until(lambda driver: driver.find_element("id", "answer").text)
    answer = browser.find_element("id", "answer")
    assert "score of good" in answer.text
    assert "A superb plot. Dull <b>end</b>." in answer.text
    marks = [one.text for one in answer.find_elements("css selector", "span")]
    assert {"superb", "Dull"} <= set(marks)

    other = textreg.train(["superb", "dull"] * 3, ["new", "old"] * 3, reg="ridge", reg_l2=0.1)
    other.save(path)
    process.send_signal(signal.SIGHUP)
    log = path.parent / "log"
    wait_for(log, "Finished server process", 2)  # each of the two workers, after its successor
    assert answer_of(port, "superb") == "new"
    path.write_bytes(b"no model")
    process.send_signal(signal.SIGHUP)
    wait_for(log, "keeping worker", 1)
    assert answer_of(port, "superb") == "new"
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0
    assert "superb" not in log.read_text(encoding="utf-8")
    assert "is not a textreg model file" in log.read_text(encoding="utf-8")
