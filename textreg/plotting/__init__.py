"""All charts: one drawing model, one style, written into pages or saved as SVG or PNG files."""
