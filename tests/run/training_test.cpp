// kft-rank as users run it: processes under mpirun, exit codes, files.
#include "runtime/data/inspect.h"
#include "tests/run/training.h"

#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <set>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace kft::run;

extern char **environ;

namespace {

class TrainingTest : public testing::Test {
protected:
  static void SetUpTestSuite() {
    // What a container does as root, and what a small machine needs.
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    ::setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 1);
    ::setenv("OMPI_MCA_mpi_yield_when_idle", "1", 1);
    ::setenv("OMPI_MCA_btl", "self,vader", 1);
    ::setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 1);
    // MPI keeps memory until the end; that is not what these tests are about.
    ::setenv("ASAN_OPTIONS", "detect_leaks=0", 0);
  }

  pid_t start(std::vector<std::string> words) {
    errors = folder.path + "/stderr";
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    std::vector<char *> argv;
    for (std::string &word : words)
      argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_t pid = -1;
    EXPECT_EQ(::posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    return pid;
  }

  static int finish(pid_t pid) {
    for (int i = 0; i < 6000; ++i) {
      int status;
      if (::waitpid(pid, &status, WNOHANG) == pid)
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ::kill(pid, SIGKILL);
    ADD_FAILURE() << "no end within a minute";
    return -1;
  }

  std::vector<std::string> command(const Plan &plan, const std::string &name, int processes) {
    std::string planFile = folder.file(name + ".json", toJson(plan));
    std::vector<std::string> words;
    if (processes > 1) words = {KFT_MPIRUN, "-n", std::to_string(processes)};
    words.insert(words.end(), {KFT_RANK, planFile, "--run-dir", run(name)});
    return words;
  }
  int train(const Plan &plan, const std::string &name) { return finish(start(command(plan, name, plan.ranks))); }

  std::string run(const std::string &name) const { return folder.path + "/" + name; }
  std::string told() const { return readFile(errors); }
  std::string model(const std::string &name) const { return readFile(run(name) + "/export/model.safetensors"); }

  Folder folder;
  std::string errors;
  std::string data = folder.file("data.csv", clouds(203));
};

int count(const std::string &text, const std::string &part) {
  int n = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1))
    ++n;
  return n;
}

} // namespace

TEST_F(TrainingTest, CurveDoesNotDependOnTheNumberOfRanks) {
  std::vector<double> alone;
  for (int ranks : {1, 2, 4}) {
    std::string name = "ranks-" + std::to_string(ranks);
    ASSERT_EQ(train(cloudPlan(data, ranks), name), 0) << told();
    auto losses = lossesOf(run(name));
    ASSERT_EQ(losses.size(), 48u);
    EXPECT_LT(losses.back(), losses.front() / 3);
    if (ranks == 1) alone = losses;
    // Sums are taken in another order; the difference grows slowly.
    for (size_t i = 0; i < losses.size(); ++i)
      ASSERT_NEAR(losses[i], alone[i], 1e-4 * alone[i]) << ranks << " ranks, step " << i + 1;
    for (int rank = 0; rank < ranks; ++rank) {
      auto json = nlohmann::json::parse(readFile(run(name) + "/ranks/rank-000" + std::to_string(rank) + ".json"));
      EXPECT_EQ(json["state"], "finished");
    }
  }
}

TEST_F(TrainingTest, SameBitsTwice) {
  for (int ranks : {1, 2, 4}) {
    Plan plan = cloudPlan(data, ranks);
    std::string first = "first-" + std::to_string(ranks), second = "second-" + std::to_string(ranks);
    ASSERT_EQ(train(plan, first), 0) << told();
    ASSERT_EQ(train(plan, second), 0) << told();
    EXPECT_EQ(lossesOf(run(first)), lossesOf(run(second)));
    EXPECT_FALSE(model(first).empty());
    EXPECT_EQ(model(first), model(second)) << ranks << " ranks";
  }
}

TEST_F(TrainingTest, BatchSmallerThanTheWorld) {
  // 162 rows in batches of 5: the last has 2, so two of four ranks have none.
  std::vector<double> losses[2];
  for (int i : {0, 1}) {
    Plan plan = cloudPlan(data, i ? 4 : 1);
    plan.loop.globalBatch = 5, plan.loop.epochs = 2, plan.optimizer = {"adamw", {numberOf("lr", 0.01)}};
    ASSERT_EQ(train(plan, "small-" + std::to_string(i)), 0) << told();
    losses[i] = lossesOf(run("small-" + std::to_string(i)));
  }
  ASSERT_EQ(losses[0].size(), 66u);
  for (size_t i = 0; i < 66; ++i)
    ASSERT_NEAR(losses[0][i], losses[1][i], 1e-3 * losses[0][i] + 1e-5) << i;
}

TEST_F(TrainingTest, BadDataAreToldOnce) {
  std::string bad = folder.file("bad.csv", "a,b,c,d,e,f,g,h,y\n1,2,3,4,5,6,7,8,0\n1,2,abc,4,5,6,7,8,0\n");
  EXPECT_EQ(train(cloudPlan(bad, 2), "bad"), 65);
  EXPECT_EQ(count(told(), "kft-rank: " + bad + ":3: column `c`: `abc` is not a number\n"), 1) << told();
  EXPECT_EQ(train(cloudPlan("/nowhere/data.csv", 2), "missing"), 66);
  EXPECT_EQ(count(told(), "kft-rank: /nowhere/data.csv: cannot open: No such file or directory\n"), 1) << told();
}

TEST_F(TrainingTest, DataThatChanged) {
  Plan plan = cloudPlan(data, 2);
  plan.data.sha256 = inspect(plan.data).sha256;
  EXPECT_EQ(train(plan, "same"), 0) << told();
  folder.file("data.csv", clouds(202) + "1,2,3,4,5,6,7,8,0\n");
  EXPECT_EQ(train(plan, "changed"), 65);
  EXPECT_EQ(count(told(), "the data have changed since the plan was made"), 1) << told();
}

TEST_F(TrainingTest, Divergence) {
  Plan plan = cloudPlan(data, 2);
  plan.optimizer = {"sgd", {numberOf("lr", 1e30)}}, plan.schedule = {"constant", {}};
  EXPECT_EQ(train(plan, "diverged"), 80);
  EXPECT_EQ(count(told(), "is not finite at step"), 1) << told();
  EXPECT_EQ(model("diverged"), "") << "nothing worth keeping";
}

TEST_F(TrainingTest, SignalEndsAllRanksAfterTheStep) {
  Plan plan = cloudPlan(data, 2);
  plan.loop.epochs = 100000000;
  pid_t pid = start(command(plan, "long", 2));
  std::string rankFile = run("long") + "/ranks/rank-0001.json", text;
  for (int i = 0; i < 2000 && linesOf(run("long"), "step").empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  auto rank = nlohmann::json::parse(readFile(rankFile));
  ASSERT_EQ(::kill(rank["pid"].get<pid_t>(), SIGTERM), 0);
  EXPECT_EQ(finish(pid), 75) << told();
  EXPECT_EQ(count(told(), "stopped on request after step"), 1) << told();
  auto end = linesOf(run("long"), "end");
  ASSERT_EQ(end.size(), 1u);
  EXPECT_EQ(end[0]["reason"], "stopped");
  EXPECT_FALSE(model("long").empty()) << "what was learned so far";
}

TEST_F(TrainingTest, WrongUse) {
  EXPECT_EQ(finish(start({KFT_RANK})), 64);
  EXPECT_EQ(finish(start({KFT_RANK, "a", "b"})), 64);
  EXPECT_EQ(finish(start({KFT_RANK, "--frobnicate"})), 64);
  EXPECT_EQ(finish(start({KFT_RANK, "p", "--progress-fd", "x"})), 64);
  EXPECT_EQ(finish(start({KFT_RANK, "/nowhere/plan.json"})), 66);
  EXPECT_EQ(finish(start({KFT_RANK, folder.file("broken.json", "{\"version\": 1}")})), 65);
  EXPECT_NE(told().find("broken.json: not a plan this engine reads: `tool` is missing"), std::string::npos) << told();
  EXPECT_EQ(finish(start({KFT_RANK, "--help"})), 0);
  EXPECT_EQ(finish(start({KFT_RANK, "--version"})), 0);
  EXPECT_EQ(finish(start(command(cloudPlan(data, 3), "three", 2))), 64);
  EXPECT_NE(told().find("the plan is for 3 ranks, but 2 were started"), std::string::npos) << told();
}

TEST_F(TrainingTest, AloneWithAPlanForTwo) {
  EXPECT_EQ(finish(start(command(cloudPlan(data, 2), "alone", 1))), 64);
  EXPECT_NE(told().find("the plan is for 2 ranks, but no launcher started this one"), std::string::npos) << told();
}

TEST_F(TrainingTest, DataElsewhere) {
  Plan plan = cloudPlan("/home/author/data.csv");
  auto words = command(plan, "elsewhere", 1);
  words.insert(words.end(), {"--data", data});
  EXPECT_EQ(finish(start(words)), 0) << told();
}

TEST_F(TrainingTest, FullDisk) {
  // Alone, since the limit would hit the shared memory of MPI as well.
  Plan plan = cloudPlan(data);
  plan.loop.epochs = 1000;
  std::string call = "ulimit -f 64; exec";
  for (const std::string &word : command(plan, "full", 1))
    call += " '" + word + "'";
  EXPECT_EQ(finish(start({"bash", "-c", call})), 74) << told();
  EXPECT_EQ(count(told(), "metrics.jsonl: cannot write: File too large"), 1) << told();
}

TEST_F(TrainingTest, UnwritableRunDirectory) {
  folder.file("taken", "");
  Plan plan = cloudPlan(data);
  EXPECT_EQ(train(plan, "taken"), 74) << told();
}

TEST_F(TrainingTest, PythonReadsTheModel) {
  ASSERT_EQ(train(cloudPlan(data), "python"), 0);
  std::string out = folder.path + "/tensors";
  std::string call = "python3 " KFT_SOURCE_DIR "/tests/run/read_safetensors.py " + run("python") +
                     "/export/model.safetensors > " + out;
  int status = std::system(call.c_str());
  if (WEXITSTATUS(status) != 0) GTEST_SKIP() << "no python3 with safetensors and numpy";
  std::string text = readFile(out);
  EXPECT_NE(text.find("layers.0.weight [16, 8]"), std::string::npos) << text;
  EXPECT_NE(text.find("layers.3.bias [3]"), std::string::npos) << text;
}
