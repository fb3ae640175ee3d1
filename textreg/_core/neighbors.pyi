from textreg._core.reference.neighbors import nearest_cosines as nearest_cosines
