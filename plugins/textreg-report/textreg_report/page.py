"""Pages as one self-contained HTML file: no network requests."""

from __future__ import annotations

import base64
import hashlib
import os
import shlex
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textreg.errors import UsageError
from textreg.files import write_atomically
from textreg.measure.significance import ALPHA, p_text

if TYPE_CHECKING:
    from jinja2 import Environment

    from textreg.checking import CheckResult

FOLDER = "templates"


def check_report() -> None:
    """Raise UsageError if jinja2 is missing; commands call it before a long training."""
    try:
        import jinja2  # noqa: F401  # only to know whether it is installed
    except ImportError:
        raise UsageError(
            "reports need jinja2, which is not installed: pip install jinja2"
        ) from None


class Page:
    """A record that can be written as an HTML page, by a template of this package."""

    template: ClassVar[str]
    title: str

    def to_html(self) -> str:
        """The page as one self-contained text: no network requests.

        Style, script and charts are inside; a content security policy allows this style and this
        script by their hashes, and nothing else. The same record gives the same page.

        Raises
        ------
        UsageError
            If jinja2 is not installed.
        """
        check_report()
        style, script = _part("page.css"), _part("page.js")
        policy = (
            f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
            "img-src data:; base-uri 'none'; form-action 'none'"
        )
        from markupsafe import Markup

        return (
            _environment()
            .get_template(self.template)
            .render(
                style=Markup(style),
                script=Markup(script),
                policy=policy,
                report=self,
                title=self.title,
            )
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, whole or not at all.

        Raises
        ------
        UsageError
            If jinja2 is not installed or the file cannot be written.
        """
        write_atomically(Path(path), self.to_html().encode())


@cache
def _part(name: str) -> str:
    return (resources.files(__package__) / FOLDER / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


@cache
def _environment() -> Environment:
    """Templates that escape every value and make invisible characters visible."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    from textreg.explain.removal_formats import is_selected, notes_of, title_of
    from textreg.terminal import visible
    from textreg_report import page_charts, wording
    from textreg_report.agreement import TITLES

    environment = Environment(
        loader=FunctionLoader(_part),
        autoescape=True,
        finalize=wording.safe,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["chart"] = page_charts
    environment.globals["alpha"] = ALPHA
    environment.globals["titles"] = TITLES
    environment.filters.update(
        clip=wording.clip,
        count=lambda value: f"{value:,.0f}",
        exact=lambda value: f"{value:.12g}",
        feature=lambda name: wording.clip(visible(name), 60),
        fixed=wording.fixed,
        is_selected=is_selected,
        notes_of=notes_of,
        title_of=title_of,
        p_value=p_text,
        percent=wording.percent,
        short=wording.short,
        signed=wording.signed,
        small=wording.small,
        telling=wording.telling,
        thirds=wording.thirds,
    )
    return environment


@dataclass(frozen=True, eq=False)
class CheckPage(Page):
    """The page of a check.

    Attributes
    ----------
    result : CheckResult
        What :func:`textreg.check` has found.
    command : tuple of str
        Words of the command line, for the page to show; empty where there was none.
    """

    template = "check.html.jinja"

    result: CheckResult
    command: tuple[str, ...] = ()

    @property
    def title(self) -> str:  # type: ignore[override]
        """What was checked."""
        return self.result.title

    @property
    def command_line(self) -> str:
        """The command line as one would type it."""
        return shlex.join(self.command)
