"""What is raised for models that are wrong."""


class GraphError(ValueError):
    """A model cannot be used: the message names the file, the node, what was expected and came."""
