"""``textreg plugins check``, ``doctor`` and ``new``: of authors of plugins."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

import textreg
from textreg.cli import shared
from textreg.cli.output import print_json, print_table
from textreg.cli.shared import Command
from textreg.errors import BrokenPluginError, PluginError, TextregError, UsageError, did_you_mean
from textreg.hookspecs import HOOK_OF_KIND, hookimpl
from textreg.isolation import contained, traceback_of
from textreg.plugins import calls, registry
from textreg.plugins.distributions import DISABLE, is_among, spellings
from textreg.plugins.registry import PluginInfo
from textreg.terminal import shell_line
from textreg_testing.checks import SECONDS, Result, limited, not_run, results, texts_of
from textreg_testing.exporter import two_labels
from textreg_testing.scaffold import TEMPLATES, write_plugin
from textreg_testing.texts import written


@click.command(name="plugins.doctor", cls=Command)
@click.argument("name", default="")
@shared.as_json
@click.pass_context
def doctor(ctx: click.Context, name: str, as_json: bool) -> int:
    """Import and try the plugins called NAME, or all of them, and say what is wrong with each.

    NAME is a plugin, as in slope, regularizer.slope or acme-slope:slope, or a distribution. Each is
    tried on a small corpus. For a broken one, the output has its traceback, the cause on one line,
    and the pip command that may fix it.

    The exit code is 0 if none is broken, 1 if one is, 2 if there is no plugin called NAME.
    """
    diagnoses = diagnose(name)
    strange = notes(diagnoses)
    broken = [each for each in diagnoses if each.status == "broken"]
    if as_json:
        print_json({"plugins": [asdict(each) for each in diagnoses], "notes": strange})
        return 1 if broken else 0
    rows = [("NAME", "KIND", "FROM", "STATUS")]
    for each in diagnoses:
        cause = f": {each.cause}" if each.cause and each.status != "broken" else ""
        rows.append((each.info.name, each.info.kind, each.info.home, each.status + cause))
    print_table(rows)
    for note in strange:
        click.echo(f"note: {note}")
    for each in broken:  # at length, last of all
        click.echo(f"\n{each.info.name}, {each.info.kind}, of {each.info.home}")
        click.echo(f"  cause: {each.cause}")
        if each.remedy:
            click.echo(f"  mend:  {each.remedy}")
        for line in ["", *each.traceback.splitlines()] if each.traceback else ():
            click.echo(f"  {line}".rstrip())
    click.echo(f"\n{len(diagnoses)} tried, {len(broken)} broken")
    return 1 if broken else 0


@click.command(name="plugins.check", cls=Command)
@click.argument("name")
@shared.repeated(
    "--text",
    "FILE",
    "File of texts to try a tokenizer or builder on, in any format, or one on each line.",
    "files",
)
@shared.option(
    "--time-limit", "SECONDS", "Time limit of each check.", default=SECONDS, show_default=True
)
@shared.repeated("--skip", "NAME=REASON", "Leave out a check, for a reason.", "reasons")
@shared.as_json
def check_plugin(
    name: str, files: tuple[str, ...], time_limit: float, reasons: tuple[str, ...], as_json: bool
) -> None:
    """Run the contract of the plugin called NAME, check by check; exit with 1 where one fails.

    NAME is a regularizer, or the only plugin of that name; otherwise put the kind before it, as in
    groups.file. acme-slope:slope or slope.py:slope is one of two plugins of the same name.
    Check builders that need a file from Python, as instances: see textreg_testing. If a builder
    finds nothing in the texts of the checks, pass others with --text.

    A check that takes longer than --time-limit fails and ends the run. If a check fails, those that
    would fail for the same reason, or take long, are listed as not run. Settings of its author,
    under [tool.textreg.check] in its pyproject.toml, apply as well.
    """
    from textreg_testing import CHECKS
    from textreg_testing.builders import built_of
    from textreg_testing.tokenizer import found_in

    kind, short = kind_and_name(name, registry.listing())
    part = registry.find(kind, short)
    on_texts = kind in ("tokenizer", "groups", "graph")
    if files and not on_texts:
        raise UsageError(f"a {kind} is not tried on texts: leave out --text.")
    skip = {name: reason for name, _, reason in (it.partition("=") for it in reasons)}
    if bare := [check for check, reason in skip.items() if not reason.strip()]:
        raise UsageError(f"--skip {bare[0]} needs a reason: write --skip '{bare[0]}=REASON'.")
    texts = texts_of(files) if files else None
    checks = CHECKS[kind](texts) if on_texts else CHECKS[kind]()
    width = max(len(check.name) for check in checks)
    outcomes: list[Result] = []
    with limited(time_limit):
        for result in results(checks, part, skip):
            outcomes.append(result)
            if not as_json and result.status != "not run":  # at once: a slow plugin takes its time
                click.echo(f"{result.check:{width}}  {result.status:7}  {result.message}")
    count = Counter(result.status for result in outcomes)
    failed, asked = count["FAILED"], count["FAILED"] + count["ok"]
    told_of: Any = found_in if kind == "tokenizer" else built_of
    with contained():
        summary = told_of(registry.create(kind, part), texts) if on_texts and not failed else ""
    if as_json:
        rows = [dict(zip(Result._fields[:3], it, strict=False)) for it in outcomes if it.message]
        print_json({"plugin": name, "failed": failed, "checks": rows, "found": summary})
    else:
        left_out = f", {count['skipped']} skipped" if count["skipped"] else ""
        for line in not_run(outcomes):
            click.echo(line)
        click.echo(f"{asked - failed} of {asked} checks passed{left_out}")
        if summary:
            click.echo(summary)
    if failed:
        raise TextregError(f"{name}: {failed} of {asked} checks failed.")


def kind_and_name(name: str, listed: Sequence[PluginInfo]) -> tuple[str, str]:
    """Kind of the part that a user means without saying it, and its name in the registry.

    The kind stands in front, as in ``groups.file``, or it is that of a regularizer, else of the
    only plugin of that name. UsageError where it could be several, PluginError where it is none.
    """
    kind, _, short = name.partition(".")
    if kind in HOOK_OF_KIND and short:
        return kind, short
    owner, _, short = name.rpartition(":")  # names may have dots of their own
    meant = [
        row.kind
        for row in listed
        if row.name == short
        and is_among(owner, {"", row.file, Path(row.file).name, row.distribution})
    ]
    if not meant:
        raise _no_plugin(name, registry.aliases() - {row.distribution for row in listed})
    kinds = list(dict.fromkeys(meant))
    if len(kinds) > 1 and "regularizer" not in kinds:
        several = " and ".join(f"{kind}.{name}" for kind in kinds)
        raise UsageError(f"'{name}' stands for {several}: name one of them.")
    return (kinds[0] if len(kinds) == 1 else "regularizer"), name


@click.command(name="plugins.new", cls=Command)
@click.argument("kind", type=click.Choice(list(TEMPLATES)), metavar="KIND")
@click.argument("name")
@shared.option("--into", "DIR", "Folder to write it into.  [default: the current one]", default=".")
@shared.option(
    "--template",
    "TEMPLATE",
    "For a regularizer: penalty, solve for a procedure of its own, or cython for a penalty with a "
    "compiled kernel.  [default: penalty]",
    default="",
)
@shared.as_json
def new_plugin(kind: str, name: str, into: str, template: str, as_json: bool) -> None:
    """Write the distribution textreg-NAME, which can be installed, tested and changed at once.

    KIND is tokenizer, groups (a group builder), graph (a graph builder), regularizer, loss,
    exporter or command. The folder textreg-NAME gets a small working example with its tests.
    """
    written = write_plugin(kind, name, into, template)
    if as_json:
        files = [str(path) for path in written.files]
        print_json({"folder": str(written.folder), "files": files, "use": written.use})
        return
    for path in written.files:
        click.echo(f"wrote {path}")
    click.echo(f"next: {shell_line(['cd', written.folder])} && pip install -e . pytest && pytest")
    before = {"exporter": "export MODEL -o FILE ", "command": ""}.get(kind, "train FILE ")
    click.echo(f"then: textreg {before}{written.use}")


# Number of documents of the corpus that plugins are tried on.
DOCUMENTS = 60

# What a part of each kind is tried with; the part itself goes under the keyword that is None.
_TRIALS: dict[str, dict[str, Any]] = {
    "regularizer": {"reg": None},
    "tokenizer": {"tokenizer": None, "reg": "textreg:ridge", "reg_l2": 1.0},
    "groups": {"groups": None, "reg": "textreg:group", "reg_group": 0.1, "reg_l1": 0.1},
    "graph": {"graph": None, "reg": "textreg:network"},
    "loss": {"loss": None, "reg": "textreg:ridge", "reg_l2": 1.0},
}

_BUILDERS = {"groups": "textreg:sentences", "graph": "textreg:cooccurrence"}


@dataclass(frozen=True)
class Diagnosis:
    """The diagnosis of one plugin.

    status: ``ok``; ``not tried``, where it needs what only a user can give, such as a file;
    ``blocked``; ``clash``; or ``broken``. cause: why, on one line. remedy: the command that may
    fix it, or empty. traceback: the plugin's own, or empty.
    """

    info: PluginInfo
    status: str
    cause: str = ""
    remedy: str = ""
    traceback: str = ""


def diagnose(name: str = "") -> list[Diagnosis]:
    """Import and try all plugins, or those that ``name`` stands for, and diagnose each.

    name: ``slope``, ``regularizer.slope``, a distribution, or ``distribution:slope``. Only what it
    means is imported, but for modules of many parts where none is called so. Raises PluginError
    where there is none at all.
    """
    for load in (False, True) if name else ():
        rows = registry.listing(load=load)
        meant = [it for it in rows if is_among(name, spellings(it.kind, it.name, it.distribution))]
        if meant:
            return list(map(_diagnose, meant))
    if not name:
        return list(map(_diagnose, registry.listing()))
    raise _no_plugin(name, registry.aliases())


def _no_plugin(name: str, known: Iterable[str]) -> PluginError:
    """The error that no plugin is called so; ``known`` are names that may be meant."""
    damaged = [f" Left out as damaged: {reason}." for reason in registry.damaged()]
    return PluginError(
        f"no plugin '{name}'.{did_you_mean(name, known)}{''.join(damaged)} "
        "See: textreg plugins list"
    )


def notes(found: Iterable[Diagnosis] = ()) -> list[str]:
    """What breaks no plugin, in words.

    Distributions that are damaged, names that are to be blocked or allowed and that no plugin has,
    and, of those in ``found``, distributions that declare no version of the interface.
    """
    known = registry.aliases()
    listings = [(f"the variable {DISABLE}", os.environ.get(DISABLE, "").split(","))]
    listings += [(f"{it.path}", [*it.disable, *(it.allow or ())]) for it in registry.blocks.configs]
    damaged = [f"left out as damaged, so install it again: {one}" for one in registry.damaged()]
    homes = {diagnosis.info.home for diagnosis in found}
    undeclared = [
        f"{provider} does not declare the version of the interface that it is made for, so it is "
        'imported whatever that is. Its author should add [project.entry-points."textreg.api"] to '
        "its pyproject.toml, as on the page about publishing a plugin."
        for provider in registry.undeclared()
        if provider in homes
    ]
    return [*damaged, *undeclared] + [
        f"{where} names '{name}', and no plugin is called that.{did_you_mean(name, known)}"
        for where, listed in listings
        for name in map(str.strip, listed)
        if name and not is_among(name, known)
    ]


def _diagnose(row: PluginInfo) -> Diagnosis:
    try:
        if not row.status.startswith("blocked"):
            row = registry.load(row)
            if row.kind != "command":  # nobody knows what a command does, so it is not called
                _try(row)
    except BrokenPluginError as error:
        remedy = error.remedy or (f"pip install -U {row.distribution}" if row.distribution else "")
        return Diagnosis(row, "broken", error.cause, remedy, traceback_of(error.__cause__))
    except TextregError as error:
        return Diagnosis(row, "not tried", str(error))
    state, _, reason = row.status.partition(": ")
    return Diagnosis(row, state, reason)


def _try(row: PluginInfo) -> None:
    """Make a part and use it on a small corpus."""
    name = f"{row.distribution}:{row.name}" if row.distribution else row.name
    settings = dict(_TRIALS.get(row.kind, {}))
    texts = written(DOCUMENTS, 2, 4, 1)  # of two topics in turn
    labels = ["lamps", "kettles"] * (DOCUMENTS // 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        part = registry.create(row.kind, name)
        settings = {key: part if it is None else it for key, it in settings.items()}
        if row.kind == "regularizer" and part.needs and not part.default_builder:
            settings[part.needs] = _BUILDERS[part.needs]
        if row.kind == "exporter":
            calls.export(part, two_labels())
        elif row.kind not in ("backend", "vectors"):  # which may need an address, or a file
            textreg.train(texts, labels, ngrams=1, **settings)


@hookimpl
def textreg_commands() -> list[click.Command]:
    """The commands of this module."""
    return [check_plugin, doctor, new_plugin]
