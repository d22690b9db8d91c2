"""What goes wrong without being an error of the caller's."""


class SolWarning(UserWarning):
    """A model, or a part of it, is executed by its framework: the message says why."""
