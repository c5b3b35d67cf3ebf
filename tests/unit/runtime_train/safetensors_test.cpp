#include "runtime/train/safetensors.h"
#include "tests/unit/runtime_train/run_here.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace kft::run;

TEST(Safetensors, HeaderAndFloats) {
  Folder folder;
  Plan plan = cloudPlan(folder.file("data.csv", clouds(50)));
  plan.data.normalize = "minmax", plan.data.scale = 0.5;
  RunHere here(plan);
  here.run();
  std::string path = folder.path + "/export/model.safetensors";
  int64_t size = writeSafetensors(path, here.plan, here.trainer.model(), here.data);
  std::string bytes = readFile(path);
  ASSERT_EQ(int64_t(bytes.size()), size);
  uint64_t length;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ(length % 8, 0u);
  auto header = nlohmann::json::parse(bytes.substr(8, length));
  EXPECT_EQ(header["__metadata__"]["format"], "pt");
  EXPECT_EQ(header["__metadata__"]["plan_sha256"], hash(plan));
  EXPECT_EQ(header["layers.0.weight"]["dtype"], "F32");
  EXPECT_EQ(header["layers.0.weight"]["shape"], (std::vector<int64_t>{16, 8}));
  EXPECT_EQ(header["layers.3.bias"]["shape"], std::vector<int64_t>{3});
  EXPECT_EQ(header["input.factor"]["shape"], std::vector<int64_t>{8});
  // Offsets are dense and end with the file.
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (auto &item : header.items())
    if (item.key() != "__metadata__")
      ranges.push_back({item.value()["data_offsets"][0], item.value()["data_offsets"][1]});
  std::sort(ranges.begin(), ranges.end());
  int64_t at = 0;
  for (auto &[begin, end] : ranges) {
    EXPECT_EQ(begin, at);
    at = end;
  }
  EXPECT_EQ(at + 8 + int64_t(length), size);
  auto parameters = here.parameters();
  EXPECT_EQ(std::memcmp(bytes.data() + 8 + length, parameters.data(), parameters.size() * sizeof(float)), 0);
  EXPECT_FALSE(std::filesystem::exists(path + ".tmp"));
}

TEST(Safetensors, UnwritablePlace) {
  Folder folder;
  Plan plan = cloudPlan(folder.file("data.csv", clouds(50)));
  RunHere here(plan);
  std::string file = folder.file("file", "");
  EXPECT_THROW(writeSafetensors(file + "/export/model.safetensors", plan, here.trainer.model(), here.data), Error);
}
