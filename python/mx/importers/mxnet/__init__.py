"""MXNet's checkpoints: `prefix-symbol.json` and `prefix-0000.params`."""
