"""What models cannot have yet, by the name that it will have in `mx.sol`."""

NOT_BUILT = {
    "deploy": "libraries without a framework",
    "set_seed": "random layers",
    "training_step": "training: forward, backward and the optimizer's step",
}
