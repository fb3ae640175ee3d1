"""Structure of the features: groups and graphs, from plugins or from files."""
