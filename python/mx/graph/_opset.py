"""The version of ONNX's operators that graphs are made of."""

# The newest that the oldest onnx which pyproject.toml allows has; it stays when onnx is renewed, so
# that a graph means the same with each.
OPSET = 28
