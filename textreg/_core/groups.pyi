from textreg._core.reference.groups import admm_copies as admm_copies
from textreg._core.reference.groups import ball_sweeps as ball_sweeps
from textreg._core.reference.groups import copy_norms as copy_norms
from textreg._core.reference.groups import group_gather as group_gather
from textreg._core.reference.groups import group_norms as group_norms
from textreg._core.reference.groups import group_scale as group_scale
from textreg._core.reference.groups import group_spread as group_spread
from textreg._core.reference.groups import select_groups as select_groups
