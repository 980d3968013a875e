"""The language server: it only converts what the pipeline returns."""
