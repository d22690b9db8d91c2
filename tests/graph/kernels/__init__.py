"""Kernels that plans have of mx itself."""
