// What a run leaves behind, in one folder. Everything that is replaced is replaced by a rename, everything that grows is
// appended in whole lines, so a reader in another terminal never sees half of anything.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kft::run {

using Json = nlohmann::ordered_json;

// A file to freeze: what the run was made from.
struct FrozenFile {
  std::string name; // job.kft, inputs/…
  std::string text;
};

class RunDirectory {
public:
  // `wanted` (--run-dir) must not exist, or be empty; otherwise the folder is made as runs/<job>-<date>-<time> below the
  // current one. Takes the lock. Throws run::Error: InputOutput-like codes of the launcher (73 when it cannot be written or
  // somebody else has it).
  static RunDirectory create(const std::string &jobName, const std::string &wanted);
  RunDirectory(RunDirectory &&other) noexcept;
  RunDirectory &operator=(RunDirectory &&) = delete;
  ~RunDirectory();

  const std::string &path() const { return path_; }   // absolute
  const std::string &shown() const { return shown_; } // as a user of this folder would type it
  std::string file(const std::string &name) const { return path_ + "/" + name; }
  std::string logFolder() const { return path_ + "/logs/attempt-1"; }

  // Written once; folders on the way are made.
  void freeze(const FrozenFile &file);
  void writeOnce(const std::string &name, const std::string &text);
  // Written to a temporary and renamed. False when the disk says no: a run goes on without its status.
  bool replace(const std::string &name, const std::string &text);
  // Whether the folder at this path is still the one that was made, and not removed, or replaced, behind our back.
  bool isThere() const;
  bool append(const std::string &name, const std::string &line);
  void event(const std::string &name, Json details = Json::object());

private:
  RunDirectory() = default;
  std::string path_, shown_;
  int lock_ = -1;
};

// 2026-12-01T03:04:05.678Z
std::string timestamp();

} // namespace kft::run
