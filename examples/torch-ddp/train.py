"""Data-parallel training of a small residual network on 32x32 images.

Started once per node by torchrun, which reads the rendezvous from the PET_* variables that the runtime sets. Every process
keeps one GPU (or, without any, the CPU). The data is one .npz file with `train_x` (N, 32, 32, 3) uint8, `train_y` (N,),
`test_x` and `test_y`.
"""

import argparse
import os
import time
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


class Block(nn.Module):
    def __init__(self, inputs: int, outputs: int, stride: int):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(inplace=True),
            nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False),
            nn.BatchNorm2d(outputs),
        )
        same = inputs == outputs and stride == 1
        self.skip = nn.Identity() if same else nn.Conv2d(inputs, outputs, 1, stride, bias=False)

    def forward(self, x):
        return torch.relu(self.body(x) + self.skip(x))


def network(classes: int) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 64, 3, 1, 1, bias=False),
        nn.BatchNorm2d(64),
        nn.ReLU(inplace=True),
        Block(64, 64, 1),
        Block(64, 128, 2),
        Block(128, 256, 2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(256, classes),
    )


def images(x: np.ndarray, y: np.ndarray) -> TensorDataset:
    pixels = torch.from_numpy(x).permute(0, 3, 1, 2).float().div_(127.5).sub_(1)
    return TensorDataset(pixels, torch.from_numpy(y).long())


def accuracy(model: nn.Module, data: DataLoader, device: torch.device) -> float:
    model.eval()
    right = torch.zeros(2, device=device)
    with torch.no_grad():
        for x, y in data:
            guess = model(x.to(device)).argmax(1)
            right += torch.tensor([(guess == y.to(device)).sum(), len(y)], device=device)
    dist.all_reduce(right)
    model.train()
    return (right[0] / right[1]).item()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--batch", type=int, default=64, help="images per process and step")
    parser.add_argument("--lr", type=float, default=0.4)
    options = parser.parse_args()

    gpu = torch.cuda.is_available()
    dist.init_process_group("nccl" if gpu else "gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if gpu else torch.device("cpu")
    if gpu:
        torch.cuda.set_device(device)
    torch.manual_seed(1)

    with np.load(options.data) as stored:
        train = images(stored["train_x"], stored["train_y"])
        test = images(stored["test_x"], stored["test_y"])
        classes = int(stored["train_y"].max()) + 1
    order = DistributedSampler(train, world, rank, shuffle=True, drop_last=True)
    loader = DataLoader(train, options.batch, sampler=order, drop_last=True, pin_memory=gpu)
    held_out = DataLoader(test, 512, sampler=DistributedSampler(test, world, rank, shuffle=False))

    model = DistributedDataParallel(network(classes).to(device), device_ids=[device] if gpu else None)
    optimizer = torch.optim.SGD(model.parameters(), options.lr, momentum=0.9, nesterov=True, weight_decay=5e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, options.lr, total_steps=options.epochs * len(loader))
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)

    for epoch in range(options.epochs):
        order.set_epoch(epoch)
        begin = time.monotonic()
        for x, y in loader:
            loss = criterion(model(x.to(device, non_blocking=True)), y.to(device, non_blocking=True))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            schedule.step()
        share = accuracy(model, held_out, device)
        if rank == 0:
            print(f"epoch {epoch + 1}: loss {loss.item():.4f}, accuracy {share:.4f}, "
                  f"{time.monotonic() - begin:.1f} s", flush=True)
            options.out.mkdir(parents=True, exist_ok=True)
            # Under another name first: a job that is stopped here leaves the previous file whole.
            torch.save(model.module.state_dict(), options.out / "model.pt.part")
            os.replace(options.out / "model.pt.part", options.out / "model.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
