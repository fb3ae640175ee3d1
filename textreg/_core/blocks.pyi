from textreg._core.reference.blocks import block_dots as block_dots
from textreg._core.reference.blocks import block_sums as block_sums
