"""``make release VERSION=0.1.0 URL=...``: a release up to its tag, in the order of the checks.

    python tools/release.py 0.1.0 --url https://... [--python COMMAND ...] [--full]

The version and the address of the repository go into pyproject.toml and those of the plugins, which
are pinned to it; the changes under "Unreleased" in CHANGELOG.md get its heading and the date, and
CITATION.cff all three. Links of README.md become absolute, for pages that show it elsewhere. The
distributions are made and tried as by ``make dist``. What is left to a person, the commit and the
tag, is printed: the workflow "release" builds what a tag names on all systems and uploads it.
Nothing is committed or sent, and a check that fails leaves these files as they were.
"""

from __future__ import annotations

import argparse
import datetime
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import distribute
from contents import ROOT
from programs import DistError, output_of, run

VERSION = re.compile(r"\d+\.\d+\.\d+((a|b|rc)\d+)?")
ADDRESS = re.compile(r"https://[\w.-]+/[\w./-]*\w")
URLS = """[project.urls]
Repository = "{url}"
Issues = "{url}/issues"
Changelog = "{url}/blob/v{version}/CHANGELOG.md"

"""
EMPTY = "## [Unreleased]\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Prepare a release; returns an exit code."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("version")
    parser.add_argument("--url", default="", help="of the repository, if no release has set it")
    parser.add_argument("--python", action="append", metavar="COMMAND", help="repeat for several")
    parser.add_argument("--full", action="store_true", help="run all tests on every wheel")
    options = parser.parse_args(arguments)
    output = ROOT / "dist"
    before: dict[Path, str] = {}
    try:
        _check_tree()
        changed = new_texts(ROOT, options.version, datetime.date.today(), options.url)
        before = {path: path.read_text(encoding="utf-8") for path in changed}
        write(changed)
        made = distribute.make(options.python or distribute.PYTHONS, output, full=options.full)
    except (DistError, subprocess.CalledProcessError, KeyboardInterrupt) as error:
        write(before)
        print(f"{output_of(error)}make release: {error or 'stopped'}", file=sys.stderr)
        return 1
    files = " ".join(str(path.relative_to(ROOT)) for path in changed)
    print("\n".join(f"{path.stat().st_size:>10,} bytes  {path}" for path in made))
    print(f"\nLeft to do:\n  git commit -m 'textreg {options.version}' {files}")
    print(f"  git tag -a v{options.version} -m 'textreg {options.version}' && git push --tags")
    return 0


def new_texts(root: Path, version: str, today: datetime.date, url: str) -> dict[Path, str]:
    """The files that state the version, as they are to be; DistError where one does not fit.

    url: the address of the repository; empty if they have it from a release before.
    """
    if not VERSION.fullmatch(version):
        raise DistError(f"'{version}' is no version: write it as 0.1.0, or 0.1.0rc1")
    stated = (root / "pyproject.toml").read_text(encoding="utf-8")
    if not url and (known := re.search(r'^Repository = "(.*)"', stated, re.MULTILINE)):
        url = known[1]
    if not ADDRESS.fullmatch(url):
        raise DistError(f"'{url}' is no address of the repository: name it with URL=https://...")
    changelog, readme = root / "CHANGELOG.md", root / "README.md"
    text = changelog.read_text(encoding="utf-8")
    if f"## [{version}]" in text:
        raise DistError(f"CHANGELOG.md has {version} already: take the next version")
    head, mark, rest = text.partition(EMPTY)
    if not mark or not rest.partition("\n## [")[0].strip():
        raise DistError(f"CHANGELOG.md has nothing under '{EMPTY.strip()}': write it")
    rest = re.sub(r"\ATo become .*\n+", "", rest.lstrip("\n"))
    heading = f"## [{version}] - {today.isoformat()}\n\n"
    citation = _set(root / "CITATION.cff", "version: .*", f"version: {version}")
    lines = f'date-released: {today.isoformat()}\nrepository-code: "{url}"\n'
    citation = re.sub(r"^(date-released|repository-code): .*\n", "", citation, flags=re.MULTILINE)
    citation = citation.replace(f"version: {version}\n", f"version: {version}\n{lines}", 1)
    projects = [root / "pyproject.toml", *sorted(root.glob("plugins/*/pyproject.toml"))]
    return {
        **{path: _with_version(path, version, url) for path in projects},
        readme: _linked(readme.read_text(encoding="utf-8"), url, version),
        changelog: f"{head}{EMPTY}\n{heading}{rest}",
        root / "CITATION.cff": citation,
    }


def _with_version(path: Path, version: str, url: str) -> str:
    """A ``pyproject.toml`` of that version, which pins those of ours that it names to it."""
    text = _set(path, 'version = ".*"', f'version = "{version}"')
    urls = URLS.format(url=url, version=version)
    text, count = re.subn(r"^\[project\.urls\]\n[^\[]*", urls, text, count=1, flags=re.MULTILINE)
    if not count:
        raise DistError(f"{path} has no table [project.urls] for the addresses")
    return re.sub(r'"(textreg[\w-]*)==[^"]*"', rf'"\1=={version}"', text)


def _linked(text: str, url: str, version: str) -> str:
    """Markdown whose relative links, and those to other versions, lead to that version."""
    link = rf"(!?)\[([^]]*)\]\((?:{re.escape(url)}/(?:blob|raw)/v[^/]+/|(?!https?:|#))"
    return re.sub(
        link,
        lambda it: f"{it[1]}[{it[2]}]({url}/{'raw' if it[1] else 'blob'}/v{version}/",
        text,
    )


def _set(path: Path, line: str, new: str) -> str:
    """The text of a file with its first line of that form replaced; DistError if it has none."""
    text = path.read_text(encoding="utf-8")
    done, count = re.subn(rf"^{line}$", new, text, count=1, flags=re.MULTILINE)
    if not count:
        raise DistError(f"{path.name} has no line '{line}': it states the version")
    return done


def write(texts: dict[Path, str]) -> None:
    """Write the files."""
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")


def _check_tree() -> None:
    """DistError where changes are not committed, as the release would not be what git has."""
    if changes := run(["git", "status", "--porcelain"], cwd=ROOT).strip():
        raise DistError(f"commit or drop these first:\n{changes}")


if __name__ == "__main__":
    sys.exit(main())
