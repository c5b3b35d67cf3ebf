// A world of one rank, for runs without mpirun, and for tests.
#pragma once

#include "runtime/comm/communicator.h"

namespace kft::run {

std::unique_ptr<Communicator> makeLocalCommunicator();

} // namespace kft::run
