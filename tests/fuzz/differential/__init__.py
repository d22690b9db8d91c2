"""Random programs that run on NumPy and on mx.np, and have to give the same.

A program is a list of lines of Python, each of which makes or changes arrays `v0`, `v1`, ...:
`statements` writes them, `execute` runs each on both sides and compares what every array holds
then, `known` names the differences that are meant, and `shrink` makes a program with any other one
small. A `campaign` runs the programs of a seed; `processes` has each campaign in a process of its
own, and tells the program of one that ended it.

    python -m tests.fuzz.differential --statements 10000 --seed 1
"""
