"""What a package adds to mx.sol: a framework, a pass, a layer, a backend, a JIT and a device.

Nothing here is called by name: pyproject.toml lists each in the group of entry points where mx.sol
looks for its kind.
"""
