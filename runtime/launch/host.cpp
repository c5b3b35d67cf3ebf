#include "runtime/launch/host.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <sched.h>
#include <sstream>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kft::run {

namespace {

std::string readWhole(const std::string &path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return in ? text.str() : std::string();
}

// The quota of the tightest cgroup on the way up from this process; both versions of cgroups.
std::optional<double> cgroupQuota() {
  std::optional<double> best;
  auto consider = [&](std::optional<double> quota) {
    if (quota && (!best || *quota < *best)) best = quota;
  };
  auto v1 = [&](const std::string &folder) {
    const std::string quota = readWhole(folder + "/cpu.cfs_quota_us"), period = readWhole(folder + "/cpu.cfs_period_us");
    if (!quota.empty() && !period.empty() && quota[0] != '-') consider(parseCpuMax(quota.substr(0, quota.find('\n')) + " " + period));
  };
  std::istringstream groups(readWhole("/proc/self/cgroup"));
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string path = line.substr(second + 1);
    const bool isV2 = controllers.empty();
    if (!isV2 && ("," + controllers + ",").find(",cpu,") == std::string::npos) continue;
    // In a container the path may be the host's and not exist here; the root of the mount is then our own group.
    for (;; path = path.substr(0, path.rfind('/'))) {
      if (isV2) {
        consider(parseCpuMax(readWhole("/sys/fs/cgroup" + path + "/cpu.max")));
        consider(parseCpuMax(readWhole("/sys/fs/cgroup/unified" + path + "/cpu.max")));
      } else {
        v1("/sys/fs/cgroup/cpu" + path);
        v1("/sys/fs/cgroup/cpu,cpuacct" + path);
      }
      if (path.empty() || path == "/") break;
    }
    if (isV2) consider(parseCpuMax(readWhole("/sys/fs/cgroup/cpu.max")));
  }
  return best;
}

} // namespace

std::optional<double> parseCpuMax(const std::string &text) {
  std::istringstream in(text);
  double quota = 0, period = 0;
  if (!(in >> quota >> period) || quota <= 0 || period <= 0) return std::nullopt;
  return quota / period;
}

std::string Slots::describe() const {
  const std::string cores_ = fmt::format("{} {}", cores.size(), cores.size() == 1 ? "core" : "cores");
  if (quota && *quota < static_cast<double>(cores.size())) return fmt::format("{:.3g} of {} (cgroup quota)", *quota, cores_);
  return cores_;
}

Slots usableSlots() {
  Slots slots;
  // The mask is as long as the kernel's own; ask with more room until it fits.
  for (int bits = 1024; bits <= 1 << 18; bits *= 2) {
    cpu_set_t *set = CPU_ALLOC(bits);
    const size_t bytes = CPU_ALLOC_SIZE(bits);
    CPU_ZERO_S(bytes, set);
    const bool ok = sched_getaffinity(0, bytes, set) == 0;
    if (ok)
      for (int core = 0; core < bits; ++core)
        if (CPU_ISSET_S(core, bytes, set)) slots.cores.push_back(core);
    const bool tooSmall = !ok && errno == EINVAL;
    CPU_FREE(set);
    if (!tooSmall) break;
  }
  if (slots.cores.empty()) slots.cores.push_back(0);
  slots.count = static_cast<int>(slots.cores.size());
  slots.quota = cgroupQuota();
  // Half a core still runs one rank, slowly; one and a half do not run two without one waiting for the other.
  if (slots.quota) slots.count = std::clamp(static_cast<int>(std::floor(*slots.quota + 1e-9)), 1, slots.count);
  return slots;
}

std::string containerSign() {
  if (access("/.dockerenv", F_OK) == 0) return "/.dockerenv";
  if (access("/run/.containerenv", F_OK) == 0) return "/run/.containerenv";
  if (access("/run/systemd/container", F_OK) == 0) return "/run/systemd/container";
  if (std::getenv("KUBERNETES_SERVICE_HOST")) return "KUBERNETES_SERVICE_HOST";
  if (const char *container = std::getenv("container"); container && *container) return "the variable `container`";
  const std::string groups = readWhole("/proc/1/cgroup");
  for (const char *word : {"docker", "kubepods", "containerd", "libpod", "/lxc/"})
    if (groups.find(word) != std::string::npos) return "/proc/1/cgroup";
  return "";
}

std::string openblasCoreType(const std::string &cpuFlags) {
  const std::string flags = " " + cpuFlags + " ";
  auto has = [&](const char *flag) { return flags.find(std::string(" ") + flag + " ") != std::string::npos; };
  if (has("avx512f") && has("avx512bw") && has("avx512dq") && has("avx512vl") && has("avx512cd")) return "SkylakeX";
  if (has("avx2") && has("fma")) return "Haswell";
  return "";
}

Cpu cpuInfo() {
  Cpu cpu;
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line) && (cpu.model.empty() || cpu.flags.empty());) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string value = colon + 2 <= line.size() ? line.substr(colon + 2) : "";
    if (line.starts_with("model name")) cpu.model = value;
    if (line.starts_with("flags") || line.starts_with("Features")) cpu.flags = value;
  }
  return cpu;
}

std::string hostName() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

std::string bootId() {
  std::string id = readWhole("/proc/sys/kernel/random/boot_id");
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

int64_t freeMemoryBytes() {
  std::ifstream in("/proc/meminfo");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("MemAvailable:")) return std::atoll(line.c_str() + 13) * 1024;
  return 0;
}

int64_t freeDiskBytes(const std::string &path) {
  struct statvfs info;
  return statvfs(path.c_str(), &info) == 0 ? static_cast<int64_t>(info.f_bavail) * static_cast<int64_t>(info.f_frsize) : -1;
}

std::optional<uint64_t> startTime(pid_t pid) {
  const std::string stat = readWhole(fmt::format("/proc/{}/stat", pid));
  // The second field is the program's name in parentheses, and may itself hold any character.
  const size_t paren = stat.rfind(')');
  if (paren == std::string::npos) return std::nullopt;
  std::istringstream in(stat.substr(paren + 1));
  std::string word;
  in >> word;
  if (word == "Z" || word == "X") return std::nullopt;
  for (int field = 4; field <= 21; ++field) in >> word;
  uint64_t start = 0;
  if (!(in >> start)) return std::nullopt;
  return start;
}

bool ProcessRef::alive() const { return pid > 0 && startTime(pid) == std::optional<uint64_t>(start); }

bool ProcessRef::signal(int number) const {
  // The descriptor pins the process, so that nothing can take its place between the look and the signal.
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (fd < 0) return errno == ENOSYS && alive() && kill(pid, number) == 0;
  const bool sent = alive() && syscall(SYS_pidfd_send_signal, fd, number, nullptr, 0) == 0;
  close(fd);
  return sent;
}

bool isExecutable(const std::string &path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

std::string findInPath(const std::string &name) {
  if (name.find('/') != std::string::npos) return isExecutable(name) ? name : "";
  const char *path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/usr/local/bin:/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = (folder.empty() ? "." : folder) + "/" + name;
    if (isExecutable(file)) return file;
  }
  return "";
}

std::string selfPath() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  return length > 0 ? std::string(path, static_cast<size_t>(length)) : "";
}

} // namespace kft::run
