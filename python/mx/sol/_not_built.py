"""What models cannot have yet, by the name that it will have in `mx.sol`."""

NOT_BUILT: dict[str, str] = {}
