"""Linear regression over all processes, with one gradient sum per step.

Each process draws its own rows from one known line, so that the result can be checked: the weights must come out as they
went in.
"""

import argparse
import os

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--rows", type=int, default=4096, help="rows per process")
    options = parser.parse_args()

    jax.distributed.initialize(
        coordinator_address=os.environ["JAX_COORDINATOR_ADDRESS"],
        num_processes=int(os.environ["JAX_NUM_PROCESSES"]),
        process_id=int(os.environ["JAX_PROCESS_ID"]),
    )
    rank = jax.process_index()
    mesh = Mesh(np.array(jax.devices()), ("data",))
    by_row = NamedSharding(mesh, PartitionSpec("data"))

    truth = np.linspace(-1, 1, 16, dtype=np.float32)
    draw = np.random.default_rng(1000 + rank)
    x = draw.standard_normal((options.rows, 16), dtype=np.float32)
    y = x @ truth + 0.01 * draw.standard_normal(options.rows, dtype=np.float32)
    x = jax.make_array_from_process_local_data(by_row, x)
    y = jax.make_array_from_process_local_data(by_row, y)

    @jax.jit
    def step(weights, x, y):
        loss, gradient = jax.value_and_grad(lambda w: jnp.mean((x @ w - y) ** 2))(weights)
        return weights - 0.1 * gradient, loss

    weights = jnp.zeros(16)
    for i in range(options.steps):
        weights, loss = step(weights, x, y)
        if rank == 0 and (i + 1) % 100 == 0:
            print(f"step {i + 1}: loss {loss:.6f}", flush=True)
    worst = float(jnp.max(jnp.abs(weights - truth)))
    if rank == 0:
        print(f"largest error of a weight: {worst:.5f}", flush=True)
    if worst > 0.01:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
