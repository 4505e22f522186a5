"""`engine/solver` against oracles that share no code with it: brute force and integer programs."""
