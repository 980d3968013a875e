"""Diagnostics for people and for tools."""
