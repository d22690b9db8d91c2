"""The interleaved comparison: what is measured, how, and how it is reported."""
