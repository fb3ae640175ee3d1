from textreg._core.reference.group_scores import GroupArrays as GroupArrays
from textreg._core.reference.group_scores import GroupBounds as GroupBounds
from textreg._core.reference.group_scores import candidate_groups as candidate_groups
from textreg._core.reference.group_scores import group_correlations as group_correlations
from textreg._core.reference.group_scores import group_projections as group_projections
from textreg._core.reference.group_scores import projection_bounds as projection_bounds
