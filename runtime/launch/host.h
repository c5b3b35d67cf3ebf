// What this machine offers and what this process may use of it, as the kernel says; and processes told apart by id and start
// time, because an id alone is used again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace kft::run {

// Cores this process may use: the affinity mask, cut down to the cgroup's quota.
struct Slots {
  int count = 1;
  std::vector<int> cores;      // of the affinity mask
  std::optional<double> quota; // cores, when a cgroup limits them
  // "2 cores", "2 cores (cgroup quota 1.5 of 8)"
  std::string describe() const;
};
Slots usableSlots();

// "max 100000" or "150000 100000" of cpu.max; nothing when there is no limit or the text is none.
std::optional<double> parseCpuMax(const std::string &text);

// Whether this looks like a container, and by which sign; empty: no sign found. The signs are those of docker, podman,
// systemd-nspawn, Kubernetes and cgroup v1 paths.
std::string containerSign();

// The variables that pick BLAS kernels by the instructions of this CPU: OpenBLAS otherwise goes by a table of model numbers
// and falls back to SSE3 on CPUs younger than itself. Empty: leave it alone.
std::string openblasCoreType(const std::string &cpuFlags);
struct Cpu {
  std::string model, flags;
};
Cpu cpuInfo();
std::string hostName();
std::string bootId();
int64_t freeMemoryBytes();
int64_t freeDiskBytes(const std::string &path); // for us, on the disk of `path`; -1 when it cannot be told // MemAvailable; 0 when not known

// Ticks since boot at which the process began; nothing when there is none, or it has ended and waits for its parent.
std::optional<uint64_t> startTime(pid_t pid);
struct ProcessRef {
  pid_t pid = 0;
  uint64_t start = 0;
  bool alive() const;
  // Signals exactly this process. False when it is gone.
  bool signal(int number) const;
};

// The first executable file of that name in PATH; a name with `/` stands for itself. Empty: none.
std::string findInPath(const std::string &name);
bool isExecutable(const std::string &path);
// This program's own file.
std::string selfPath();

} // namespace kft::run
