"""The algorithms of the papers to the letter: plain versions, and what they give, in files."""
