#include "compiler/basic/explain.h"

#include <gtest/gtest.h>

namespace kft::explain {
namespace {

TEST(Explain, ReadsNumbersAsPeopleWriteThem) {
  EXPECT_EQ(parseId("KFT2203"), 2203);
  EXPECT_EQ(parseId("kft2203"), 2203);
  EXPECT_EQ(parseId("2203"), 2203);
  EXPECT_EQ(parseId("KFT220"), std::nullopt);
  EXPECT_EQ(parseId("KFT0001"), std::nullopt);
  EXPECT_EQ(parseId("-203"), std::nullopt);
  EXPECT_EQ(parseId(""), std::nullopt);
}

TEST(Explain, CatalogueIsSortedAndNotesAreNotInIt) {
  ASSERT_FALSE(catalogue().empty());
  for (size_t i = 1; i < catalogue().size(); ++i) EXPECT_LT(catalogue()[i - 1].id, catalogue()[i].id);
  for (const Row &row : catalogue()) EXPECT_NE(row.severity, Severity::Note);
  ASSERT_TRUE(find(2203));
  EXPECT_EQ(find(2203)->name, "UnknownField");
  EXPECT_EQ(find(1), nullptr);
}

TEST(Explain, PagesAreEmbedded) {
  EXPECT_TRUE(page(9004).startswith("# KFT9004: "));
  EXPECT_TRUE(page(1).empty());
}

} // namespace
} // namespace kft::explain
