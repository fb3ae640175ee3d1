"""Check an entry of docs/plugin-entries.toml: install it in a clean environment, check its parts.

    python tools/check_entry.py DISTRIBUTION [REQUIREMENT ...]

Beside the distribution textreg[testing] is installed, from the package index, or from the further
requirements, such as wheels or folders; these may have the distribution as well. The exit code is 0
if all of its parts keep their contract.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))


def main(distribution: str, *requirements: str) -> int:
    """Install it, and run `textreg plugins check` for each of its parts."""
    from distributions import entries

    listed = {entry["distribution"]: entry["parts"] for entry in entries()}
    if distribution not in listed:
        print(
            f"docs/plugin-entries.toml has no '{distribution}', but {', '.join(listed) or 'none'}: "
            "add a table for it first."
        )
        return 2
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = next(Path(folder).glob("[bS]*/python*"))
        wanted = [*(requirements or ("textreg[testing]",)), distribution]
        installing = [python, "-m", "pip", "install", "--quiet", *wanted]
        if subprocess.run(installing, check=False).returncode:
            print(f"{distribution} could not be installed: pip says above why not")
            return 1
        failed = []
        for part in listed[distribution]:
            kind, _, name = part.partition(".")
            own = f"{kind}.{distribution}:{name}"
            command = [python, "-m", "textreg", "plugins", "check", own]
            if subprocess.run(command, cwd=folder, check=False).returncode:
                failed.append(part)
    print(
        f"{distribution}: {', '.join(failed)} failed" if failed else f"{distribution} may be listed"
    )
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
