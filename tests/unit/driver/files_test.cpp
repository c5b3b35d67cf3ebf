#include "compiler/driver/files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace kft::driver {
namespace {

namespace fs = std::filesystem;

struct FilesTest : testing::Test {
  fs::path folder = fs::path(testing::TempDir()) / ("kft_files_" + std::to_string(::getpid()));
  void SetUp() override {
    fs::remove_all(folder);
    fs::create_directories(folder);
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string path(const char *name) { return (folder / name).string(); }
  std::string read(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  size_t count() { return static_cast<size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator())); }
  static std::string failure(llvm::Error error) { return llvm::toString(std::move(error)); }
};

TEST_F(FilesTest, WritesWholeFilesAndKeepsPermissions) {
  std::string file = path("a.yaml");
  ASSERT_EQ(failure(writeFile(file, "one\n")), "");
  EXPECT_EQ(read(file), "one\n");
  ASSERT_EQ(::chmod(file.c_str(), 0640), 0);
  ASSERT_EQ(failure(writeFile(file, "two\n")), "");
  EXPECT_EQ(read(file), "two\n");
  struct stat status;
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640u);
  EXPECT_EQ(count(), 1u) << "no temporary file stays";
}

TEST_F(FilesTest, ALinkStaysALink) {
  std::string file = path("a.yaml"), link = path("b.yaml");
  ASSERT_EQ(failure(writeFile(file, "one\n")), "");
  fs::create_symlink("a.yaml", link);
  ASSERT_EQ(failure(writeFile(link, "two\n")), "");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(read(file), "two\n");
  EXPECT_TRUE(sameFile(file, link));
  EXPECT_FALSE(sameFile(file, path("c.yaml")));
}

TEST_F(FilesTest, SeveralFilesAllOrNone) {
  std::string good = path("a.yaml");
  ASSERT_EQ(failure(writeFile(good, "old\n")), "");
  fs::create_directory(path("b.yaml"));
  std::string failed;
  EXPECT_EQ(failure(writeFiles({{good, "new\n"}, {path("b.yaml"), "new\n"}}, failed)), "Is a directory");
  EXPECT_EQ(failed, path("b.yaml"));
  EXPECT_EQ(read(good), "old\n");
  EXPECT_EQ(count(), 2u);
  EXPECT_EQ(failure(writeFiles({{good, "new\n"}, {path("c.yaml"), "new\n"}}, failed)), "");
  EXPECT_EQ(read(good), "new\n");
}

TEST_F(FilesTest, DevicesAreWrittenTo) { EXPECT_EQ(failure(writeFile("/dev/null", "text")), ""); }

TEST_F(FilesTest, ReasonsAreThoseOfTheSystem) {
  EXPECT_EQ(failure(writeFile(path("no/such/folder.yaml"), "x")), "No such file or directory");
  ASSERT_EQ(failure(writeFile(path("file"), "x")), "");
  EXPECT_EQ(failure(makeDirectory(path("file"))), "Not a directory");
  EXPECT_EQ(failure(makeDirectory(path("a/b/c"))), "");
  EXPECT_EQ(failure(makeDirectory(path("a/b/c"))), "");
}

} // namespace
} // namespace kft::driver
