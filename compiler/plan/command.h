// What a job that runs a command becomes on the cluster: nodes, processes per node and why, the command, the variables that
// the controller sets (Kubeflow Trainer 2.3), and the same written out as one long command.
#pragma once

#include "compiler/ir/job.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kft::plan {

struct CommandPlan {
  int64_t nodes = 1;
  std::string procsPerNode;  // a number, `auto`, or empty where the policy has no such thing
  std::string procsReason;   // "the CPU request is 4, and there is no GPU"
  int64_t processes = 0;     // of all nodes; 0: known on the node only
  std::vector<std::string> command; // resolved, arguments included; empty: the image's own
  std::string commandFrom;          // job, runtime, image
  struct Variable {
    std::string name, value;
    bool injected = true; // by the controller; else the job's own
  };
  std::vector<Variable> env; // of node 0; a value that differs from node to node says so in `perNode`
  std::vector<std::string> perNode; // names of those
  std::vector<std::string> hostfile;
  std::vector<std::vector<std::string>> longCommands; // one per node (the first and the last when there are many)
  std::vector<std::string> notes;
};

CommandPlan describe(const ir::Job &job);

} // namespace kft::plan
