#include "runtime/launch/environment.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <sys/utsname.h>
#include <unistd.h>

namespace kft::run {

namespace {

// The commit that is checked out in the folder or above, read without git: it may not be there, and would cost 5 ms.
std::string gitCommit() {
  std::string folder = ".";
  for (int depth = 0; depth < 40; ++depth, folder += "/..") {
    std::ifstream head(folder + "/.git/HEAD");
    if (!head) {
      std::ifstream link(folder + "/.git");
      std::string line;
      if (!std::getline(link, line) || !line.starts_with("gitdir: ")) continue;
      head.open(line.substr(8) + "/HEAD");
      if (!head) return "";
    }
    std::string line;
    std::getline(head, line);
    if (!line.starts_with("ref: ")) return line;
    const std::string name = line.substr(5);
    std::ifstream ref(folder + "/.git/" + name);
    if (std::getline(ref, line)) return line;
    std::ifstream packed(folder + "/.git/packed-refs");
    while (std::getline(packed, line))
      if (line.ends_with(" " + name)) return line.substr(0, line.find(' '));
    return name;
  }
  return "";
}

} // namespace

bool looksSecret(const std::string &name) {
  std::string upper = name;
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  for (const char *word : {"TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "PRIVATE", "API_KEY", "APIKEY", "ACCESS_KEY"})
    if (upper.find(word) != std::string::npos) return true;
  return upper.ends_with("_KEY");
}

Environment rankEnvironment(int threadsPerRank, const Environment &user) {
  Environment result;
  auto given = [&](const std::string &name) {
    return std::getenv(name.c_str()) || std::any_of(user.begin(), user.end(), [&](const auto &entry) { return entry.first == name; });
  };
  for (const char *name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"})
    if (!given(name)) result.emplace_back(name, std::to_string(threadsPerRank));
  if (!given("OPENBLAS_CORETYPE"))
    if (const std::string type = openblasCoreType(cpuInfo().flags); !type.empty()) result.emplace_back("OPENBLAS_CORETYPE", type);
  for (const auto &[name, value] : user) {
    const char *inherited = std::getenv(name.c_str());
    result.emplace_back(name, name == "PATH" && inherited ? value + ":" + inherited : value);
  }
  return result;
}

Json describeEnvironment(const std::string &tool, const std::string &planHash, const Environment &set, const Slots &slots) {
  utsname system{};
  uname(&system);
  Json env = Json::object();
  for (const auto &[name, value] : set) env[name] = looksSecret(name) ? "(not written down)" : value;
  const std::string commit = gitCommit();
  Json result{{"version", 1}, {"tool", tool}, {"plan", planHash}, {"attempt", 1}, {"started", timestamp()}};
  result["host"] = {{"name", hostName()}, {"cpu", cpuInfo().model}, {"cores", slots.cores}, {"slots", slots.count}, {"kernel", system.release}, {"machine", system.machine}};
  if (slots.quota) result["host"]["quota"] = *slots.quota;
  if (const std::string sign = containerSign(); !sign.empty()) result["host"]["container"] = sign;
  if (!commit.empty()) result["git"] = commit;
  result["user"] = getuid();
  result["env"] = env;
  return result;
}

} // namespace kft::run
