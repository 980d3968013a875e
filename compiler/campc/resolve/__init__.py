"""From tree to spec: names, units, defaults."""
