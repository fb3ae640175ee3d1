"""Papers measured again: baselines of Sandler et al. (2008), and the protocols behind results.md.

``python -m textreg_papers --data DIR`` measures the tables of Yogatama & Smith (2014) and Skianis
et al. (2018), and writes them beside the published ones.
"""
