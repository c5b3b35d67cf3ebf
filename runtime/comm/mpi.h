// The ranks that mpirun started. The only door to MPI.
#pragma once

#include "runtime/comm/communicator.h"

namespace kft::run {

// True when a launcher (mpirun, srun) made this process part of a world; without one, MPI would have to start its own
// daemon.
bool startedByMpi();
// Initializes MPI, and finalizes it when it dies. Failed operations throw Error with rank, operation and MPI's text.
std::unique_ptr<Communicator> makeMpiCommunicator(int &argc, char **&argv);

} // namespace kft::run
