#include "runtime/train/safetensors.h"
#include "runtime/plan/error.h"

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

namespace kft::run {

static_assert(std::endian::native == std::endian::little,
              "the format is little-endian, and floats are written as they are");

namespace {

struct Entry {
  std::string name;
  std::vector<int64_t> shape;
  const float *values;
};

std::string quoted(const std::string &text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 32)
      out += fmt::format("\\u{:04x}", int(c));
    else
      out += c;
  }
  return out + "\"";
}

class File {
public:
  explicit File(std::string path)
      : path_(std::move(path)), file_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
    if (file_ < 0) throw systemError(path_, "write", errno);
  }
  ~File() {
    if (file_ >= 0) ::close(file_), ::unlink(path_.c_str()); // not finished
  }
  void write(const void *bytes, size_t count) {
    for (auto *p = static_cast<const char *>(bytes); count;) {
      ssize_t written = ::write(file_, p, count);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) throw systemError(path_, "write", errno);
      p += written, count -= size_t(written);
    }
  }
  void finish(const std::string &name) {
    if (::fsync(file_) || ::close(std::exchange(file_, -1)) || ::rename(path_.c_str(), name.c_str())) {
      int number = errno;
      ::unlink(path_.c_str());
      throw systemError(name, "write", number);
    }
  }

private:
  std::string path_;
  int file_;
};

} // namespace

int64_t writeSafetensors(const std::string &path, const Plan &plan, const Model &model, const Dataset &data) {
  std::vector<Entry> entries;
  for (const Model::Named &named : model.named())
    entries.push_back({named.name, named.shape, model.parameters() + named.offset});
  std::vector<float> factors = data.factors();
  for (float &factor : factors)
    factor = float(double(factor) * data.scale());
  if (!factors.empty()) {
    entries.push_back({"input.factor", {int64_t(factors.size())}, factors.data()});
    entries.push_back({"input.shift", {int64_t(factors.size())}, data.shifts().data()});
  }

  std::string header = "{\"__metadata__\":{\"format\":\"pt\",\"producer\":" + quoted(plan.tool) +
                       ",\"job\":" + quoted(plan.job) + ",\"plan_sha256\":" + quoted(hash(plan)) +
                       ",\"input_scale\":" + quoted(fmt::format("{}", data.scale())) + "}";
  int64_t offset = 0;
  for (const Entry &entry : entries) {
    std::string shape;
    for (int64_t extent : entry.shape)
      shape += (shape.empty() ? "" : ",") + std::to_string(extent);
    int64_t bytes = elements(entry.shape) * int64_t(sizeof(float));
    header += fmt::format(",{}:{{\"dtype\":\"F32\",\"shape\":[{}],\"data_offsets\":[{},{}]}}", quoted(entry.name),
                          shape, offset, offset + bytes);
    offset += bytes;
  }
  header += "}";
  header.resize((header.size() + 7) / 8 * 8, ' '); // so that the floats are aligned

  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), failed);
  if (failed) throw Error(ExitCode::InputOutput, path, 0, "cannot make its folder: " + failed.message());
  File file(path + ".tmp");
  uint64_t length = header.size();
  file.write(&length, sizeof length);
  file.write(header.data(), header.size());
  for (const Entry &entry : entries)
    file.write(entry.values, size_t(elements(entry.shape)) * sizeof(float));
  file.finish(path);
  return int64_t(sizeof length + header.size()) + offset;
}

} // namespace kft::run
