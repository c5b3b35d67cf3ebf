// One rank in this process.
#pragma once

#include "runtime/comm/local.h"
#include "runtime/tensor/blas.h"
#include "runtime/train/trainer.h"
#include "tests/run/training.h"

struct RunHere {
  explicit RunHere(const kft::run::Plan &p, const std::string &runDirectory = "",
                   const volatile std::sig_atomic_t *stop = nullptr)
      : plan(p), data((kft::run::loadBlas(1), plan.data)), communicator(kft::run::makeLocalCommunicator()),
        report(runDirectory, 0), trainer(plan, data, *communicator, report, stop) {}
  kft::run::ExitCode run() {
    kft::run::ExitCode code = trainer.run();
    report.end(trainer.steps(), trainer.epoch(), trainer.reason(), int(code));
    return code;
  }
  std::vector<float> parameters() const {
    return {trainer.model().parameters(), trainer.model().parameters() + trainer.model().parameterCount()};
  }

  kft::run::Plan plan;
  kft::run::Dataset data;
  std::unique_ptr<kft::run::Communicator> communicator;
  kft::run::Report report;
  kft::run::Trainer trainer;
};
