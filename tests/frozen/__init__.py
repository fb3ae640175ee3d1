"""What the code computed when these records were written: fits, choices, answers and exports.

``record.py`` writes the records anew; ``test_frozen.py`` holds the code against them.
"""
