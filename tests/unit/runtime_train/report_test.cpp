#include "runtime/plan/error.h"
#include "runtime/train/report.h"
#include "tests/run/training.h"

#include <csignal>
#include <gtest/gtest.h>
#include <limits>
#include <unistd.h>

using namespace kft::run;

namespace {

StepFacts fact(int64_t step) {
  StepFacts facts;
  facts.step = step, facts.samples = 4, facts.seconds = 1e-3, facts.loss = 0.5;
  return facts;
}

} // namespace

TEST(Report, LongRunsAreThinnedEvenly) {
  Folder folder;
  {
    Report report(folder.path, 0);
    report.begin(Plan(), 20000, 100, 10, 0, "blas", "kernels");
    for (int64_t i = 1; i <= 20000; ++i)
      report.step(fact(i));
  }
  auto lines = linesOf(folder.path, "step");
  EXPECT_EQ(lines.size(), 5001u) << "the first, and every fourth";
  EXPECT_EQ(lines.back()["step"], 20000);
  EXPECT_NEAR(lines[10]["ms"], 1, 1e-6);
  EXPECT_NEAR(lines[10]["samplesPerSecond"], 4000, 1e-3);
}

TEST(Report, NumbersThatAreNone) {
  Folder folder;
  {
    Report report(folder.path, 0);
    StepFacts facts = fact(1);
    facts.loss = std::numeric_limits<double>::quiet_NaN(), facts.gradientNorm = std::numeric_limits<double>::infinity();
    report.step(facts);
  }
  auto lines = linesOf(folder.path, "step");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(lines[0]["loss"].is_null());
  EXPECT_TRUE(lines[0]["gradNorm"].is_null());
}

TEST(Report, NamesAreQuoted) {
  Folder folder;
  Plan plan;
  plan.job = "a \"b\"\\\n";
  Report(folder.path, 0).begin(plan, 1, 1, 1, 0, "x", "y");
  EXPECT_EQ(linesOf(folder.path, "begin").at(0)["job"], plan.job);
}

TEST(Report, EveryRankHasAFile) {
  Folder folder;
  {
    Report report(folder.path, 3);
    report.step(fact(1));
    report.end(1, 0.5, "finished", 0);
  }
  auto json = nlohmann::json::parse(readFile(folder.path + "/ranks/rank-0003.json"));
  EXPECT_EQ(json["rank"], 3);
  EXPECT_EQ(json["pid"], ::getpid());
  EXPECT_GT(json["processStart"], 0);
  EXPECT_GT(json["rssBytes"], 1 << 20);
  EXPECT_EQ(json["state"], "finished");
  EXPECT_EQ(json["step"], 1);
  EXPECT_FALSE(std::filesystem::exists(folder.path + "/metrics.jsonl")) << "rank 0 alone writes it";
}

TEST(Report, PipeGetsTheSameLines) {
  Folder folder;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  {
    Report report(folder.path, 0, ends[1]);
    report.begin(Plan(), 2, 2, 10, 0, "blas", "kernels");
    report.step(fact(1)), report.step(fact(2));
    report.end(2, 1, "finished", 0);
  }
  ::close(ends[1]);
  std::string text;
  char bytes[4096];
  for (ssize_t n; (n = ::read(ends[0], bytes, sizeof bytes)) > 0;)
    text.append(bytes, size_t(n));
  ::close(ends[0]);
  EXPECT_EQ(text, readFile(folder.path + "/metrics.jsonl"));
}

TEST(Report, ReaderThatIsFullOrGoneHoldsNothingUp) {
  std::signal(SIGPIPE, SIG_IGN);
  Folder folder;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  Report report(folder.path, 0, ends[1]);
  for (int64_t i = 1; i <= 2000; ++i)
    report.step(fact(i)); // more than a pipe holds
  ::close(ends[0]);
  report.end(2000, 1, "finished", 0);
  ::close(ends[1]);
  EXPECT_EQ(linesOf(folder.path, "step").size(), 2000u);
}

TEST(Report, DirectoryThatCannotBeMade) {
  Folder folder;
  std::string file = folder.file("file", "");
  try {
    Report report(file + "/run", 0);
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.code, ExitCode::InputOutput);
  }
}
