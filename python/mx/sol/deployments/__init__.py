"""Models as C without any framework: `sol.deploy(fast, "shared", path="out", lib_name="resnet")`.

`deployments` has the kinds by name: those of this package and those that others add by an entry
point in the group `mx.sol.deployments`, which names an instance of `Deployment`.
"""

from .._registry import Registry, registry_of
from ._deployment import Build, Deployment

__all__ = ["Build", "Deployment", "deployments"]

deployments: Registry[Deployment] = registry_of(
    "deployments",
    {
        name: f"mx.sol.deployments.{name}:DEPLOYMENT"
        for name in ("source", "static", "shared", "wheel")
    },
    Deployment,
)
