"""Benchmarks: each prints medians of paired runs, beside what it is compared with. `make bench` runs them all."""
