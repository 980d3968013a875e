"""Exact types for what a campaign file can say."""
