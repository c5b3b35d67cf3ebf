#include "runtime/launch/environment.h"
#include "runtime/launch/host.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

using namespace kft::run;

TEST(Host, ReadsTheQuotaOfBothCgroupVersions) {
  EXPECT_EQ(parseCpuMax("max 100000"), std::nullopt);
  EXPECT_EQ(parseCpuMax(""), std::nullopt);
  EXPECT_EQ(parseCpuMax("-1 100000"), std::nullopt);
  EXPECT_DOUBLE_EQ(*parseCpuMax("150000 100000"), 1.5);
}

TEST(Host, HasAtLeastOneSlotAndNoMoreThanCores) {
  const Slots slots = usableSlots();
  EXPECT_GE(slots.count, 1);
  EXPECT_LE(slots.count, static_cast<int>(slots.cores.size()));
}

TEST(Host, SaysWhyThereAreFewerSlotsThanCores) {
  Slots slots;
  slots.cores = {0, 1, 2, 3};
  EXPECT_EQ(slots.describe(), "4 cores");
  slots.quota = 1.5;
  EXPECT_EQ(slots.describe(), "1.5 of 4 cores (cgroup quota)");
}

TEST(Host, PicksKernelsByInstructions) {
  EXPECT_EQ(openblasCoreType("fpu sse4_2 avx avx2 fma"), "Haswell");
  EXPECT_EQ(openblasCoreType("avx2 fma avx512f avx512bw avx512dq avx512vl avx512cd"), "SkylakeX");
  EXPECT_EQ(openblasCoreType("fpu sse4_2 avx"), "");
  EXPECT_EQ(openblasCoreType("xavx2 fma"), "");
}

TEST(Host, TellsAProcessFromTheNextOneOfTheSameId) {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  const auto start = startTime(child);
  ASSERT_TRUE(start);
  ProcessRef right{child, *start}, wrong{child, *start + 1};
  EXPECT_TRUE(right.alive());
  EXPECT_FALSE(wrong.alive());
  EXPECT_FALSE(wrong.signal(SIGKILL));
  EXPECT_TRUE(right.alive());
  EXPECT_TRUE(right.signal(SIGKILL));
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(right.alive());
  EXPECT_FALSE(right.signal(SIGKILL));
}

TEST(Environment, SetsThreadsAndKernelsOnlyWhereTheUserDidNot) {
  unsetenv("OMP_NUM_THREADS");
  setenv("OPENBLAS_NUM_THREADS", "7", 1);
  setenv("OPENBLAS_CORETYPE", "Zen", 1);
  setenv("PATH", "/usr/bin", 1);
  const Environment env = rankEnvironment(3, {{"A", "1"}, {"PATH", "/opt/bin"}});
  EXPECT_EQ(env, (Environment{{"OMP_NUM_THREADS", "3"}, {"A", "1"}, {"PATH", "/opt/bin:/usr/bin"}}));
}

TEST(Environment, DoesNotWriteSecretsDown) {
  EXPECT_TRUE(looksSecret("HF_TOKEN"));
  EXPECT_TRUE(looksSecret("aws_secret_access_key"));
  EXPECT_FALSE(looksSecret("KEYBOARD"));
  const std::string text = describeEnvironment("kftc", "00", {{"HF_TOKEN", "hf_value"}, {"A", "seen"}}, usableSlots()).dump();
  EXPECT_EQ(text.find("hf_value"), std::string::npos);
  EXPECT_NE(text.find("seen"), std::string::npos);
}
