"""Diagnostics for people and for tools."""

FORMATS = ("text", "concise", "json", "sarif", "github", "gitlab", "junit")
"""How ``campc check`` prints what it finds."""
