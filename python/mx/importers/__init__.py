"""What makes graphs of the models of other packages, each in a module of its own.

Only these see another framework, and import it only when a model of it is given.
"""
