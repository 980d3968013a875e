"""campc compiles a campaign of GPU work into a checked plan."""

__version__ = "0.1.0"
