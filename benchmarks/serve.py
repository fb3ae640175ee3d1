"""The service of docs/programs/serve.py under load, beside the same around scikit-learn.

    python benchmarks/serve.py --data DIR --requests 3000 --clients 8

Both predict reviews of IMDb, one text a request: textreg with ridge, scikit-learn with
TfidfVectorizer and LogisticRegression, in the same application on one process. Requests go over
HTTP from a process of their own. Printed are requests a second, the median and the 99th percentile
of their times, and the memory of the service before, halfway and after.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent


def reviews(data: Path, count: int) -> tuple[list[str], list[str]]:
    """Texts and labels of so many reviews of the training part."""
    texts, labels = [], []
    with gzip.open(data / "imdb" / "train.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            texts.append(row["text"])
            labels.append(row["label"])
    order = np.random.default_rng(0).permutation(len(texts))[:count].tolist()
    return [texts[at] for at in order], [labels[at] for at in order]


def of_textreg(texts: list[str], labels: list[str]) -> Any:
    """A ridge over words and pairs of words."""
    import textreg

    return textreg.train(
        texts, labels, reg="ridge", reg_l2=0.05, tokenizer="words", strip_html=True
    )


def of_sklearn(texts: list[str], labels: list[str]) -> Any:
    """The usual pipeline, with what the application asks of a model."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
    pipeline = make_pipeline(words, LogisticRegression(C=10.0)).fit(texts, labels)
    classes = pipeline.classes_.tolist()

    def probabilities(scores: Any) -> Any:
        positive = 1.0 / (1.0 + np.exp(-scores))
        return np.column_stack([1.0 - positive, positive])

    return SimpleNamespace(
        encoder=SimpleNamespace(fields=()),
        labels=classes,
        has_probabilities=True,
        decision_function=pipeline.decision_function,
        choose=lambda scores: [classes[int(score > 0)] for score in scores],
        probabilities=probabilities,
    )


def serve(make: Callable[..., Any], texts: list[str], labels: list[str], port: Any) -> None:
    """Train, and answer until the process ends."""
    import uvicorn

    spec = spec_from_file_location("serve", ROOT / "docs" / "programs" / "serve.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    app = module.service(make(texts, labels))
    config = uvicorn.Config(app, port=0, access_log=False, log_level="warning")
    socket = config.bind_socket()
    port.send(socket.getsockname()[1])
    uvicorn.Server(config).run(sockets=[socket])


async def connected(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection to the service, once it is there."""
    for _ in range(1200):
        try:
            return await asyncio.open_connection("127.0.0.1", port)
        except ConnectionRefusedError:
            await asyncio.sleep(0.1)
    raise TimeoutError("the service did not begin within two minutes.")


async def requests(port: int, texts: list[str], count: int, clients: int) -> list[float]:
    """The seconds of every request; each client has one connection."""
    times: list[float] = []
    left = iter(range(count))

    async def ask() -> None:
        reader, writer = await connected(port)
        for number in left:
            body = json.dumps({"texts": [texts[number % len(texts)]]}).encode()
            head = f"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
            began = time.perf_counter()
            writer.write(head.encode() + body)
            answer = await reader.readuntil(b"\r\n\r\n")
            assert answer.startswith(b"HTTP/1.1 200"), answer
            size = int(answer.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
            await reader.readexactly(size)
            times.append(time.perf_counter() - began)
        writer.close()

    await asyncio.gather(*(ask() for _ in range(clients)))
    return times


def resident(pid: int) -> float:
    """Megabytes of memory of a process."""
    pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE") / 1e6


def measure(name: str, make: Callable[..., Any], given: argparse.Namespace) -> None:
    """One row of the table."""
    texts, labels = reviews(given.data, given.documents)
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(
        target=serve, args=(make, texts, labels, there), daemon=True
    )
    process.start()
    port = here.recv()
    assert process.pid is not None
    asyncio.run(requests(port, texts, 200, given.clients))
    memory = [resident(process.pid)]
    times: list[float] = []
    seconds = 0.0
    for _ in range(2):
        began = time.perf_counter()
        half = requests(port, texts, given.requests // 2, given.clients)
        times += asyncio.run(half)
        seconds += time.perf_counter() - began
        memory.append(resident(process.pid))
    process.terminate()
    process.join()
    middle, slow = (1e3 * np.percentile(times, share) for share in (50, 99))
    sizes = " | ".join(f"{one:.1f}" for one in memory)
    print(
        f"| {name} | {len(times) / seconds:.0f} | {middle:.1f} | {slow:.1f} | {sizes} |", flush=True
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder of the corpora")
    parser.add_argument("--requests", type=int, default=3000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--documents", type=int, default=5000)
    given = parser.parse_args()
    if find_spec("uvloop") is None:
        parser.error("uvloop is not installed; without it every answer waits 40 ms for the network")
    print("| service | requests/s | p50 (ms) | p99 (ms) | MB before | halfway | after |")
    print("|---|---:|---:|---:|---:|---:|---:|", flush=True)
    for name, make in {"textreg": of_textreg, "scikit-learn": of_sklearn}.items():
        measure(name, make, given)


if __name__ == "__main__":
    sys.exit(main())
