"""``python -m textreg`` is ``textreg``."""

import sys

from textreg.cli import main

if __name__ == "__main__":
    sys.exit(main())
