"""``textreg plugins check``, ``doctor`` and ``new``: of authors of plugins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from textreg.cli import shared
from textreg.cli.output import print_json, print_table
from textreg.cli.shared import Command
from textreg.errors import TextregError, UsageError
from textreg.hookspecs import HOOK_OF_KIND, hookimpl
from textreg.isolation import cause_of, contained
from textreg.plugins import registry

if TYPE_CHECKING:
    from textreg_testing import Check
    from textreg_testing.doctor import Diagnosis


@click.command(
    name="plugins.doctor", cls=Command, short_help="Try every plugin, and say what is wrong."
)
@click.argument("name", default="")
@shared.as_json
@click.pass_context
def doctor(ctx: click.Context, name: str, as_json: bool) -> int:
    """Import and try the plugins called NAME, or all of them, and say what is wrong with each.

    NAME is that of a plugin, as in slope, regularizer.slope or acme-slope:slope, or that of a
    distribution. Each is tried on a small corpus. For one that is broken there are its traceback,
    the cause on one line, and the pip command that may fix it.

    The exit code is 0 if none is broken, 1 if one is, 2 if there is no plugin called NAME.
    """
    from textreg_testing.doctor import diagnose, notes

    found = diagnose(name)
    strange = notes(found)
    broken = [one for one in found if one.status == "broken"]
    if as_json:
        print_json({"plugins": [asdict(one) for one in found], "notes": strange})
    else:
        _tell_diagnoses(found, broken, strange)
    return 1 if broken else 0


def _tell_diagnoses(
    found: Sequence[Diagnosis], broken: Sequence[Diagnosis], strange: Sequence[str]
) -> None:
    """The same for people: what is broken at length, last of all."""
    rows = [("NAME", "KIND", "FROM", "STATUS")]
    for one in found:
        info = one.info
        status = one.status
        if one.cause and status != "broken":
            status += f": {one.cause}"
        rows.append((info.name, info.kind or "several", info.home, status))
    print_table(rows)
    for note in strange:
        click.echo(f"note: {note}")
    for one in broken:
        click.echo(f"\n{one.info.name}, {one.info.kind or 'several'}, of {one.info.home}")
        click.echo(f"  cause: {one.cause}")
        if one.remedy:
            click.echo(f"  mend:  {one.remedy}")
        if one.traceback:
            click.echo()
        for line in one.traceback.splitlines():
            click.echo(f"  {line}".rstrip())
    click.echo(f"\n{len(found)} tried, {len(broken)} broken")


@click.command(
    name="plugins.check", cls=Command, short_help="Hold a plugin to the contract of its kind."
)
@click.argument("name")
@click.option(
    "--text",
    "files",
    metavar="FILE",
    multiple=True,
    help="File of texts to try a tokenizer or builder on, in any format, or one on each line. "
    "Repeat it for several.",
)
@click.option(
    "--time-limit",
    "seconds",
    metavar="SECONDS",
    type=float,
    default=20.0,
    show_default=True,
    help="What a check may take.",
)
@shared.as_json
def check_plugin(name: str, files: tuple[str, ...], seconds: float, as_json: bool) -> None:
    """Run the contract of the plugin called NAME, check by check; exit with 1 where one fails.

    NAME is that of a regularizer, else of the only plugin of that name, else with the kind in
    front, as in groups.file; acme-slope:slope or slope.py:slope is one of two with one name.
    Builders that need a file are checked from Python, as instances: see textreg_testing. Where a
    builder builds nothing of the texts of the checks, give others of which it does with --text.

    A check that takes longer than --time-limit fails, and ends the run. Where the penalty of a
    regularizer is wrong, nothing is solved with it.
    """
    from textreg.reading.corpus import read_corpus
    from textreg.records.documents import check_texts
    from textreg_testing import CHECKS, what_is_found

    kind, short = registry.meant(name)
    part = registry.find(kind, short)
    on_texts = kind in ("tokenizer", "groups", "graph")
    if files and not on_texts:
        raise UsageError(f"a {kind} is not tried on texts: leave out --text.")
    texts = check_texts(read_corpus(files, labeled=False).texts) if files else None
    checks = CHECKS[kind](texts) if on_texts else CHECKS[kind]()
    width = max(len(check.name) for check in checks)
    results: list[Checked] = []
    unasked = 0
    for check in checks:
        if _is_hopeless(results, check.name):
            unasked += 1
            continue
        result = _run_check(check, part, seconds)
        if result is None:
            continue
        results.append(result)
        if not as_json:  # at once: a slow plugin takes its time
            click.echo(f"{result.check:{width}}  {result.status:7}  {result.message}")
    failed = sum(result.status == "FAILED" for result in results)
    skipped = sum(result.status == "skipped" for result in results)
    with contained():
        found = what_is_found(kind, part, texts) if on_texts and not failed else ""
    if as_json:
        rows = [dict(zip(Checked._fields[:3], result, strict=False)) for result in results]
        print_json({"plugin": name, "failed": failed, "checks": rows, "found": found})
    else:
        asked = len(results) - skipped
        left_out = f", {skipped} skipped" if skipped else ""
        if unasked:
            click.echo(f"{unasked} checks were not run: mend what failed first")
        click.echo(f"{asked - failed} of {asked} checks passed{left_out}")
        if found:
            click.echo(found)
    if failed:
        raise TextregError(f"{name}: {failed} of {len(results)} checks failed.")


class Checked(NamedTuple):
    """What came of a check: ok, skipped or FAILED; late where it ran out of time."""

    check: str
    status: str
    message: str
    late: bool = False


def _is_hopeless(results: Sequence[Checked], name: str) -> bool:
    """Whether a check is not worth a try after those before it."""
    late = any(result.late for result in results)
    penalty = any(
        result.status == "FAILED" and result.check.startswith("penalty-") for result in results
    )
    return late or (penalty and not name.startswith("penalty-"))


def _run_check(check: Check, part: Any, seconds: float) -> Checked | None:
    """What comes of a check; None if it does not apply."""
    from textreg_testing import ContractError, Skipped
    from textreg_testing.checks import TimeLimitError, limited

    try:
        with contained(), limited(seconds):
            if not check.applies(part):
                return None
            check.run(part)
    except Skipped as reason:
        return Checked(check.name, "skipped", str(reason))
    except ContractError as error:
        return Checked(check.name, "FAILED", str(error), isinstance(error, TimeLimitError))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  # a stranger's code may raise anything
        return Checked(check.name, "FAILED", cause_of(error))
    return Checked(check.name, "ok", check.promise)


@click.command(
    name="plugins.new", cls=Command, short_help="Write the beginning of a plugin of your own."
)
@click.argument("kind", type=click.Choice(tuple(HOOK_OF_KIND)), metavar="KIND")
@click.argument("name")
@click.option(
    "--into",
    metavar="DIR",
    default=".",
    help="Folder that gets the new one.  [default: the present one]",
)
@click.option(
    "--template",
    metavar="TEMPLATE",
    default="",
    help="Of a regularizer: penalty, solve for a procedure of its own, or cython for a penalty "
    "with a compiled kernel.  [default: penalty]",
)
@shared.as_json
def new_plugin(kind: str, name: str, into: str, template: str, as_json: bool) -> None:
    """Write the distribution textreg-NAME, which can be installed, tested and changed at once.

    KIND is tokenizer, groups (a group builder), graph (a graph builder), regularizer, loss
    or exporter. The folder textreg-NAME gets a small working example with its tests.
    """
    from textreg_testing.scaffold import write_plugin

    written = write_plugin(kind, name, into, template)
    if as_json:
        files = [str(path) for path in written.files]
        print_json({"folder": str(written.folder), "files": files, "use": written.use})
        return
    for path in written.files:
        click.echo(f"wrote {path}")
    click.echo(f"next: cd {written.folder} && pip install -e . pytest && pytest")
    command = "export MODEL -o FILE" if kind == "exporter" else "train FILE"
    click.echo(f"then: textreg {command} {written.use}")


@hookimpl
def textreg_commands() -> list[click.Command]:
    """The commands of this module."""
    return [check_plugin, doctor, new_plugin]
