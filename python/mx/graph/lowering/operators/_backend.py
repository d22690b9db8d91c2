"""The backend that the rules of this folder are of."""

from .._table import Backend

OPERATORS = Backend("mx")
rule = OPERATORS.rule
