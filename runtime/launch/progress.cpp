#include "runtime/launch/progress.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace kft::run {

namespace {

constexpr double LongestSilence = 30; // seconds without a row

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double number(const Json &line, const char *key, double otherwise = NAN) {
  const auto found = line.find(key);
  return found != line.end() && found->is_number() ? found->get<double>() : otherwise;
}

std::string cell(const char *format, double value, size_t width) {
  const std::string text = std::isfinite(value) ? fmt::format(fmt::runtime(format), value) : std::isnan(value) ? "-" : "inf";
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

std::string grouped(double value) {
  if (!std::isfinite(value)) return "-";
  std::string digits = fmt::format("{:.0f}", value);
  for (int64_t at = static_cast<int64_t>(digits.size()) - 3; at > 0; at -= 3) digits.insert(static_cast<size_t>(at), " ");
  return digits;
}

// Rows at 1, 2, 5, 10, … steps apart, so that a run has about a dozen.
int64_t niceInterval(int64_t steps) {
  int64_t interval = 1;
  for (int64_t unit = 1;; unit *= 10)
    for (int64_t factor : {1, 2, 5}) {
      interval = unit * factor;
      if (steps / interval <= 14 || interval > (int64_t{1} << 50)) return interval;
    }
}

} // namespace

std::string sparkline(const std::vector<double> &values, size_t width) {
  static constexpr const char *Bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  if (values.empty() || width == 0) return "";
  // Groups of equal size; each shows its mean.
  const size_t count = std::min(width, values.size());
  std::vector<double> shown;
  for (size_t i = 0; i < count; ++i) {
    const size_t begin = i * values.size() / count, end = (i + 1) * values.size() / count;
    double sum = 0;
    for (size_t j = begin; j < end; ++j) sum += values[j];
    shown.push_back(sum / static_cast<double>(end - begin));
  }
  double low = INFINITY, high = -INFINITY;
  for (double value : shown)
    if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
  std::string text;
  for (double value : shown) {
    const double share = !std::isfinite(value) ? 1 : high > low ? (value - low) / (high - low) : 0;
    text += Bars[static_cast<size_t>(std::clamp(std::floor(share * 7.999), 0.0, 7.0))];
  }
  return text;
}

std::string progressBar(double fraction, size_t width) {
  static constexpr const char *Parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<size_t>(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(width) * 8 + 1e-9);
  std::string text;
  for (size_t i = 0; i < eighths / 8; ++i) text += "█";
  size_t used = eighths / 8;
  if (eighths % 8) text += Parts[eighths % 8], ++used;
  for (; used < width; ++used) text += "░";
  return text;
}

std::string durationText(double value) {
  if (!std::isfinite(value) || value < 0) return "-";
  const auto total = static_cast<int64_t>(value + 0.5);
  if (total >= 3600) return fmt::format("{}:{:02}:{:02}", total / 3600, total / 60 % 60, total % 60);
  return fmt::format("{}:{:02}", total / 60, total % 60);
}

size_t displayWidth(const std::string &text) {
  size_t columns = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      while (i < text.size() && !std::isalpha(static_cast<unsigned char>(text[i]))) ++i;
      continue;
    }
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) ++columns;
  }
  return columns;
}

std::string fit(const std::string &text, size_t columns) {
  if (displayWidth(text) <= columns) return text;
  std::string result;
  size_t used = 0;
  bool styled = false;
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    if (text[i] == '\x1b') {
      while (end < text.size() && !std::isalpha(static_cast<unsigned char>(text[end]))) ++end;
      end = std::min(end + 1, text.size());
      styled = true;
    } else {
      while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) ++end;
      if (++used >= columns) break;
    }
    result += text.substr(i, end - i);
    i = end;
  }
  if (columns > 0) result += "…";
  if (styled) result += "\x1b[0m";
  return result;
}

std::vector<Json> MetricsReader::read() {
  std::vector<Json> lines;
  std::ifstream in(path_, std::ios::binary);
  if (!in || !in.seekg(offset_)) return lines;
  std::string text((std::istreambuf_iterator<char>(in)), {});
  if (text.empty()) return lines;
  offset_ += static_cast<int64_t>(text.size());
  text = torn_ + text;
  size_t begin = 0;
  for (size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    Json line = Json::parse(text.substr(begin, end - begin), nullptr, false);
    if (line.is_object()) lines.push_back(std::move(line));
  }
  torn_ = text.substr(begin);
  return lines;
}

Progress::Progress(int fileDescriptor, ProgressStyle style) : fd_(fileDescriptor), style_(style) {}

std::string Progress::paint(const char *color, const std::string &text) const {
  return style_.color ? fmt::format("\x1b[{}m{}\x1b[0m", color, text) : text;
}

size_t Progress::width() const {
  winsize size{};
  if (style_.terminal && ioctl(fd_, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return style_.columns;
}

void Progress::write(const std::string &text) {
  for (size_t done = 0; done < text.size() && !gone_;) {
    const ssize_t count = ::write(fd_, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) {
      pollfd ready{fd_, POLLOUT, 0};
      if (poll(&ready, 1, 1000) > 0) continue;
    }
    // A reader that went away is no reason to end a training.
    if (count <= 0) gone_ = true;
    else done += static_cast<size_t>(count);
  }
}

// To the block's first column. A window that was made narrower since has broken its lines.
std::string Progress::toLiveBegin() const {
  const size_t columns = std::max<size_t>(1, width());
  size_t rows = 0;
  for (size_t used : liveWidths_) rows += std::max<size_t>(1, (used + columns - 1) / columns);
  return rows > 1 ? fmt::format("\r\x1b[{}A", rows - 1) : "\r";
}

void Progress::clearLive() {
  if (liveWidths_.empty()) return;
  const std::string text = toLiveBegin() + "\x1b[J";
  liveWidths_.clear();
  write(text);
}

void Progress::line(const std::string &text, bool cut) {
  if (style_.json) return;
  std::string out;
  // One write for erasing and printing: nothing flickers.
  if (!liveWidths_.empty()) {
    out = toLiveBegin() + "\x1b[J";
    liveWidths_.clear();
  }
  write(out + (style_.terminal && cut ? fit(text, width()) : text) + "\n");
  changed_ = true;
  lastDraw_ = -1;
}

void Progress::columns(int64_t steps, bool accuracy) {
  steps_ = steps;
  hasAccuracy_ = accuracy;
  rowEvery_ = niceInterval(steps);
  line(paint("2", fmt::format("{:>7} {:>7}  {:>9} {} {:>8} {:>8} {:>10} {:>6} {:>6}", "step", "epoch", "loss", accuracy ? "   acc " : "", "lr", "ms/step", "samples/s", "comm", "eta")), true);
}

std::optional<double> Progress::etaSeconds() const {
  const double ms = number(lastStep_, "ms");
  if (steps_ <= 0 || step_ <= 0) return std::nullopt;
  const int64_t done = step_ - firstStep_;
  // What the steps really took, evaluations included; the first moments have only their own measure.
  const double each = done > 20 && firstSeconds_ > 0 ? (seconds() - firstSeconds_) / static_cast<double>(done) : ms / 1000;
  if (!std::isfinite(each)) return std::nullopt;
  return each * static_cast<double>(steps_ - step_);
}

void Progress::row(const Json &step) {
  std::string text = fmt::format("{:>7} {}  {}", step.value("step", int64_t{0}), cell("{:.1f}", number(step, "epoch"), 7), cell("{:.4f}", number(step, "loss"), 9));
  text += " " + (hasAccuracy_ ? cell("{:.3f}", number(step, "accuracy"), 6) + " " : std::string());
  text += fmt::format(" {} {} {:>10}", cell("{:.1e}", number(step, "lr"), 8), cell("{:.2f}", number(step, "ms"), 8), grouped(number(step, "samplesPerSecond")));
  const double exposed = number(step, "commExposed");
  text += fmt::format(" {:>6}", std::isfinite(exposed) ? fmt::format("{:.1f} %", exposed * 100) : "-");
  const auto eta = etaSeconds();
  text += fmt::format(" {:>6}", eta ? durationText(*eta) : "-");
  line(text, true);
}

void Progress::metrics(const Json &entry) {
  if (style_.json) {
    write(entry.dump() + "\n");
  }
  const std::string event = entry.value("event", std::string());
  changed_ = true;
  if (event == "begin") {
    if (const auto count = entry.value("steps", int64_t{0}); count > 0) {
      steps_ = count;
      rowEvery_ = niceInterval(count);
    }
    blas_ = entry.value("blas", std::string());
  } else if (event == "step") {
    step_ = entry.value("step", step_);
    epoch_ = number(entry, "epoch", epoch_);
    if (firstSeconds_ == 0) {
      firstSeconds_ = seconds();
      firstStep_ = step_;
    }
    lastStep_ = entry;
    const double loss = number(entry, "loss");
    losses_.push_back(loss);
    if (losses_.size() > 4096) {
      // Half the resolution for what is past; the curve stays the whole run's.
      for (size_t i = 0; i < losses_.size() / 2; ++i) losses_[i] = (losses_[2 * i] + losses_[2 * i + 1]) / 2;
      losses_.resize(losses_.size() / 2);
    }
    // The engine reports at its own pace; a row is due once a multiple of the interval has been passed.
    // A long run speaks up now and then all the same.
    if (step_ >= nextRow_ || step_ == steps_ || seconds() - lastRowSeconds_ > LongestSilence) {
      row(entry);
      lastRowSeconds_ = seconds();
      nextRow_ = (step_ / rowEvery_ + 1) * rowEvery_;
    }
  } else if (event == "eval") {
    lastEval_ = entry;
    step_ = std::max(step_, entry.value("step", step_));
    epoch_ = std::max(epoch_, number(entry, "epoch", epoch_));
    const double accuracy = number(entry, "accuracy");
    // One row in as many evaluations as steps have rows; the last is in the summary anyway.
    const int64_t at = entry.value("step", int64_t{0});
    if (lastRow_.is_null() || at - lastRow_.value("step", int64_t{0}) >= rowEvery_ || at == steps_ || seconds() - lastEvalSeconds_ > LongestSilence) {
      lastEvalSeconds_ = seconds();
      line(paint("36", fmt::format("   {} {}  {} {}  {}", entry.value("part", std::string("test")) == "train" ? "eval" : "test", cell("{:.1f}", number(entry, "epoch"), 7),
                                   cell("{:.4f}", number(entry, "loss"), 9), std::isfinite(accuracy) ? cell("{:.3f}", accuracy, 6) : std::string(),
                                   entry.contains("rows") ? fmt::format("on {} rows", entry["rows"].dump()) : std::string())), true);
      lastRow_ = entry;
    }
  } else if (event == "saved") {
    saved_.push_back(entry.value("path", std::string()));
  } else if (event == "end") {
    step_ = std::max(step_, entry.value("step", step_));
    epoch_ = std::max(epoch_, number(entry, "epoch", epoch_));
    end_ = entry;
  }
}

void Progress::stopping(const std::string &text) {
  stopText_ = text;
  line(paint("33", text));
}

void Progress::draw(bool now) {
  if (!style_.terminal || style_.json || !changed_ || gone_) return;
  const double time = seconds();
  if (!now && lastDraw_ >= 0 && time - lastDraw_ < 0.08) return;
  lastDraw_ = time;
  changed_ = false;
  const size_t columns = width();
  const auto eta = etaSeconds();
  const std::string tail = fmt::format(" {:3.0f} %  step {}/{}  eta {}", fraction() * 100, step_, steps_, eta ? durationText(*eta) : "-");
  const size_t bar = columns > displayWidth(tail) + 6 ? std::min<size_t>(columns - displayWidth(tail) - 4, 40) : 0;
  std::vector<std::string> lines;
  lines.push_back(" " + (bar ? paint("32", progressBar(fraction(), bar)) : "") + tail);
  const std::string hint = stopText_.empty() ? "ctrl-c stops" : "ctrl-c again: now";
  const std::string loss = losses_.empty() ? "" : fmt::format(" {:.4f}", losses_.back());
  const size_t taken = 7 + displayWidth(loss) + 3 + hint.size();
  const size_t spark = columns > taken + 1 ? std::min<size_t>(columns - taken - 1, 40) : 0;
  lines.push_back(" loss " + paint("36", sparkline(losses_, spark)) + loss + "   " + paint("2", hint));
  std::string out = toLiveBegin() + (liveWidths_.empty() ? "" : "\x1b[J");
  liveWidths_.clear();
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string shown = fit(lines[i], columns > 1 ? columns - 1 : 1);
    out += shown + (i + 1 < lines.size() ? "\n" : "");
    liveWidths_.push_back(displayWidth(shown));
  }
  // A block that fits one screen only: a terminal of one line would scroll at every drawing.
  write(out);
}

} // namespace kft::run
