#include "compiler/basic/source_files.h"

#include <gtest/gtest.h>

#include <fstream>
#include <unistd.h>

namespace kft {
namespace {

TEST(SourceFiles, LinesAndColumnsCountCharacters) {
  SourceFiles sources;
  FileId file = sources.add("a.kft", "a = 1\n\xC3\xA4 = \"\xF0\x9F\x98\x80\"\r\nb");
  EXPECT_EQ(sources.lineColumn(file, 0).line, 1u);
  EXPECT_EQ(sources.lineColumn(file, 0).column, 1u);
  LineColumn after = sources.lineColumn(file, 9); // behind `ä `, three bytes after the line's start
  EXPECT_EQ(after.line, 2u);
  EXPECT_EQ(after.column, 3u);
  EXPECT_EQ(sources.lineText(file, 2), "\xC3\xA4 = \"\xF0\x9F\x98\x80\"") << "the line end is no part of the line";
  EXPECT_EQ(sources.lineText(file, 3), "b");
  EXPECT_EQ(sources.lineText(file, 4), "");
  EXPECT_EQ(sources.lineColumn(file, 10'000).line, 3u) << "beyond the end is the end";
}

TEST(SourceFiles, AnEmptyFileHasOneLine) {
  SourceFiles sources;
  FileId file = sources.add("a.kft", "");
  EXPECT_EQ(sources.lineColumn(file, 0).line, 1u);
  EXPECT_EQ(sources.lineText(file, 1), "");
}

TEST(SourceFiles, OneFileOneId) {
  std::string folder = testing::TempDir() + "kft_sources_" + std::to_string(::getpid());
  std::string path = folder + ".kft", link = folder + "_link.kft";
  std::ofstream(path) << "a = 1\n";
  ASSERT_EQ(::symlink(path.c_str(), link.c_str()), 0);
  SourceFiles sources;
  auto first = sources.load(path);
  auto second = sources.load(link);
  ASSERT_TRUE(static_cast<bool>(first));
  ASSERT_TRUE(static_cast<bool>(second));
  EXPECT_EQ(*first, *second);
  EXPECT_EQ(sources.text(*first), "a = 1\n");
  ::unlink(path.c_str());
  ::unlink(link.c_str());
  auto gone = sources.load("/nowhere/at/all.kft");
  EXPECT_EQ(llvm::toString(gone.takeError()), "No such file or directory");
  auto folderItself = sources.load(testing::TempDir());
  EXPECT_EQ(llvm::toString(folderItself.takeError()), "it is a directory");
}

} // namespace
} // namespace kft
