// kftc init: a starter file that passes `check` as it is, and that `run` or a cluster can train.
#include "compiler/driver/driver.h"
#include "compiler/driver/files.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cmath>

namespace kft::driver {

namespace {

constexpr const char *NativeText = R"kft(## A first network: three arms of a spiral told apart by their two coordinates.
##
##   kftc run {file}                  trains here, on two MPI ranks
##   kftc plan {file}                 what would run: shapes, memory, traffic
##   kftc compile {file}              the same job for a Kubernetes cluster
edition = 1

import std.datasets
import std.nn
import std.runtimes
import std.trainers

param ranks: int = 2 where it in 1..64
param lr: float = 0.05 where it > 0

## One row per point: x, y, and the arm it lies on.
dataset spiral {
  source = "./{data}"
  format = datasets.csv(label = "arm")
  split { test = 0.2, seed = 1 }
}

model network {
  input = [2]
  layers = [nn.dense(32), nn.relu(), nn.dense(32), nn.relu(), nn.dense(3)]
}

trainer adam extends trainers.native {
  loss = "cross_entropy"
  optimizer = nn.adam(lr = lr)
  batch = 32
  epochs = 40
  metrics = ["accuracy"]
}

job spiral {
  dataset = dataset.spiral
  model = model.network
  trainer = trainer.adam
  runtime = runtimes.mpi
  # A cluster needs an image that has kft-rank and the data in it.
  image = "ghcr.io/example/spiral:1"
  nodes = ranks
  resources { cpu = 1, memory = 256Mi }
}
)kft";

constexpr const char *TorchText = R"kft(## A PyTorch training script on a Kubernetes cluster with Kubeflow Trainer.
##
##   kftc check {file}                               find mistakes
##   kftc compile {file}                             the TrainJob, to read
##   kftc compile {file} | kubectl apply -f -        and to run
edition = 1

import std.runtimes
import std.trainers

param nodes: int = 2 where it in 1..64
param gpus: int = 1 where it in 1..16

trainer script extends trainers.command {
  image = "ghcr.io/example/train:1"
  command = ["torchrun", "train.py"]
  args = ["--epochs=3"]
  env {
    NCCL_DEBUG = "WARN"
  }
}

job train {
  trainer = trainer.script
  runtime = runtimes.torch
  nodes = nodes
  procs_per_node = gpus
  resources { cpu = 8, memory = 32Gi, gpu = gpus }
}

## One process without a GPU, to try it on a small cluster: kftc compile {file} --profile small
profile small {
  set { nodes = 1 }
  job.train { procs_per_node = 1, resources { gpu = null, cpu = 2, memory = 4Gi } }
}
)kft";

// Three arms of 100 points each, with a little noise from a generator of our own: the same file everywhere.
std::string spiralData() {
  std::string out = "x,y,arm\n";
  uint64_t state = 7;
  auto noise = [&state] { // in -1..1
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<double>(state >> 33) / 1073741824.0 - 1.0;
  };
  for (int i = 0; i < 100; ++i)
    for (int arm = 0; arm < 3; ++arm) {
      double radius = (i + 1) / 100.0;
      double angle = arm * 2.0943951 + radius * 4.0 + noise() * 0.12;
      out += fmt::format("{:.4f},{:.4f},{}\n", radius * std::cos(angle), radius * std::sin(angle), arm);
    }
  return out;
}

struct InitOptions {
  std::string kind = "native", file = "job.kft";
};

std::string filled(llvm::StringRef text, llvm::StringRef file, llvm::StringRef data) {
  std::string out;
  while (!text.empty()) {
    if (text.consume_front("{file}"))
      out += file;
    else if (text.consume_front("{data}"))
      out += data;
    else {
      out += text.front();
      text = text.drop_front();
    }
  }
  return out;
}

int init(const InitOptions &options, Session &session) {
  llvm::StringRef name = llvm::sys::path::filename(options.file);
  std::vector<OutputFile> files;
  if (options.kind == "native") {
    std::string data = (llvm::sys::path::stem(options.file) + ".csv").str();
    llvm::SmallString<256> dataPath = llvm::sys::path::parent_path(options.file);
    llvm::sys::path::append(dataPath, data);
    files.push_back({dataPath.str().str(), spiralData()});
    files.push_back({options.file, filled(NativeText, name, data)});
  } else {
    files.push_back({options.file, filled(TorchText, name, "")});
  }
  for (const OutputFile &file : files)
    if (llvm::sys::fs::exists(file.path) || llvm::sys::fs::is_symlink_file(file.path)) {
      session.report(diag::FileExists{.file = file.path});
      return ExitMistakes;
    }
  std::string failed;
  if (llvm::Error error = writeFiles(files, failed)) {
    session.report(diag::CannotWriteOutput{.file = failed, .reason = llvm::toString(std::move(error))});
    return ExitMistakes;
  }
  std::string next = options.kind == "native" ? "kftc run " : "kftc compile ";
  std::string out;
  for (const OutputFile &file : files) out += "wrote " + file.path + "\n";
  return session.writeStdout(out + "next:  " + next + options.file + "\n") ? ExitFine : ExitMistakes;
}

} // namespace

Action addInit(CLI::App &app) {
  auto options = std::make_shared<InitOptions>();
  app.add_option("FILE", options->file, "the file to write; job.kft when not given");
  app.add_option("--kind", options->kind,
                 "native (the default): a small network that trains here, with its data; torch: a script on a cluster")
      ->type_name("KIND")
      ->check(CLI::IsMember({"native", "torch"}))
      ->group("Starter");
  return [options](Session &session) -> int { return init(*options, session); };
}

} // namespace kft::driver
