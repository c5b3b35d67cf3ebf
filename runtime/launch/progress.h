// What the terminal shows while a run goes on: header lines, rows, and on a terminal a live block below them that is drawn
// again in place. Text is made here and written in one go; a pipe gets the same rows without colour.
#pragma once

#include "runtime/launch/run_directory.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kft::run {

// Bars of eight heights, newest value last, scaled between the least and the greatest.
std::string sparkline(const std::vector<double> &values, size_t width);
// `████▌░░░░░`, in eighths of a character.
std::string progressBar(double fraction, size_t width);
std::string durationText(double seconds); // 0:07, 4:12, 1:02:03
// Columns a terminal needs for UTF-8 text, escape sequences not counted.
size_t displayWidth(const std::string &text);
// Cut to so many columns, with `…` where something was lost; escape sequences stay whole.
std::string fit(const std::string &text, size_t columns);

// What metrics.jsonl says, as far as it has come. Lines that are torn or of another kind are passed over.
class MetricsReader {
public:
  explicit MetricsReader(std::string path) : path_(std::move(path)) {}
  // Lines that were finished since the last call.
  std::vector<Json> read();

private:
  std::string path_, torn_;
  int64_t offset_ = 0;
};

struct ProgressStyle {
  bool terminal = false; // redraws in place
  bool color = false;
  bool json = false;     // the lines of metrics.jsonl and state changes as they come, for programs
  size_t columns = 80;   // of a pipe; a terminal is asked each time
};

class Progress {
public:
  Progress(int fileDescriptor, ProgressStyle style);
  ~Progress() { clearLive(); }

  void line(const std::string &text, bool cut = false); // above the live block; a row of a table is cut at the edge, words are not
  void columns(int64_t steps, bool accuracy); // the head of the table
  void metrics(const Json &line);
  void stopping(const std::string &text); // shown in the live block from now on
  // Draws the live block again if something changed and the last time is long enough ago.
  void draw(bool now = false);
  void clearLive();

  bool outputGone() const { return gone_; }
  // The newest of everything.
  int64_t step() const { return step_; }
  int64_t steps() const { return steps_; }
  double epoch() const { return epoch_; }
  std::optional<double> etaSeconds() const;
  double fraction() const { return steps_ > 0 ? static_cast<double>(step_) / static_cast<double>(steps_) : 0; }
  const Json &lastStep() const { return lastStep_; }
  const Json &lastEval() const { return lastEval_; }
  const Json &end() const { return end_; }
  const std::vector<std::string> &saved() const { return saved_; } // relative to the run directory
  const std::string &blas() const { return blas_; }

  std::string paint(const char *color, const std::string &text) const;
  const ProgressStyle &style() const { return style_; }

private:
  void write(const std::string &text);
  size_t width() const;
  std::string toLiveBegin() const;
  void row(const Json &step);

  int fd_;
  ProgressStyle style_;
  bool gone_ = false, changed_ = false, hasAccuracy_ = false;
  int64_t step_ = 0, steps_ = 0, nextRow_ = 1, rowEvery_ = 1, firstStep_ = 0;
  double epoch_ = 0;
  double firstSeconds_ = 0, lastDraw_ = -1, lastRowSeconds_ = 0, lastEvalSeconds_ = 0;
  Json lastStep_, lastEval_, end_, lastRow_;
  std::string blas_, stopText_;
  std::vector<std::string> saved_;
  std::vector<double> losses_;
  std::vector<size_t> liveWidths_; // of the live block's lines, none while it is not shown
};

} // namespace kft::run
