// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "options.hpp"

#include <kontor/config/limits.hpp>
#include <kontor/config/text.hpp>

#include <fmt/format.h>

using namespace made_up;

namespace {

const std::string head = "app: made_up\nproblem: {cells: [8, 8]}\n";

std::string repeated(std::string_view text, std::size_t times) {
  std::string result;
  while (times-- > 0) result += text;
  return result;
}

bool is_printable(const std::string& text) { return printable(text, '\n') == text; }

TEST(Limits, ATextMayHaveSoManyBytes) {
  const auto comment = [](std::size_t bytes) { return fmt::format("#{:{}}\n", "", bytes - head.size() - 2); };
  EXPECT_EQ(mistakes(head + comment(limits::bytes)), "");
  EXPECT_EQ(mistakes(head + comment(limits::bytes + 1)),
            "d.yaml: the file has more than 1048576 bytes; this is the most that it may have [LIMIT]");
}

TEST(Limits, NoMoreIsReadOfAFile) { EXPECT_EQ(read_text("/dev/zero").size(), limits::bytes + 1); }

TEST(Limits, AnAliasCountsAsWhatItStandsFor) {
  std::string bomb = head + "a: &a [x, x, x, x, x, x, x, x, x, x]\n";
  for (const std::string name : {"b", "c", "d", "e", "f", "g"})
    bomb += fmt::format("{0}: &{0} [{1}*{2}]\n", name, repeated(fmt::format("*{:c}, ", name[0] - 1), 9),
                        static_cast<char>(name[0] - 1));
  ASSERT_LT(bomb.size(), 400U);
  const auto said = mistakes(bomb);
  EXPECT_NE(said.find("d.yaml:6:"), std::string::npos) << said;
  EXPECT_NE(said.find("more than 10000 keys and values"), std::string::npos) << said;
  EXPECT_EQ(mistakes("app: made_up\nproblem: {cells: &n [8, 8], lengths: *n}\nfile: &f x\n"), "");
}

TEST(Limits, ADeckMayHaveSoManyNodes) {
  const auto numbers = [](std::size_t count) { return "  lengths: [" + repeated("1,", count) + "]\n"; };
  EXPECT_EQ(mistakes("app: a\nproblem:\n  cells: [8, 8]\n" + numbers(limits::nodes - 11)), "");
  EXPECT_EQ(mistakes("app: a\nproblem:\n  cells: [8, 8]\n" + numbers(limits::nodes - 10))
                .find("d.yaml:1:1: the file has more than 10000 keys and values"),
            0U);
  EXPECT_NE(mistakes("app: a\nproblem:\n  cells: [8, 8]\n" + numbers(limits::nodes)).find("d.yaml:4:"),
            std::string::npos);
  EXPECT_EQ(
      mistakes(head, {"problem.lengths=[" + repeated("1,", limits::nodes) + "]"}).find("--set problem.lengths=[1,1,"),
      0U);
}

/// The deck's own level counts.
TEST(Limits, NestingMayHaveSoManyLevels) {
  const auto lists = [](std::size_t levels) { return repeated("[", levels) + repeated("]", levels); };
  const auto sections = [](std::size_t levels) { return repeated("{a: ", levels) + "1" + repeated("}", levels); };
  const auto too_deep = [](std::size_t column) {
    return fmt::format("d.yaml:3:{}: sections and lists stand inside each other more than 32 deep", column);
  };
  const auto levels = limits::depth - 1;
  EXPECT_EQ(mistakes(head + "deep: " + lists(levels) + "\n").find("d.yaml:3:1: deep is unknown"), 0U);
  EXPECT_EQ(mistakes(head + "deep: " + lists(levels + 1) + "\n").find(too_deep(7 + levels)), 0U);
  EXPECT_EQ(mistakes(head + "deep: " + sections(levels) + "\n").find("d.yaml:3:1: deep is unknown"), 0U);
  EXPECT_EQ(mistakes(head + "deep: " + sections(levels + 1) + "\n").find(too_deep(7 + 4 * levels)), 0U);
}

TEST(Limits, NestingHasAnEnd) {
  for (const std::string open : {"[", "{a: ", "- ", "? "}) {
    SCOPED_TRACE(open);
    const std::string before = open == "- " || open == "? " ? "\n  " : "";
    const auto said = mistakes(head + "deep: " + before + repeated(open, 100'000));
    EXPECT_NE(said.find("more than 32 deep"), std::string::npos) << said;
    EXPECT_LT(said.size(), 500U);
  }
}

TEST(Limits, AKeyOfAnOverrideHasAnEnd) {
  const auto said = mistakes(head, {"problem" + repeated(".c", 10'000) + "=1"});
  EXPECT_NE(said.find("10001 sections deep"), std::string::npos) << said;
  EXPECT_LT(said.size(), 500U);
  EXPECT_NE(mistakes(head, {"problem" + repeated(".c", limits::depth) + "=1"}).find("33 sections deep"),
            std::string::npos);
  EXPECT_NE(mistakes(head, {"problem" + repeated(".c", limits::depth - 1) + "=1"}).find("c is unknown"),
            std::string::npos);
}

TEST(Limits, AFormulaMayHaveSoManyCharacters) {
  const auto sum = [](std::size_t characters) {
    return "problem.initial=" + std::string(characters % 2 == 0 ? "10" : "1") + repeated("+x", (characters - 1) / 2);
  };
  EXPECT_EQ(mistakes(head, {sum(limits::formula)}), "");
  const auto said = mistakes(head, {sum(limits::formula + 1)});
  EXPECT_NE(said.find("it has 4097 characters; a formula may have 4096"), std::string::npos) << said;
}

TEST(Limits, SoManyMistakesAreListed) {
  std::string deck = head;
  for (int i = 0; i < 3000; ++i) deck += fmt::format("key_{}: {}\n", i, i);
  try {
    read(deck);
    FAIL() << "the deck was accepted";
  } catch (const Error& error) {
    ASSERT_EQ(error.messages().size(), limits::mistakes);
    EXPECT_EQ(error.messages()[0].find("d.yaml:3:1: key_0 is unknown"), 0U);
    EXPECT_TRUE(error.messages().back().ends_with("\nand 2980 more mistakes, which are not listed"));
  }
}

TEST(Limits, LongValuesAreCut) {
  const std::string end = std::string(limits::shown, 'x') + "\"... (5000 bytes) [WORD]";
  EXPECT_EQ(mistakes(head + "comm: {backend: " + std::string(5000, 'x') + "}\n"),
            "d.yaml:3:17: comm.backend: \"" + end);
  for (const auto& text : {std::string(1000, 'k') + ": 1", "file: !" + std::string(1000, 't') + " x",
                           std::string(1000, 'k') + ": 1\n" + std::string(1000, 'k') + ": 1",
                           "problem: {boundary: {x_min: {" + std::string(1000, 'k') + ": 1}}}",
                           "comm: {" + std::string(1000, 'k') + ": {a: 1, a: 2}}"}) {
    const auto said = mistakes("app: made_up\n" + text + "\n");
    EXPECT_NE(said.find("... (100"), std::string::npos) << said;
    EXPECT_LT(said.size(), 1000U);
  }
  EXPECT_LT(mistakes(head, {"comm.backend=" + std::string(5000, 'x')}).size(), 500U);
  EXPECT_LT(mistakes(head, {"problem.initial=" + std::string(4000, 'y')}).size(), 1000U);
}

TEST(Limits, ATextMayHaveSoManyBytesToo) {
  EXPECT_EQ(mistakes(head + "file: " + std::string(limits::text, 'x') + "\n"), "");
  const auto said = mistakes(head + "file: " + std::string(100'000, 'x') + "\n");
  EXPECT_EQ(said.find("d.yaml:3:7: file: \"xxx"), 0U) << said;
  EXPECT_LT(said.size(), 200U);
}

TEST(Limits, ATabThatIndentsIsNamed) {
  for (const auto& [text, place] : {std::pair("problem:\n\tcells: [8, 8]\n", "line 3 is indented by a tab"),
                                    std::pair("problem:\n  cells: [8, 8]\n\tx: 1\n", "line 4 is indented by a tab")}) {
    const auto said = mistakes("app: made_up\n" + std::string(text));
    EXPECT_NE(said.find("malformed YAML"), std::string::npos) << said;
    EXPECT_NE(said.find(place), std::string::npos) << said;
  }
}

TEST(Limits, ControlCharactersAreEscaped) {
  EXPECT_EQ(mistakes(head + "comm: {backend: \"r\\ea\\nw\\x7f\\Lz\"}\n"),
            "d.yaml:3:17: comm.backend: \"r\\x1ba\\x0aw\\x7f\\xe2\\x80\\xa8z\" [WORD]");
  for (const std::string text :
       {"\"k\\e\\n\": 1", "file: {\"\\e\": 1, \"\\e\": 2}", "problem: {boundary: {x_min: {\"\\e\": 1}}}"})
    EXPECT_TRUE(is_printable(mistakes("app: made_up\n" + text + "\n"))) << text;
  const auto said = mistakes(head, {"comm.backend=a\x1b[2J", "problem.initial=\"x+\x1b\"", "\x1b.x=1"});
  EXPECT_TRUE(is_printable(said)) << said;
  EXPECT_NE(said.find("a\\x1b[2J"), std::string::npos) << said;
}

TEST(Limits, AnAppIsAName) {
  for (const std::string name : {"\"\\e[2J\"", "../bin/sh", "\"\"", "a b"}) {
    const auto said = error_of([&] { (void)Deck::parse("app: " + name, "d.yaml").app(); });
    EXPECT_TRUE(said.starts_with("d.yaml:1:6: app: found \"")) << name << said;
  }
}

TEST(Text, IsPrintable) {
  EXPECT_EQ(printable("plain \\ text: \xc3\xa4, \xe2\x82\xac, \xf0\x9f\x98\x80"),
            "plain \\ text: \xc3\xa4, \xe2\x82\xac, \xf0\x9f\x98\x80");
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");                            // not UTF-8, and cut off
  EXPECT_EQ(printable("\xc0\x80\xed\xa0\x80"), "\\xc0\\x80\\xed\\xa0\\x80"); // too long, and a surrogate
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");                            // a control character above 127
  EXPECT_EQ(printable("a\nb\tc", '\n'), "a\nb\\x09c");
}

TEST(Text, IsCutBetweenCharacters) {
  EXPECT_EQ(in_quotes(std::string(limits::shown, 'x')), '"' + std::string(limits::shown, 'x') + '"');
  EXPECT_EQ(shown(repeated("\xc3\xa4", 100)), repeated("\xc3\xa4", limits::shown) + "... (200 bytes)");
}

} // namespace
