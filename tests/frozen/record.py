"""Write the records of ``tests/test_frozen.py`` anew: ``python tests/frozen/record.py``.

That is right only where results are meant to change, and then the commit says why. The choices
need the corpora that TEXTREG_DATA names; where it is not set, their record stays.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import tempfile
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import scipy.linalg  # loads the library of linear algebra
from threadpoolctl import threadpool_info

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from frozen.answers import EXPORTERS, MODELS, answers, exported  # noqa: E402
from frozen.choices import CORPORA, choice  # noqa: E402
from frozen.fits import FITS, fitted  # noqa: E402


def machine() -> dict[str, Any]:
    """What the last bits of a result depend on: docs/promises.md."""
    instructions: list[str] = []
    libraries = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    if np.lib.NumpyVersion(np.__version__) >= "1.26.0":
        config: Any = np.show_config(mode="dicts")
        instructions = [*config["SIMD Extensions"].get("found", ())]
    return {
        "processor": platform.machine(),
        "instructions": instructions,
        "blas": sorted({str(library.get("architecture")) for library in libraries}),
        "libc": " ".join(platform.libc_ver()),
        "python": ".".join(platform.python_version_tuple()[:2]),
        "unicode": unicodedata.unidata_version,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
    }


def write(name: str, record: Any) -> None:
    """One record, as JSON that a reader can compare line by line."""
    text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    (HERE / name).write_text(text, encoding="utf-8")


def read(name: str) -> Any:
    """A record."""
    return json.loads((HERE / name).read_text(encoding="utf-8"))


def main() -> None:
    """All records."""
    write("machine.json", machine())
    results = {name: fitted(name) for name in FITS}
    write("fits.json", {name: result.values for name, result in results.items()})
    arrays = {
        f"{name}: {key}": array
        for name, result in results.items()
        for key, array in result.arrays.items()
    }
    np.savez_compressed(HERE / "fits.npz", **arrays)
    write("answers.json", {name: answers(name) for name in MODELS})
    with tempfile.TemporaryDirectory() as folder:
        write(
            "exports.json",
            {
                name: {exporter: exported(name, exporter, Path(folder)) for exporter in EXPORTERS}
                for name in MODELS
            },
        )
    if data := os.environ.get("TEXTREG_DATA"):
        write("choices.json", {name: choice(Path(data, "data"), name) for name in CORPORA})


if __name__ == "__main__":
    main()
