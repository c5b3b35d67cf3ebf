"""ZeRO training of a small encoder-decoder with DeepSpeed, one process per GPU under mpirun.

Rank and world size come from Open MPI; the rendezvous address is the host of rank 0, sent to everyone by MPI itself.
"""

import argparse

import deepspeed
import torch
from mpi4py import MPI
from torch import nn


class Copier(nn.Module):
    """Learns to repeat its input in reverse: enough to see that every rank takes part."""

    def __init__(self, words: int, width: int):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.body = nn.Transformer(width, 8, 4, 4, 4 * width, batch_first=True, norm_first=True)
        self.head = nn.Linear(width, words)

    def forward(self, source, target):
        mask = nn.Transformer.generate_square_subsequent_mask(target.shape[1], device=target.device)
        return self.head(self.body(self.embed(source), self.embed(target), tgt_mask=mask))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--zero-stage", type=int, default=2)
    parser.add_argument("--micro-batch", type=int, default=16)
    parser.add_argument("--steps", type=int, default=2000)
    options = parser.parse_args()

    deepspeed.init_distributed(dist_backend="nccl", auto_mpi_discovery=True)
    rank = MPI.COMM_WORLD.Get_rank()
    words, length = 512, 64
    engine, *_ = deepspeed.initialize(
        model=(net := Copier(words, 512)),
        model_parameters=net.parameters(),
        config={
            "train_micro_batch_size_per_gpu": options.micro_batch,
            "bf16": {"enabled": True},
            "gradient_clipping": 1.0,
            "zero_optimization": {"stage": options.zero_stage, "overlap_comm": True},
            "optimizer": {"type": "AdamW", "params": {"lr": 3e-4, "weight_decay": 0.01}},
        },
    )
    draw = torch.Generator().manual_seed(rank)
    for step in range(options.steps):
        text = torch.randint(1, words, (options.micro_batch, length), generator=draw).to(engine.device)
        answer = text.flip(1)
        shifted = torch.cat([torch.zeros_like(answer[:, :1]), answer[:, :-1]], 1)
        loss = nn.functional.cross_entropy(engine(text, shifted).float().flatten(0, 1), answer.flatten())
        engine.backward(loss)
        engine.step()
        if rank == 0 and step % 100 == 0:
            print(f"step {step}: loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
