// Real mpirun, small scripts as ranks: what a run ends with, and that nothing of it stays.
#include "runtime/launch/exit_codes.h"
#include "runtime/launch/rank_starter.h"
#include "runtime/launch/supervisor.h"

#include <gtest/gtest.h>

#include <csignal>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace kft::run;
namespace fs = std::filesystem;

namespace {

class Supervisor : public testing::Test {
protected:
  void SetUp() override {
    char path[] = "/tmp/kft-launch-XXXXXX";
    ASSERT_NE(mkdtemp(path), nullptr);
    base = path;
    program.mpirun = findInPath("mpirun");
    if (program.mpirun.empty()) GTEST_SKIP() << "mpirun is not installed";
    program.starter = selfPath();
    program.ranks = 2;
    program.oversubscribe = true;
    program.allowRoot = geteuid() == 0;
  }
  void TearDown() override {
    int left = 0;
    sweep(base + "/run", 1, left);
    fs::remove_all(base);
  }
  // `body` sees the rank as $R.
  void script(const std::string &body) {
    const std::string file = base + "/rank.sh";
    std::ofstream(file) << "#!/bin/sh\nR=$OMPI_COMM_WORLD_RANK\n" << body << "\n";
    chmod(file.c_str(), 0755);
    program.command = {file};
  }
  Outcome run(SupervisorEvents events = {}) {
    RunDirectory directory = RunDirectory::create("t", base + "/run");
    Outcome outcome = supervise(program, directory, events);
    int left = 0;
    EXPECT_EQ(sweep(directory.path(), 0, left), 0) << "something was left";
    EXPECT_FALSE(fs::exists(directory.file("tmp")));
    return outcome;
  }
  // The same in a process of its own, which the test may kill.
  pid_t inBackground() {
    const pid_t child = fork();
    if (child == 0) {
      RunDirectory directory = RunDirectory::create("t", base + "/run");
      _exit(supervise(program, directory, {}).exitCode);
    }
    return child;
  }
  std::string text(const std::string &name) const {
    std::ifstream in(base + "/run/" + name);
    return std::string((std::istreambuf_iterator<char>(in)), {});
  }
  bool waitFor(const std::function<bool()> &condition, double limit = 10) {
    for (int i = 0; i < limit * 100; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  int processes() {
    // sweep would kill; counting is done by the marker alone.
    const std::string marker = fmt::format("{}={}", RunMarker, base + "/run");
    int count = 0;
    for (const auto &entry : fs::directory_iterator("/proc")) {
      std::ifstream in(entry.path() / "environ", std::ios::binary);
      for (std::string word; std::getline(in, word, '\0');) count += word == marker;
    }
    return count;
  }
  std::vector<std::string> sharedMemory() {
    std::vector<std::string> names;
    if (fs::exists("/dev/shm"))
      for (const auto &entry : fs::directory_iterator("/dev/shm"))
        if (entry.path().filename().string().starts_with("kft-")) names.push_back(entry.path());
    return names;
  }

  std::string base;
  RankProgram program;
};

} // namespace

TEST_F(Supervisor, AllRanksEndWell) {
  script("echo out $R; echo err $R >&2; echo \"$A\"");
  program.env = {{"A", "a value"}};
  const Outcome outcome = run();
  EXPECT_EQ(outcome.state, RunState::Finished);
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(text("logs/attempt-1/rank-0000.out"), "out 0\na value\n");
  EXPECT_EQ(text("logs/attempt-1/rank-0001.err"), "err 1\n");
  EXPECT_NE(text("logs/attempt-1/launcher.log").find("mpirun"), std::string::npos);
}

TEST_F(Supervisor, TheFirstFailingRankGivesCodeAndLastLines) {
  // Rank 1 waits for rank 0 to be there: what has not started cannot be stopped.
  const std::string there = base + "/there";
  script("if [ $R = 1 ]; then while [ ! -e " + there + " ]; do sleep 0.01; done; echo first; echo it broke >&2; exit 3; fi; touch " +
         there + "; sleep 600");
  const Outcome outcome = run();
  EXPECT_EQ(outcome.state, RunState::Failed);
  EXPECT_EQ(outcome.exitCode, 3);
  EXPECT_EQ(outcome.rank, 1);
  EXPECT_EQ(outcome.cause, "rank 1 exited with code 3");
  EXPECT_EQ(outcome.lastLines, std::vector<std::string>{"it broke"});
  EXPECT_EQ(outcome.logFile, "logs/attempt-1/rank-0001.err");
  EXPECT_EQ(outcome.stopped, 1);
}

TEST_F(Supervisor, ARankKilledBySignal) {
  script("if [ $R = 0 ]; then kill -SEGV $$; fi; sleep 600");
  const Outcome outcome = run();
  EXPECT_EQ(outcome.exitCode, 128 + SIGSEGV);
  EXPECT_EQ(outcome.cause, "rank 0 was killed by SIGSEGV");
}

TEST_F(Supervisor, ChildrenOfARankThatDiedAreEnded) {
  script("(trap '' TERM; sleep 600) & setsid sleep 31 & if [ $R = 1 ]; then exit 5; fi; wait");
  const Outcome outcome = run();
  EXPECT_EQ(outcome.exitCode, 5);
}

TEST_F(Supervisor, AProgramThatIsNotThere) {
  program.command = {base + "/nothing"};
  const Outcome outcome = run();
  EXPECT_EQ(outcome.exitCode, static_cast<int>(Exit::Unavailable));
  ASSERT_FALSE(outcome.lastLines.empty());
  EXPECT_NE(outcome.lastLines.back().find("cannot execute"), std::string::npos);
}

TEST_F(Supervisor, TheDeadlineEndsRanksThatDoNotListen) {
  script("trap '' TERM; sleep 600 & wait; sleep 600");
  program.deadlineSeconds = 0.7;
  program.graceSeconds = 0.3;
  const Outcome outcome = run();
  EXPECT_EQ(outcome.exitCode, 124);
  EXPECT_EQ(outcome.state, RunState::Stopped);
}

TEST_F(Supervisor, AStopOnRequestWaitsForTheStep) {
  script("trap 'echo saved; exit 75' TERM; touch ready-$R; while :; do sleep 0.05; done");
  program.command.insert(program.command.begin(), {"/bin/sh", "-c", "cd \"$KFT_RUN_DIR\"; exec \"$0\""});
  SupervisorEvents events;
  bool sent = false;
  events.tick = [&] {
    if (!sent && fs::exists(base + "/run/ready-0") && fs::exists(base + "/run/ready-1")) sent = kill(getpid(), SIGINT) == 0;
  };
  const Outcome outcome = run(events);
  EXPECT_EQ(outcome.exitCode, 75);
  EXPECT_EQ(outcome.state, RunState::Stopped);
  EXPECT_EQ(text("logs/attempt-1/rank-0000.out"), "saved\n");
  EXPECT_EQ(text("logs/attempt-1/rank-0001.out"), "saved\n");
}

TEST_F(Supervisor, TheSecondRequestDoesNotWait) {
  script("trap '' TERM INT; touch $KFT_RUN_DIR/ready-$R; while :; do sleep 0.05; done");
  SupervisorEvents events;
  int sent = 0;
  auto last = std::chrono::steady_clock::now();
  events.tick = [&] {
    const bool ready = fs::exists(base + "/run/ready-0") && fs::exists(base + "/run/ready-1");
    const auto now = std::chrono::steady_clock::now();
    if (ready && sent < 2 && now - last > std::chrono::milliseconds(100)) {
      ++sent;
      last = now;
      kill(getpid(), SIGINT);
    }
  };
  const Outcome outcome = run(events);
  EXPECT_EQ(outcome.exitCode, 128 + SIGINT);
}

TEST_F(Supervisor, KillingMpirunLeavesNothing) {
  script("touch $KFT_RUN_DIR/ready-$R; sleep 60");
  SupervisorEvents events;
  bool sent = false;
  events.tick = [&] {
    if (sent || !fs::exists(base + "/run/ready-0") || !fs::exists(base + "/run/ready-1")) return;
    std::ifstream in(base + "/run/events.jsonl");
    for (std::string line; std::getline(in, line);)
      if (const Json json = Json::parse(line, nullptr, false); json.is_object() && json.contains("mpirun")) sent = kill(json["mpirun"].get<pid_t>(), SIGKILL) == 0;
  };
  const Outcome outcome = run(events);
  EXPECT_EQ(outcome.exitCode, static_cast<int>(Exit::RankLost)) << outcome.cause;
  EXPECT_EQ(outcome.cause, "mpirun was killed by SIGKILL");
}

TEST_F(Supervisor, KillingARankAndItsStarterIsNoticed) {
  script("touch $KFT_RUN_DIR/ready-$R; sleep 60");
  SupervisorEvents events;
  bool sent = false;
  events.tick = [&] {
    if (sent || !fs::exists(base + "/run/ready-0") || !fs::exists(base + "/run/ready-1")) return;
    std::ifstream in(base + "/run/logs/attempt-1/ranks.jsonl");
    for (std::string line; std::getline(in, line);)
      if (const Json json = Json::parse(line, nullptr, false); json.is_object() && json["rank"] == 1 && json.contains("starter")) {
        kill(json["starter"].get<pid_t>(), SIGKILL);
        kill(json["pid"].get<pid_t>(), SIGKILL);
        sent = true;
      }
  };
  const Outcome outcome = run(events);
  EXPECT_EQ(outcome.exitCode, 128 + SIGKILL) << outcome.cause;
  EXPECT_EQ(outcome.rank, 1);
}

TEST_F(Supervisor, KillingTheLauncherLeavesNothing) {
  script("touch $KFT_RUN_DIR/ready-$R; sleep 60 & wait");
  const size_t before = sharedMemory().size();
  const pid_t launcher = inBackground();
  ASSERT_TRUE(waitFor([&] { return fs::exists(base + "/run/ready-0") && fs::exists(base + "/run/ready-1"); }));
  EXPECT_GE(processes(), 5);
  kill(launcher, SIGKILL);
  waitpid(launcher, nullptr, 0);
  EXPECT_TRUE(waitFor([&] { return processes() == 0; }, 5)) << processes();
  EXPECT_TRUE(waitFor([&] { return !fs::exists(base + "/run/tmp"); }, 5));
  EXPECT_TRUE(waitFor([&] { return sharedMemory().size() <= before; }, 5));
}

TEST(RunDirectory, RefusesWhatItCannotUse) {
  char path[] = "/tmp/kft-dir-XXXXXX";
  ASSERT_NE(mkdtemp(path), nullptr);
  const std::string base = path;
  {
    const RunDirectory first = RunDirectory::create("t", base + "/run");
    try {
      RunDirectory::create("t", base + "/run");
      FAIL() << "two runs in one folder";
    } catch (const LaunchError &error) {
      EXPECT_EQ(error.code, Exit::CannotCreate);
      EXPECT_NE(std::string(error.what()).find("going on (process "), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(RunDirectory::create("t", base + "/run"), LaunchError) << "it holds a run that is over";
  std::ofstream(base + "/file") << "x";
  try {
    RunDirectory::create("t", base + "/file/run");
    FAIL() << "below a file";
  } catch (const LaunchError &error) {
    EXPECT_EQ(error.code, Exit::CannotCreate);
    EXPECT_NE(std::string(error.what()).find("Not a directory"), std::string::npos) << error.what();
  }
  fs::remove_all(base);
}

TEST(RunDirectory, ReplacesWholeFilesAndAppendsWholeLines) {
  char path[] = "/tmp/kft-dir-XXXXXX";
  ASSERT_NE(mkdtemp(path), nullptr);
  {
    RunDirectory directory = RunDirectory::create("t", std::string(path) + "/run");
    EXPECT_TRUE(directory.replace("status.json", "one"));
    EXPECT_TRUE(directory.replace("status.json", "two"));
    directory.event("started", {{"pid", 1}});
    std::ifstream status(directory.file("status.json")), events(directory.file("events.jsonl"));
    std::string text;
    std::getline(status, text);
    EXPECT_EQ(text, "two");
    std::getline(events, text);
    EXPECT_EQ(Json::parse(text)["event"], "started");
    directory.freeze({"inputs/team/base.kft", "text"});
    EXPECT_TRUE(fs::exists(directory.file("inputs/team/base.kft")));
    EXPECT_THROW(directory.freeze({"inputs/team/base.kft", "other"}), LaunchError) << "frozen is frozen";
  }
  fs::remove_all(path);
}

TEST(LastLines, AreReadableWhateverWasWritten) {
  char path[] = "/tmp/kft-log-XXXXXX";
  const int fd = mkstemp(path);
  std::string text(200'000, 'x');
  text += "\nprogress 1\rprogress 2\rdone\n\x1b[31mred\x1b[0m\n\n\n";
  ASSERT_EQ(write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  close(fd);
  EXPECT_EQ(lastLines(path, 2), (std::vector<std::string>{"done", "?[31mred?[0m"}));
  EXPECT_TRUE(lastLines("/nonexistent", 3).empty());
  unlink(path);
}
