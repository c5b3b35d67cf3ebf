#include "tests/unit/plan/fixture.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace kft;

namespace {

struct Data : PlanFixture {
  std::string folder;
  void SetUp() override {
    PlanFixture::SetUp();
    char path[] = "/tmp/kft-plan-XXXXXX";
    folder = mkdtemp(path);
    job.dataset->localPath = folder + "/data.csv";
    job.model->input = {2};
    job.model->layers.back().args[0].second = integer(3);
    job.trainer->native->schedule = spec("constant", {{"warmup", integer(0)}});
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  void write(const std::string &text) { std::ofstream(job.dataset->localPath) << text; }
  void rows(int count) {
    std::string text = "a,b,label\n";
    for (int i = 0; i < count; ++i) text += std::to_string(i) + ",1," + std::to_string(i % 3) + "\n";
    write(text);
  }
  bool look() {
    plan = make();
    EXPECT_TRUE(plan) << all();
    return plan && plan::lookAtData(*plan, job, compilation);
  }
  std::optional<run::Plan> plan;
};

} // namespace

TEST_F(Data, RowsStepsAndHash) {
  rows(400);
  ASSERT_TRUE(look()) << all();
  EXPECT_TRUE(compilation.diags.all().empty()) << all();
  EXPECT_EQ(plan->data.rows, 400);
  EXPECT_EQ(plan->data.testRows, 100);
  EXPECT_EQ(plan->data.trainRows, 300);
  EXPECT_EQ(plan->loop.stepsPerEpoch, 5); // 64 · 4 + 44
  EXPECT_EQ(plan->loop.steps, 100);
  EXPECT_EQ(plan->data.sha256.size(), 64u);
}

TEST_F(Data, TheHashFollowsTheBytesAndNotThePlace) {
  rows(400);
  ASSERT_TRUE(look());
  const std::string first = run::hash(*plan);
  std::filesystem::rename(job.dataset->localPath, folder + "/moved.csv");
  job.dataset->localPath = folder + "/moved.csv";
  ASSERT_TRUE(look());
  EXPECT_EQ(run::hash(*plan), first);
  rows(401);
  ASSERT_TRUE(look());
  EXPECT_NE(run::hash(*plan), first);
}

TEST_F(Data, MissingFile) {
  EXPECT_FALSE(look());
  expectOnly(diag::DataMissing::id, "`./data.csv` cannot be read; cannot open: No such file or directory", "./data.csv");
  EXPECT_EQ(compilation.diags.all()[0].notes.at(0).message, "looked for at `" + job.dataset->localPath + "`");
}

TEST_F(Data, RaggedRowIsNamedByItsLine) {
  write("a,b,label\n1,2,0\n1,2\n3,4,1\n");
  EXPECT_FALSE(look());
  ASSERT_EQ(compilation.diags.all().size(), 1u);
  EXPECT_EQ(compilation.diags.all()[0].id, diag::DataInvalid::id);
  EXPECT_TRUE(llvm::StringRef(compilation.diags.all()[0].message).startswith("./data.csv:3: 2 cells")) << all();
}

TEST_F(Data, TextCell) {
  write("a,b,label\n1,two,0\n1,2,1\n");
  EXPECT_FALSE(look());
  EXPECT_TRUE(llvm::StringRef(compilation.diags.all()[0].message).startswith("./data.csv:2: column `b`")) << all();
}

TEST_F(Data, NoRows) {
  write("a,b,label\n");
  EXPECT_FALSE(look());
  EXPECT_EQ(compilation.diags.all()[0].id, diag::DataInvalid::id);
  write("");
  EXPECT_FALSE(look());
}

TEST_F(Data, LabelOutOfRangePointsAtTheLastLayerToo) {
  write("a,b,label\n1,2,0\n1,2,3\n1,2,1\n");
  EXPECT_FALSE(look());
  ASSERT_EQ(compilation.diags.all().size(), 1u);
  const Diagnostic &diagnostic = compilation.diags.all()[0];
  EXPECT_TRUE(llvm::StringRef(diagnostic.message).startswith("./data.csv:3:")) << all();
  ASSERT_FALSE(diagnostic.notes.empty()) << all();
  EXPECT_EQ(compilation.sources.text(diagnostic.notes[0].range), "nn.dense(10)");
}

TEST_F(Data, LabelColumnMissing) {
  write("a,b,lable\n1,2,0\n1,2,1\n");
  EXPECT_FALSE(look());
  EXPECT_NE(compilation.diags.all()[0].message.find("`label`"), std::string::npos) << all();
  EXPECT_NE(compilation.diags.all()[0].message.find("lable"), std::string::npos) << all();
}

TEST_F(Data, FeatureCountPointsAtTheInput) {
  write("a,b,c,label\n1,2,3,0\n1,2,3,1\n1,2,3,2\n1,2,3,0\n");
  EXPECT_FALSE(look());
  expectOnly(diag::FeatureCount::id, "the input [2] takes 2 numbers; a row of `./data.csv` has 3", "[64]");
}

TEST_F(Data, FewerRowsThanRanks) {
  job.nodes = 16;
  rows(16);
  EXPECT_FALSE(look());
  expectOnly(diag::TooFewRows::id, "`./data.csv` gives 12 rows to train on; 16 ranks need at least one each", "./data.csv");
}

TEST_F(Data, ABatchOfAllRowsIsSaid) {
  rows(40);
  EXPECT_TRUE(look());
  expectOnly(diag::BatchOverRows::id, "`batch` is 64, but there are 30 rows to train on; every step takes all of them", "batch 64");
  EXPECT_EQ(plan->loop.stepsPerEpoch, 1);
}

TEST_F(Data, ScoresWithoutAClassAreSaid) {
  job.model->layers.back().args[0].second = integer(5);
  rows(400);
  EXPECT_TRUE(look());
  expectOnly(diag::ClassesUnused::id, "the model ends with 5 scores, but the labels go from 0 to 2 only", "nn.dense(10)");
}

TEST_F(Data, RemoteDataAreNotHere) {
  job.dataset->isRemote = true;
  job.dataset->source = "hf://org/digits";
  EXPECT_FALSE(look());
  expectOnly(diag::DataRemote::id, "`hf://org/digits` is not on this machine; the native engine reads local files", "./data.csv");
}
