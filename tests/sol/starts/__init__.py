"""What a process keeps for the next start of the same model."""
