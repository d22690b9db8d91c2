"""What models cannot have yet, by the name that it will have in `mx.sol`."""

NOT_BUILT = {
    "training_step": "training: forward, backward and the optimizer's step",
}
