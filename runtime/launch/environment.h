// What a rank finds in its environment, and what env.json says about the place where a run happened.
#pragma once

#include "runtime/launch/host.h"
#include "runtime/launch/run_directory.h"

#include <string>
#include <utility>
#include <vector>

namespace kft::run {

using Environment = std::vector<std::pair<std::string, std::string>>;

// Threads and kernel choice of the BLAS, each only where the user has not set it; then `user`, which wins. PATH of `user`
// comes before the inherited one and does not replace it.
Environment rankEnvironment(int threadsPerRank, const Environment &user);

// env.json: versions, CPU, host, git state, the variables set for every rank. Values of names that look like secrets are
// left out.
Json describeEnvironment(const std::string &tool, const std::string &planHash, const Environment &set, const Slots &slots);

// Whether a variable of this name is not to be written down.
bool looksSecret(const std::string &name);

} // namespace kft::run
