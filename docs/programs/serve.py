"""A service that predicts and explains with a model of textreg, and a page to try it.

pip install textreg starlette 'uvicorn[standard]>=0.52'
MODEL=reviews.textreg uvicorn serve:app --factory --workers 2
"""

import asyncio
import json
import logging
import os
from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, JSONResponse
from starlette.routing import Route

import textreg

MAX_BYTES, MAX_TEXTS, MAX_SECONDS = 1_000_000, 1_000, 30
LOG = logging.getLogger("uvicorn.error")
PAGE = Path(__file__).with_name("serve.html")
INLINE = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
HEADERS = {"Content-Security-Policy": f"{INLINE}; connect-src 'self'"}


async def body_of(request):
    """The body of a request; the size is checked while it comes in."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BYTES:
            raise HTTPException(413, f"a request may have {MAX_BYTES:,} bytes")
    return body


async def member_of(request, name):
    """A member of the JSON object in a request, whose body has to come in time."""
    close = {"Connection": "close"}
    try:
        body = await asyncio.wait_for(body_of(request), MAX_SECONDS)
    except asyncio.TimeoutError:
        LOG.warning("no whole body in %s s in %s", MAX_SECONDS, request.url.path)
        raise HTTPException(408, f"the body must come in {MAX_SECONDS} s", close) from None
    except ClientDisconnect:
        LOG.warning("the client went away in %s", request.url.path)
        raise HTTPException(400, "the body has no end", close) from None  # nobody reads it
    try:
        return json.loads(body)[name]
    except (ValueError, RecursionError, LookupError, TypeError):
        raise HTTPException(400, f'the body must be a JSON object with "{name}"') from None


def endpoint(name, call):
    """Answers with what a call gives for a member of the body; the log has no text."""

    async def answer(request):
        given = await member_of(request, name)
        try:
            return JSONResponse(await run_in_threadpool(call, given))
        except HTTPException:
            raise
        except textreg.TextregError as error:
            raise HTTPException(400, str(error)) from None
        except Exception as error:  # noqa: BLE001  # its message may hold a text
            LOG.error("%s in %s", type(error).__name__, request.url.path)
            raise HTTPException(500, "internal error") from None

    return Route(f"/{call.__name__}", answer, methods=["POST"])


def example_of(model):
    """A document to try: for each label a word that speaks for it."""
    try:
        names = [[name for name, _ in top] for top in model.top_features(100).values()]
    except textreg.TextregError:  # more weights than a table can hold
        names = []
    text = " ".join(next(filter(str.isalpha, own), "") for own in names).strip()
    fields = model.encoder.fields
    return {one.name: text if one.kind == "text" else "" for one in fields} if fields else text


def service(model):
    """The application around a model."""
    kind = dict if model.encoder.fields else str
    about = {"labels": model.labels, "example": example_of(model)}

    def predict(texts):
        if not isinstance(texts, list) or not all(isinstance(one, kind) for one in texts):
            raise HTTPException(400, f'"texts" must be a list of JSON {kind.__name__} values')
        if not 0 < len(texts) <= MAX_TEXTS:
            raise HTTPException(400, f'"texts" must be 1 to {MAX_TEXTS:,} texts')
        scores = model.decision_function(texts)
        answer = {"predictions": model.choose(scores)}
        if model.has_probabilities:
            rows = model.probabilities(scores).tolist()
            answer["probabilities"] = [dict(zip(model.labels, row, strict=True)) for row in rows]
        return answer

    def explain(text):
        if not isinstance(text, kind):
            raise HTTPException(400, '"text" must be one text')
        found = model.explain(text)
        html = found._repr_html_().encode("utf-8", "replace").decode()  # a text may be no UTF-8
        told = {**found.to_dict(), "html": html}
        return {key: told[key] for key in told if key not in ("text", "words")}

    def page(_):
        return HTMLResponse(PAGE.read_bytes(), headers=HEADERS)

    def tell(_):
        return JSONResponse(about)

    def refuse(_, error):
        detail = error.detail.encode("utf-8", "replace").decode()
        return JSONResponse({"error": detail}, error.status_code, error.headers)

    routes = [Route("/", page), Route("/about", tell)]
    routes += [endpoint("texts", predict), endpoint("text", explain)]
    return Starlette(routes=routes, exception_handlers={HTTPException: refuse})


def app():
    """The service of the model file that the variable MODEL names."""
    return service(textreg.load(os.environ.get("MODEL", "model.textreg")))
