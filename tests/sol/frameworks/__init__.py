"""Models of all frameworks, and of one framework in another."""
