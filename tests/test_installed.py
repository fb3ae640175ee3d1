"""Plugins that pip has installed, good ones and broken ones, used as a user would."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from distributions import FAULTS, LOADING, SOUND, WRONG_SPANS, Fault, install
from sites import Site


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    made = Site(tmp_path_factory.mktemp("installed"))
    distributions = [*SOUND, *(fault.distribution for fault in FAULTS)]
    distributions += [distribution for distribution, _ in WRONG_SPANS]
    install(distributions, made.folder / "wheels", made.target)
    return made


@pytest.fixture(scope="session")
def answers(site: Site) -> dict[str, tuple[int, str, str]]:
    """What is said of every fault, one after the other in one process, and of a sound plugin."""
    commands = [site.train(fault.options) for fault in FAULTS] + [site.train("--reg slope")]
    names = [fault.distribution.name for fault in FAULTS] + ["acme-slope"]
    return dict(zip(names, site.session(commands), strict=True))


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.distribution.name)
def test_faults_are_named(fault: Fault, answers: dict[str, Any]) -> None:
    code, out, err = answers[fault.distribution.name]
    assert code == 1, err
    assert "saved" not in out
    assert re.fullmatch(r"Error: [^\n]+\n", err), err
    assert re.search(fault.says, err[:-1]), err


def test_others_go_on_working(answers: dict[str, Any]) -> None:
    code, out, err = answers["acme-slope"]
    assert (code, err) == (0, "")
    assert "saved model.textreg" in out


def test_wrong_character_offsets(site: Site) -> None:
    commands = []
    for distribution, _ in WRONG_SPANS:
        name = distribution.name.partition("-")[2]
        model = f"{name}.textreg"
        commands += [
            site.train(f"--reg lasso --reg-l1 0.1 --tokenizer {name}", model),
            ["explain", model, "good film"],
        ]
    results = site.session(commands)
    for (_, says), trained, explained in zip(WRONG_SPANS, results[::2], results[1::2], strict=True):
        assert trained[0] == 0, trained
        assert explained[0] == 1
        assert re.fullmatch(r"Error: [^\n]+\n", explained[2]), explained
        assert re.search(says, explained[2])


def test_traceback_of_the_plugin(site: Site) -> None:
    done = site.run(*site.train("--reg raises"), "--debug")
    assert done.returncode == 1
    assert "raise RuntimeError('no license" in done.stderr
    assert "acme_raises.py" in done.stderr
    code = (
        "import textreg\n"
        "try: textreg.train(['a', 'b'] * 9, ['p', 'n'] * 9, reg='raises')\n"
        "except textreg.TextregError as error:\n"
        "    print(type(error).__name__, '|', type(error.__cause__).__name__, '|', error.cause)\n"
    )
    said = site.python("-c", code).stdout
    assert re.match(r"BrokenPluginError \| RuntimeError \| solve: RuntimeError: no lic", said), said


def test_list_imports_nothing(site: Site) -> None:
    code = (
        "import sys; from textreg.cli import main; main(['plugins', 'list', '--json'])\n"
        "print([name for name in sys.modules if name.startswith(('acme', 'numpy'))])"
    )
    listed, modules = site.python("-c", code).stdout.splitlines()
    assert modules == "[]"
    rows = {row["name"]: row for row in json.loads(listed)}
    assert rows["import"]["status"] == rows["slope"]["status"] == "not loaded"
    assert (rows["slope"]["distribution"], rows["slope"]["version"]) == ("acme-slope", "0.3")
    assert (rows["slope"]["api"], rows["slope"]["seconds"]) == (None, None)


def test_list_that_loads(site: Site) -> None:
    (code, out, _), (_, table, _) = site.session(
        [["plugins", "list", "--load", "--json"], ["plugins", "list"]]
    )
    assert code == 0
    rows = {row["name"]: row for row in json.loads(out)}
    for name, (distribution, says) in LOADING.items():
        assert rows[name]["status"].startswith("broken: ")
        assert re.search(says, rows[name]["status"])
        assert rows[name]["distribution"] == distribution.name
    assert rows["slope"]["status"] == rows["sentence"]["status"] == "ok"
    assert rows["slope"]["api"] == 1
    assert rows["slope"]["seconds"] > 0
    lines = table.splitlines()
    assert lines[0].split() == ["NAME", "KIND", "FROM", "API", "STATUS"]
    (line,) = [line for line in lines if line.startswith("import ")]
    assert line.endswith("BROKEN: it needs 'jaxx', which is not installed -> pip install jaxx")
    assert lines[-1] == (
        f"{len(LOADING)} plugins are broken; all else works. See: textreg plugins doctor declared"
    )


def test_doctor(site: Site) -> None:
    names = ["import", "regularizer.raises", "acme-nan", "acme-slope:slope", "spaces", "sentence"]
    results = site.session([["plugins", "doctor", name, "--json"] for name in names])
    found = {}
    undeclared = "does not declare the version of the interface that it is made for"
    for name, (code, out, err) in zip(names, results, strict=True):
        assert err == ""
        told = json.loads(out)
        (found[name],) = told["plugins"]
        info = found[name]["info"]
        home = f"{info['distribution']} {info['version']}"
        notes = [note for note in told["notes"] if undeclared in note]
        assert [note.startswith(f"{home} {undeclared}") for note in notes] == (
            [] if name == "sentence" else [True]
        )
        assert code == (found[name]["status"] == "broken")
    assert [found[name]["status"] for name in names] == ["broken"] * 3 + ["ok"] * 3
    assert found["import"]["cause"] == "it needs 'jaxx', which is not installed"
    assert found["import"]["remedy"] == "pip install jaxx"
    assert found["import"]["traceback"].endswith("No module named 'jaxx'\n")
    raised = found["regularizer.raises"]
    assert raised["remedy"] == "pip install -U acme-raises"
    first, *_, second_last, last = raised["traceback"].splitlines()
    assert first == "Traceback (most recent call last):"
    assert "acme_raises.py" in raised["traceback"].splitlines()[1]
    assert (second_last, last) == ("RuntimeError: no license", "really")
    assert (
        found["acme-nan"]["cause"]
        == "solve, w, must give finite numbers, not 1 that are NaN or infinite"
    )
    assert found["acme-nan"]["traceback"] == ""


def test_doctor_for_people(site: Site) -> None:
    (code, out, err), unknown, blocked, clash = site.session(
        [
            ["plugins", "doctor", "import"],
            ["plugins", "doctor", "slop"],
            ["--no-plugin", "raises", "plugins", "doctor", "raises"],
            ["plugins", "doctor", "clash"],
        ]
    )
    assert (code, err) == (1, "")
    lines = out.splitlines()
    assert lines[1].split() == ["import", "regularizer", "acme-import", "0.3", "broken"]
    assert "  cause: it needs 'jaxx', which is not installed" in lines
    assert "  mend:  pip install jaxx" in lines
    assert "  ModuleNotFoundError: No module named 'jaxx'" in lines
    assert lines[-1] == "1 tried, 1 broken"
    assert unknown[0] == 2
    assert "no plugin 'slop'. Did you mean 'slope'?" in unknown[2]
    assert blocked[0] == 0
    assert "blocked: by --no-plugin" in blocked[1]
    assert clash[0] == 0
    assert "clash: write one-clash:clash" in clash[1]
    assert "clash: write other-clash:clash" in clash[1]


def test_two_providers_of_a_name(site: Site) -> None:
    ambiguous, chosen, allowed = site.session(
        [
            site.train("--reg clash"),
            site.train("--reg other-clash:clash --reg-l1 0.5", "clash.textreg"),
            ["--no-plugin", "one-clash", *site.train("--reg clash --reg-l1 0.5", "clash.textreg")],
        ]
    )
    assert ambiguous[0] == 2
    assert re.search(
        r"2 regularizers are called 'clash': (one-clash 0\.3 and other-clash 2\.0|other-clash 2\.0 "
        r"and one-clash 0\.3)\. Write .*one-clash:clash",
        ambiguous[2],
    )
    assert (chosen[0], chosen[2]) == (allowed[0], allowed[2]) == (0, "")
