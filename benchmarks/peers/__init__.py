"""The contestants. A module gives `calls()` a table each; a peer not installed is left out."""
