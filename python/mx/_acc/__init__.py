"""Accelerators: libraries with devices of their own, loaded while the program runs."""
