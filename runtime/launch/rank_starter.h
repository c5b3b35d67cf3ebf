// The process between mpirun and a rank. mpirun hides what its children end with and closes every descriptor but the first
// three, so somebody else has to know: the starter sends the rank's output to files of its own, writes down process id, start
// time and exit status, and makes sure that nothing of the rank outlives it, also when mpirun or kftc was killed with -9.
#pragma once

#include <string>
#include <vector>

namespace kft::run {

// The hidden first argument that turns kftc into a starter.
inline constexpr const char *RankStarterArg = "__rank";
// In the environment of everything a run starts, at any depth: the run directory.
inline constexpr const char *RunMarker = "KFT_RUN_DIR";

// `arguments` follow RankStarterArg: the run's log folder, folders to remove when the launcher is gone (each after `--tmp`),
// `--`, program, its arguments. Returns the exit status for mpirun.
int rankStarterMain(const std::vector<std::string> &arguments);

// Kills every process but this one that carries the marker of that run, and waits until they are gone, at most so long.
// Returns how many there were; `left` gets those that would not go.
int sweep(const std::string &runDirectory, double seconds, int &left);

} // namespace kft::run
