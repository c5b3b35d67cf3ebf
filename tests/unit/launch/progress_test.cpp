#include "runtime/launch/progress.h"
#include "runtime/plan/text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

using namespace kft::run;

namespace {

std::string everything(FILE *file) {
  std::rewind(file);
  std::string text;
  char buffer[4096];
  for (size_t count; (count = std::fread(buffer, 1, sizeof buffer, file)) > 0;) text.append(buffer, count);
  return text;
}

Json step(int number, double loss) {
  return {{"event", "step"}, {"step", number}, {"epoch", number / 10.0}, {"loss", loss}, {"accuracy", 0.5}, {"lr", 1e-3}, {"ms", 0.4}, {"samplesPerSecond", 640000}, {"commExposed", 0.039}};
}

} // namespace

TEST(Text, SizesAndCounts) {
  EXPECT_EQ(bytesText(0), "0 B");
  EXPECT_EQ(bytesText(999), "999 B");
  EXPECT_EQ(bytesText(1024), "1.0 KiB");
  EXPECT_EQ(bytesText(76.0 * 1024), "76.0 KiB");
  EXPECT_EQ(bytesText(1023.0 * 1024), "1.0 MiB");
  EXPECT_EQ(countText(64), "64");
  EXPECT_EQ(flopsText(492), "492 FLOP");
  EXPECT_EQ(flopsText(9610), "9.6 kFLOP");
  EXPECT_EQ(countText(9610), "9.6 k");
  EXPECT_EQ(countText(5.1e6), "5.1 M");
}

TEST(Progress, SparklineGoesFromLeastToGreatest) {
  EXPECT_EQ(sparkline({0, 1}, 10), "▁█");
  EXPECT_EQ(sparkline({5, 5, 5}, 10), "▁▁▁");
  EXPECT_EQ(sparkline({}, 10), "");
  EXPECT_EQ(displayWidth(sparkline(std::vector<double>(1000, 1.0), 30)), 30u);
  EXPECT_EQ(sparkline({0, NAN, 1}, 10), "▁██");
}

TEST(Progress, BarIsAsWideAsAskedAtEveryFraction) {
  for (int i = 0; i <= 100; ++i) EXPECT_EQ(displayWidth(progressBar(i / 100.0, 17)), 17u) << i;
  EXPECT_EQ(progressBar(1, 2), "██");
  EXPECT_EQ(progressBar(0, 2), "░░");
  EXPECT_EQ(progressBar(7, 2), "██");
}

TEST(Progress, Durations) {
  EXPECT_EQ(durationText(7), "0:07");
  EXPECT_EQ(durationText(252), "4:12");
  EXPECT_EQ(durationText(3723), "1:02:03");
  EXPECT_EQ(durationText(NAN), "-");
}

TEST(Progress, FitCutsByColumnsAndKeepsColoursWhole) {
  EXPECT_EQ(fit("abc", 3), "abc");
  EXPECT_EQ(fit("abcd", 3), "ab…");
  EXPECT_EQ(fit("ä×…x", 4), "ä×…x");
  EXPECT_EQ(fit("\x1b[32mabcd\x1b[0m", 3), "\x1b[32mab…\x1b[0m");
}

TEST(Progress, APipeGetsRowsWithoutColourOrRedrawing) {
  FILE *file = std::tmpfile();
  Progress progress(fileno(file), {});
  progress.columns(100, true);
  for (int i = 1; i <= 100; ++i) {
    progress.metrics(step(i, 1.0 / i));
    progress.draw(true);
  }
  const std::string text = everything(file);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\r'), std::string::npos);
  // The head, step 1, and one row every ten steps.
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 12);
  EXPECT_NE(text.find("    100    10.0     0.0100  0.500   1.0e-03     0.40    640 000  3.9 %"), std::string::npos) << text;
  std::size_t begin = 0;
  for (size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) EXPECT_LE(displayWidth(text.substr(begin, end - begin)), 80u);
  std::fclose(file);
}

TEST(Progress, ATerminalGetsABlockThatFitsAndIsRemovedAtTheEnd) {
  int master = -1, slave = -1;
  winsize size{24, 50, 0, 0};
  ASSERT_EQ(openpty(&master, &slave, nullptr, nullptr, &size), 0);
  {
    ProgressStyle style;
    style.terminal = style.color = true;
    Progress progress(slave, style);
    progress.columns(1000, false);
    progress.metrics(step(1, 0.5));
    progress.draw(true);
    progress.metrics(step(2, 0.4));
    progress.draw(true);
  }
  // The kernel hands over what was written to a terminal piece by piece.
  std::string text;
  for (pollfd ready{master, POLLIN, 0}; poll(&ready, 1, text.ends_with("\x1b[J") ? 200 : 10000) > 0;) {
    char buffer[16384];
    const ssize_t count = read(master, buffer, sizeof buffer);
    if (count <= 0) break;
    text.append(buffer, static_cast<size_t>(count));
  }
  EXPECT_NE(text.find("\x1b[1A"), std::string::npos);      // drawn in place
  EXPECT_NE(text.find("step 2/1000"), std::string::npos);
  EXPECT_NE(text.find("█"), std::string::npos);
  EXPECT_TRUE(text.ends_with("\x1b[J")) << text;           // nothing of it stays
  std::size_t begin = 0;
  for (size_t end; (end = text.find_first_of("\r\n", begin)) != std::string::npos; begin = end + 1) EXPECT_LE(displayWidth(text.substr(begin, end - begin)), 50u);
  close(master);
  close(slave);
}

TEST(Progress, ANarrowerWindowIsClearedOfTheBrokenLines) {
  int master = -1, slave = -1;
  winsize size{24, 100, 0, 0};
  ASSERT_EQ(openpty(&master, &slave, nullptr, nullptr, &size), 0);
  ProgressStyle style;
  style.terminal = true;
  const std::string reason(90, 'x');
  {
    Progress progress(slave, style);
    progress.columns(1000, false);
    progress.metrics(step(1, 0.5));
    progress.draw(true);
    size.ws_col = 30;
    ASSERT_EQ(ioctl(slave, TIOCSWINSZ, &size), 0);
    progress.line(reason);
  }
  std::string text;
  for (pollfd ready{master, POLLIN, 0}; poll(&ready, 1, text.find(reason) != std::string::npos ? 200 : 10000) > 0;) {
    char buffer[16384];
    const ssize_t count = read(master, buffer, sizeof buffer);
    if (count <= 0) break;
    text.append(buffer, static_cast<size_t>(count));
  }
  // Two lines of more than 60 and of more than 30 columns take five rows or more now.
  EXPECT_NE(text.find(reason), std::string::npos) << text; // words are never cut
  const size_t up = text.rfind("\x1b[", text.find(reason) - 5);
  ASSERT_NE(up, std::string::npos);
  EXPECT_GE(std::atoi(text.c_str() + up + 2), 3) << text;
  close(master);
  close(slave);
}

TEST(Progress, AReaderThatWentAwayDoesNotEndTheRun) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  std::signal(SIGPIPE, SIG_IGN);
  Progress progress(ends[1], {});
  progress.line("nobody reads this");
  EXPECT_TRUE(progress.outputGone());
  progress.metrics(step(1, 0.5));
  close(ends[1]);
}

TEST(Metrics, ReadsWholeLinesOnly) {
  char path[] = "/tmp/kft-metrics-XXXXXX";
  const int fd = mkstemp(path);
  MetricsReader reader(path);
  auto put = [&](const std::string &text) { ASSERT_EQ(write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size())); };
  put("{\"event\":\"step\",\"step\":1}\nnot json\n{\"event\":\"st");
  auto lines = reader.read();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0]["step"], 1);
  EXPECT_TRUE(reader.read().empty());
  put("ep\",\"step\":2}\n");
  lines = reader.read();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0]["step"], 2);
  close(fd);
  unlink(path);
}
