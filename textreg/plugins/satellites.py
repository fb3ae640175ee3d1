"""The distributions that belong to textreg, what is in each, and how one is installed.

Their parts are found through entry points as everybody's are. This table answers a user who names
a part of one that is not installed.
"""

from __future__ import annotations

import json
import shlex
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

SATELLITES = {
    "textreg-embeddings": ("groups.clusters", "groups.brown"),
    "textreg-export": (
        "command.export",
        "exporter.json",
        "exporter.python",
        "exporter.javascript",
        "exporter.sklearn",
    ),
    "textreg-fused": ("regularizer.fused",),
    "textreg-gow": ("groups.communities",),
    "textreg-latent": ("regularizer.latent",),
    "textreg-papers": ("regularizer.pcr", "regularizer.lle"),
    "textreg-report": (
        "command.agreement",
        "command.check-page",
        "command.compare",
        "command.learn-curve",
        "command.plot",
        "command.report",
    ),
    "textreg-testing": ("command.plugins.check", "command.plugins.doctor", "command.plugins.new"),
    "textreg-topics": ("groups.lda", "groups.lsi"),
}
"""Names of entry points, as in the metadata of each distribution."""


def satellite_of(kind: str, name: str) -> str:
    """The distribution that has a part, installed or not; empty for a part of nobody known."""
    part = f"{kind}.{name}"
    return next((owner for owner, parts in SATELLITES.items() if part in parts), "")


def how_to_install(distribution: str) -> str:
    """The command that installs a satellite where textreg was installed from.

    From a checkout it names the folder there, as an index has no such version; else the extra.
    """
    folder = _checkout() / "plugins" / distribution
    if not (folder / "pyproject.toml").is_file():
        return f"pip install 'textreg[{distribution.removeprefix('textreg-')}]'"
    path = f"./plugins/{distribution}" if Path.cwd() == _checkout() else str(folder)
    return f"pip install {shlex.quote(path)}"


def _checkout() -> Path:
    """The folder that pip installed textreg from, by the record it keeps (PEP 610)."""
    record = metadata.distribution("textreg").read_text("direct_url.json")
    url = urlsplit(json.loads(record)["url"]) if record else None
    if url is None or url.scheme != "file":
        return Path(__file__).parents[2]
    return Path(url2pathname(url.path))
