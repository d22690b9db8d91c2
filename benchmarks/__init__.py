"""Measures the function boundary against its peers: `python -m benchmarks`."""
