"""Reads 28 rows of 28 numbers, and prints the scores of ten digits.

Needs NumPy and the wheel that `python deploy.py wheel FOLDER` has written, and nothing else.
"""

import sys

import digits
import numpy

image = numpy.array(sys.stdin.read().split(), "float32").reshape(1, 1, 28, 28)
for digit, score in enumerate(digits.digits(image)[0]):
    print(f"{digit} {score:.5f}")
