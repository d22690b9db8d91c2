"""Compiles the native parts: what is built (targets), how (toolchain) and in what order (steps)."""
