#include "runtime/train/report.h"
#include "runtime/plan/error.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

namespace kft::run {

namespace {

// One line, in memory of its own: a step must not allocate.
class Line {
public:
  explicit Line(const char *event) { add("{{\"event\":\"{}\"", event); }
  template <class... Args>
  Line &add(fmt::format_string<Args...> format, Args &&...args) {
    auto result = fmt::format_to_n(text_ + size_, sizeof text_ - size_, format, std::forward<Args>(args)...);
    size_ = std::min(size_ + result.size, sizeof text_);
    return *this;
  }
  Line &number(const char *name, double value, const char *format = "{:.6g}") {
    if (!std::isfinite(value)) return add(",\"{}\":null", name);
    add(",\"{}\":", name);
    auto result = fmt::format_to_n(text_ + size_, sizeof text_ - size_, fmt::runtime(format), value);
    size_ = std::min(size_ + result.size, sizeof text_);
    return *this;
  }
  Line &number(const char *name, int64_t value) { return add(",\"{}\":{}", name, value); }
  Line &text(const char *name, std::string_view value) {
    add(",\"{}\":\"", name);
    for (char c : value.substr(0, 400)) {
      if (c == '"' || c == '\\')
        add("\\{}", c);
      else if (static_cast<unsigned char>(c) < 32)
        add("\\u{:04x}", int(c));
      else
        add("{}", c);
    }
    return add("\"");
  }
  std::string_view finish() {
    add("}}\n");
    return {text_, size_};
  }

private:
  char text_[2048];
  size_t size_ = 0;
};

bool writeAll(int file, const char *p, size_t count) {
  while (count) {
    ssize_t written = ::write(file, p, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    p += written, count -= size_t(written);
  }
  return true;
}

// Field 22 of /proc/self/stat, clock ticks since boot: with the pid it names a process for good.
uint64_t processStart() {
  std::ifstream in("/proc/self/stat");
  std::string text((std::istreambuf_iterator<char>(in)), {});
  size_t at = text.rfind(')'); // the name may hold spaces and brackets
  uint64_t value = 0;
  for (int field = 3; at != text.npos && field <= 22; ++field)
    at = text.find(' ', at + 1), value = std::strtoull(text.c_str() + at + 1, nullptr, 10);
  return at == text.npos ? 0 : value;
}

int64_t residentBytes() {
  std::ifstream in("/proc/self/statm");
  int64_t total = 0, resident = 0;
  in >> total >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

} // namespace

Report::Report(const std::string &runDirectory, int rank, int progressFile)
    : directory_(runDirectory), rank_(rank), progress_(rank == 0 ? progressFile : -1) {
  buffer_.reserve(1 << 16);
  if (directory_.empty()) return;
  std::error_code failed;
  std::filesystem::create_directories(directory_ + "/ranks", failed);
  if (failed) throw Error(ExitCode::InputOutput, directory_, 0, "cannot make the run directory: " + failed.message());
  rankFile_ = fmt::format("{}/ranks/rank-{:04}.json", directory_, rank);
  if (rank == 0) {
    std::string path = directory_ + "/metrics.jsonl";
    file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file_ < 0) throw systemError(path, "write", errno);
  }
  writeRankFile("running");
}

Report::~Report() {
  if (file_ >= 0) {
    writeAll(file_, buffer_.data(), buffer_.size()); // what a flush would throw about has been told by then
    ::close(file_);
  }
}

void Report::writeRankFile(const char *state) {
  if (rankFile_.empty()) return;
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  auto seconds = [](const timeval &t) { return double(t.tv_sec) + double(t.tv_usec) * 1e-6; };
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  static const uint64_t started = processStart();
  std::string text = fmt::format(
      "{{\"rank\":{},\"pid\":{},\"processStart\":{},\"host\":\"{}\",\"state\":\"{}\",\"step\":{},\"seconds\":{:.3f},"
      "\"cpuSeconds\":{:.3f},\"rssBytes\":{},\"peakRssBytes\":{}}}\n",
      rank_, ::getpid(), started, host, state, step_, now(), seconds(usage.ru_utime) + seconds(usage.ru_stime),
      residentBytes(), int64_t(usage.ru_maxrss) * 1024);
  std::string temporary = rankFile_ + ".tmp";
  int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) throw systemError(temporary, "write", errno);
  bool good = writeAll(file, text.data(), text.size());
  int number = errno;
  ::close(file);
  if (!good) throw systemError(temporary, "write", number);
  if (::rename(temporary.c_str(), rankFile_.c_str())) throw systemError(rankFile_, "replace", errno);
  lastRankFile_ = now();
}

void Report::append(std::string_view line, bool atOnce) {
  if (progress_ >= 0) {
    // A pipe with room takes a line up to PIPE_BUF whole; one without is passed over, unless the line matters.
    pollfd ready{progress_, POLLOUT, 0};
    int polled = ::poll(&ready, 1, atOnce ? 1000 : 0);
    if (polled > 0 &&
        ((ready.revents & (POLLERR | POLLHUP | POLLNVAL)) || !writeAll(progress_, line.data(), line.size())))
      progress_ = -1;
  }
  if (file_ < 0) return;
  buffer_ += line;
  if (atOnce) flush();
}

void Report::flush() {
  if (file_ >= 0 && !buffer_.empty()) {
    bool good = writeAll(file_, buffer_.data(), buffer_.size());
    int number = errno;
    buffer_.clear();
    if (!good) throw systemError(directory_ + "/metrics.jsonl", "write", number);
  }
  lastFlush_ = now();
}

void Report::flushIfDue() {
  double time = now();
  if (time - lastFlush_ > 0.1 || buffer_.size() > buffer_.capacity() - 4096) flush();
  if (time - lastRankFile_ > 1) writeRankFile("running");
}

void Report::begin(const Plan &plan, int64_t steps, int64_t stepsPerEpoch, int64_t trainRows, int64_t testRows,
                   const std::string &blas, const std::string &kernels) {
  steps_ = steps, stride_ = std::max<int64_t>(1, (steps + 4999) / 5000);
  Line line("begin");
  line.number("t", now(), "{:.4f}")
      .text("job", plan.job)
      .text("planHash", hash(plan))
      .number("ranks", int64_t(plan.ranks));
  line.add(",\"seed\":{}", plan.seed)
      .number("parameters", plan.parameters)
      .number("steps", steps)
      .number("stepsPerEpoch", stepsPerEpoch);
  line.number("epochs", plan.loop.epochs)
      .number("batch", plan.loop.globalBatch)
      .number("trainRows", trainRows)
      .number("testRows", testRows);
  line.text("blas", blas).text("kernels", kernels);
  append(line.finish(), true);
}

void Report::step(const StepFacts &facts) {
  step_ = facts.step, samples_ += facts.samples;
  ++pendingSteps_, pendingSamples_ += facts.samples, pendingSeconds_ += facts.seconds, pendingWaiting_ += facts.waiting;
  if (rank_ == 0 && (facts.step == 1 || facts.step == steps_ || facts.step % stride_ == 0 || now() - lastLine_ > 1)) {
    Line line("step");
    line.number("t", now(), "{:.4f}")
        .number("step", facts.step)
        .number("epoch", facts.epoch, "{:.4f}")
        .number("loss", facts.loss, "{:.9g}");
    if (facts.hasAccuracy) line.number("accuracy", facts.accuracy);
    line.number("lr", facts.rate).number("ms", pendingSeconds_ * 1e3 / double(pendingSteps_));
    line.number("samplesPerSecond", double(pendingSamples_) / pendingSeconds_, "{:.1f}");
    line.number("commExposed", pendingWaiting_ / pendingSeconds_, "{:.4f}").number("gradNorm", facts.gradientNorm);
    append(line.finish(), false);
    pendingSteps_ = pendingSamples_ = 0, pendingSeconds_ = pendingWaiting_ = 0, lastLine_ = now();
  }
  flushIfDue();
}

void Report::eval(const EvalFacts &facts) {
  if (rank_ != 0) return;
  Line line("eval");
  line.number("t", now(), "{:.4f}")
      .number("step", facts.step)
      .number("epoch", facts.epoch, "{:.4f}")
      .text("part", "test");
  line.number("rows", facts.rows).number("loss", facts.loss, "{:.9g}");
  if (facts.secondName) line.number(facts.secondName, facts.second);
  append(line.finish(), true);
}

void Report::saved(int64_t step, const std::string &path, int64_t bytes) {
  if (rank_ != 0) return;
  Line line("saved");
  line.number("t", now(), "{:.4f}").number("step", step).text("path", path).number("bytes", bytes);
  append(line.finish(), true);
}

void Report::end(int64_t step, double epoch, const char *reason, int code) {
  step_ = step;
  if (rank_ == 0) {
    Line line("end");
    line.number("t", now(), "{:.4f}").number("step", step).number("epoch", epoch, "{:.4f}").text("reason", reason);
    line.number("code", int64_t(code)).number("seconds", now(), "{:.4f}").number("samples", samples_);
    append(line.finish(), true);
  }
  writeRankFile(reason);
}

} // namespace kft::run
