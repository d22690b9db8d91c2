"""Rules by family, each in a module of its own, which the import of this package loads."""

import pkgutil
from importlib import import_module

FAMILIES = [found.name for found in pkgutil.iter_modules(__path__)]

for _name in FAMILIES:
    import_module(f"{__name__}.{_name}")
