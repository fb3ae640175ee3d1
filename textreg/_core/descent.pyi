from textreg._core.reference.descent import coordinate_descent as coordinate_descent
from textreg._core.reference.descent import select_active as select_active
