"""A service that predicts and explains with a model of textreg, and a page to try it.

    pip install textreg starlette uvicorn
    python serve.py reviews.textreg --port 8000 --processes 2

`kill -HUP` of the first process loads the model again; requests under way are finished.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

import textreg

MAX_BYTES, MAX_TEXTS = 1_000_000, 1_000
SIGNALS = (signal.SIGHUP, signal.SIGTERM, signal.SIGINT)
LOG = logging.getLogger("uvicorn.error")


async def read_json(request: Request, member: str) -> Any:
    """A member of the JSON object in a request; the size is checked while it comes in."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BYTES:
            raise HTTPException(413, f"a request may have {MAX_BYTES:,} bytes")
    try:
        given = json.loads(body)
    except (ValueError, RecursionError):
        raise HTTPException(400, "the body is not JSON") from None
    if not isinstance(given, dict) or member not in given:
        raise HTTPException(400, f'the body must be an object with "{member}"')
    return given[member]


async def computed(request: Request, call: Callable[[Any], Any], given: Any) -> JSONResponse:
    """What a call gives, in a thread; errors tell the sender why, and the log no text."""
    try:
        return JSONResponse(await run_in_threadpool(call, given))
    except textreg.TextregError as error:
        raise HTTPException(400, str(error)) from None
    except Exception as error:  # noqa: BLE001  # its message may hold a text
        LOG.error("%s in %s", type(error).__name__, request.url.path)
        raise HTTPException(500, "internal error") from None


def make_app(model: textreg.Model) -> Starlette:
    """The service of one model."""

    def predict_all(texts: Sequence[Any]) -> dict[str, Any]:
        scores = model.decision_function(texts)
        answer: dict[str, Any] = {"predictions": model.choose(scores)}
        if model.has_probabilities:
            rows = model.probabilities(scores).tolist()
            answer["probabilities"] = [dict(zip(model.labels, row, strict=True)) for row in rows]
        return answer

    def explain_one(text: Any) -> dict[str, Any]:
        told = model.explain(text).to_dict()
        return {key: told[key] for key in told if key not in ("text", "words")}

    async def predict(request: Request) -> Response:
        texts = await read_json(request, "texts")
        kind = dict if model.encoder.fields else str
        if not isinstance(texts, list) or not all(isinstance(one, kind) for one in texts):
            raise HTTPException(400, f'"texts" must be a list of JSON {kind.__name__} values')
        if not 0 < len(texts) <= MAX_TEXTS:
            raise HTTPException(400, f'"texts" must be 1 to {MAX_TEXTS:,} texts')
        return await computed(request, predict_all, texts)

    async def explain(request: Request) -> Response:
        text = await read_json(request, "text")
        if not isinstance(text, dict if model.encoder.fields else str):
            raise HTTPException(400, '"text" must be one text')
        return await computed(request, explain_one, text)

    async def page(_: Request) -> Response:
        return HTMLResponse(PAGE, headers={"Content-Security-Policy": POLICY})

    async def refuse(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        detail = error.detail.encode("utf-8", "replace").decode()
        return JSONResponse({"error": detail}, error.status_code, error.headers)

    routes = [
        Route("/", page),
        Route("/predict", predict, methods=["POST"]),
        Route("/explain", explain, methods=["POST"]),
    ]
    return Starlette(routes=routes, exception_handlers={HTTPException: refuse})


def main() -> None:
    """Load the model once, and answer with as many processes as asked for, which share it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args()
    socket = uvicorn.Config("", host=given.host, port=given.port).bind_socket()
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    children: list[int] = []
    asked = signal.SIGHUP
    while asked == signal.SIGHUP:
        try:
            model = textreg.load(given.model)
        except textreg.TextregError as error:
            if not children:
                raise SystemExit(str(error)) from None
            LOG.error("%s The model before it stays.", error)
        else:
            # Modules that an answer needs are imported once, and shared by all processes.
            model.explain(dict.fromkeys([one.name for one in model.encoder.fields], "") or "")
            old, children = children, [fork(model, socket) for _ in range(given.processes)]
            end(old)
        asked = signal.Signals(signal.sigwait(SIGNALS))
    end(children)


def fork(model: textreg.Model, socket: Any) -> int:
    """A process that answers, with the memory of this one; its number."""
    if child := os.fork():
        return child
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    config = uvicorn.Config(make_app(model), access_log=False, log_level="warning")
    uvicorn.Server(config).run(sockets=[socket])
    os._exit(0)


def end(children: Sequence[int]) -> None:
    """Let processes answer what they have begun, and end."""
    for child in children:
        os.kill(child, signal.SIGTERM)
        os.waitpid(child, 0)


POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'"
)
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>textreg</title>
<meta name="viewport" content="width=device-width">
<style>body{font:1rem sans-serif;max-width:45rem;margin:2rem auto;padding:0 1rem}
textarea{width:100%;height:8rem;box-sizing:border-box}mark{color:inherit}</style>
<h1>Try the model</h1><form><label for="text">Text</label><textarea id="text"></textarea>
<button>Predict</button></form><p id="answer" role="status"></p><p id="evidence"></p>
<script>
const at = id => document.getElementById(id);
document.forms[0].onsubmit = async event => {
  event.preventDefault();
  const text = at("text").value, points = [...text];
  const reply = await fetch("explain", {method: "POST", body: JSON.stringify({text})});
  const told = await reply.json();
  at("evidence").replaceChildren();
  if (!reply.ok) { at("answer").textContent = told.error; return; }
  const sure = told.probabilities[told.label];
  at("answer").textContent = told.label + (sure ? `, probability ${sure.toFixed(3)}` : "");
  const most = Math.max(...told.sentences.map(one => Math.abs(one.value)), 1e-9);
  for (const one of told.sentences) {
    const mark = document.createElement("mark"), share = Math.abs(one.value) / most;
    mark.style.background = `rgba(${one.value > 0 ? "40,140,255" : "255,140,40"},${share / 2})`;
    mark.title = `${told.of}: ${one.value.toFixed(3)}`;
    mark.textContent = points.slice(one.start, one.end).join("");
    at("evidence").append(mark, " ");
  }
};
</script></html>"""

if __name__ == "__main__":
    main()
