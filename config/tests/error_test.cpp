// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <kontor/config/error.hpp>

#include <gtest/gtest.h>

using kontor::config::Error;
using kontor::errors::with_id;

namespace {

TEST(ErrorId, EndsTheFirstLine) {
  EXPECT_EQ(with_id("a", "E-MEMORY"), "a [E-MEMORY]");
  EXPECT_EQ(with_id("a\nb", "E-MEMORY"), "a [E-MEMORY]\nb");
}

TEST(ErrorId, IsThatOfTheQuotedMessage) {
  EXPECT_EQ(with_id("a: b [E-VERIFY]; c", "E-MEMORY"), "a: b; c [E-VERIFY]");
  EXPECT_EQ(with_id("b [E-VERIFY] c [E-FILE-READ]", "E-MEMORY"), "b c [E-VERIFY]");
  EXPECT_EQ(with_id("a\nb [E-VERIFY]", "E-MEMORY"), "a [E-MEMORY]\nb [E-VERIFY]");
}

TEST(ErrorId, IsNotWhatLooksAlike) {
  for (const std::string text : {"a [E-", "a [E-x]", "a [e-verify]", "a[E-VERIFY]", "[E-VERIFY"})
    EXPECT_EQ(with_id(text, "E-MEMORY"), text + " [E-MEMORY]");
}

TEST(ErrorId, IsGivenToEachMistake) {
  const Error error({"a", "b [E-VERIFY]"}, "E-DECK-KEY");
  EXPECT_STREQ(error.what(), "a [E-DECK-KEY]\nb [E-VERIFY]");
}

} // namespace
