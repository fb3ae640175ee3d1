"""``textreg plugins check``: whether a plugin keeps the contract of its kind."""

from __future__ import annotations

import click

from textreg.cli import shared
from textreg.cli.output import print_json
from textreg.errors import TextregError, UsageError
from textreg.plugins import registry
from textreg.plugins.entries import KIND_NAMES
from textreg.plugins.guard import cause_of


@click.command(name="check", short_help="Hold a plugin to the contract of its kind.")
@click.argument("name")
@shared.as_json
def check_plugin(name: str, as_json: bool) -> None:
    """Run the contract of the plugin called NAME, check by check; exit with 1 where one fails.

    NAME is that of a regularizer, else of the only plugin of that name, else with the kind in
    front, as in groups.file. Builders that need a file are checked from Python, as instances: see
    textreg.testing.
    """
    from textreg.testing import CHECKS, ContractError

    kind, _, short = name.partition(".")
    if kind not in KIND_NAMES or not short:  # names may have dots of their own
        kinds = [kind for kind in KIND_NAMES if name in registry.names(kind)]
        if len(kinds) > 1 and "regularizer" not in kinds:
            several = " and ".join(f"{kind}.{name}" for kind in kinds)
            raise UsageError(f"'{name}' stands for {several}: name one of them.")
        kind, short = kinds[0] if len(kinds) == 1 else "regularizer", name
    part = registry.find(kind, short)
    checks = CHECKS[kind]()
    width = max(len(check.name) for check in checks)
    results = []
    for check in checks:
        try:
            if not check.applies(part):
                continue
            check.run(part)
        except ContractError as error:
            result = (check.name, "FAILED", str(error))
        except Exception as error:  # noqa: BLE001  # a stranger's code may raise anything
            result = (check.name, "FAILED", cause_of(error))
        else:
            result = (check.name, "ok", check.promise)
        results.append(result)
        if not as_json:  # at once: a slow plugin takes its time
            click.echo(f"{result[0]:{width}}  {result[1]:6}  {result[2]}")
    failed = sum(status != "ok" for _, status, _ in results)
    if as_json:
        rows = [dict(zip(("check", "status", "message"), row, strict=True)) for row in results]
        print_json({"plugin": name, "failed": failed, "checks": rows})
    else:
        click.echo(f"{len(results) - failed} of {len(results)} checks passed")
    if failed:
        raise TextregError(f"{name}: {failed} of {len(results)} checks failed.")
