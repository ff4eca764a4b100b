// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What apps share to judge a run: places, counts, values of files, restored state.
#include "run/tests/first_ranks.hpp"
#include "run/tests/loan.hpp"
#include "run/verify/digest.hpp"
#include "run/verify/places.hpp"

#include <gtest/gtest.h>

#include <set>

namespace kontor::miniapp {
namespace {

const comm::Communicator& world() {
  static const comm::Communicator all(MPI_COMM_WORLD);
  return all;
}

TEST(Places, AreOfEachKind) {
  auto random = generator_of(7, 0);
  // The upper part of an array that is cut along x.
  const auto places = sample_places({{10, 6, 1}, {5, 0, 0}, {5, 6, 1}}, 3, random);
  std::set<std::string> kinds;
  for (const auto& place : places) {
    kinds.insert(place.kind);
    EXPECT_TRUE(place.index[0] >= 0 && place.index[0] < 5 && place.index[1] < 6 && place.index[2] == 0);
    if (place.kind == "x_cut_min y_max") {
      EXPECT_EQ(place.index, (std::array<std::int64_t, 3>{0, 5, 0}));
    }
  }
  EXPECT_EQ(kinds, (std::set<std::string>{"x_cut_min y_min", "y_min", "x_max y_min", "x_cut_min", "inside", "x_max",
                                          "x_cut_min y_max", "y_max", "x_max y_max", "random"}));
  EXPECT_EQ(places.size(), 12);
}

TEST(Places, DifferByRankAndSeedAlone) {
  const auto numbers = [](std::uint64_t seed, int rank) {
    auto random = generator_of(seed, rank);
    return sample_numbers(1'000'000, 20, random);
  };
  const auto some = numbers(1, 0);
  EXPECT_EQ(some.size(), 20);
  EXPECT_TRUE(std::ranges::is_sorted(some));
  EXPECT_EQ(some, numbers(1, 0));
  EXPECT_NE(some, numbers(2, 0));
  EXPECT_NE(some, numbers(1, 1));
  auto random = generator_of(1, 0);
  EXPECT_EQ(sample_numbers(3, 20, random), (std::vector<std::int64_t>{0, 1, 2}));
}

TEST(Counts, MustAgree) {
  const StepCounts right{.unit = "steps", .of_deck = 9, .of_loop = 9, .of_figure = 9, .of_field = 9};
  EXPECT_TRUE(verify_counts(right).passed());
  for (const auto member : {&StepCounts::of_loop, &StepCounts::of_figure, &StepCounts::of_field}) {
    auto wrong = right;
    wrong.*member -= 1;
    EXPECT_EQ(verify_counts(wrong).error, 1);
    wrong.of_deck.reset();
    EXPECT_FALSE(verify_counts(wrong).passed());
  }
  auto late = right;
  late.of_deck = 10;
  EXPECT_FALSE(verify_counts(late).passed());
  auto timed = right;
  timed.end_of_deck = timed.end_of_field = 0.5;
  EXPECT_TRUE(verify_counts(timed).passed());
  timed.end_of_field *= 0.97;
  EXPECT_FALSE(verify_counts(timed).passed());
}

TEST(Digest, SeesBitsAndPlaces) {
  EXPECT_NE(digest_of(1, 0.0), digest_of(1, -0.0));
  EXPECT_NE(digest_of(1, 2.0) + digest_of(2, 3.0), digest_of(1, 3.0) + digest_of(2, 2.0));
}

TEST(Verdict, IsThatOfTheFirstCheckThatFails) {
  Verification result{.measure = "first", .judged = {"a"}};
  also(result, [] { return Verification{.measure = "second", .error = 1, .judged = {"a", "b"}}; });
  also(result, [] { return Verification{.measure = "third", .error = 2, .judged = {"c"}}; });
  EXPECT_EQ(result.measure, "second");
  EXPECT_EQ(result.judged, (std::vector<std::string>{"a", "b"}));
}

/// Writes two values of each rank.
std::vector<double> written(output::File& file, double shift = 0) {
  const auto rank = static_cast<std::uint64_t>(world().rank()), ranks = static_cast<std::uint64_t>(world().size());
  std::vector<double> mine{10.0 * static_cast<double>(rank), shift + 10.0 * static_cast<double>(rank) + 1};
  file.dataset("/fields/u", {{2 * ranks}, {2 * rank}, {2}}, mine.data());
  return mine;
}

TEST(FileValues, AreReadBackByGlobalIndex) {
  const test::Folder folder("verify");
  output::File file(world().native(), folder / "fields.h5");
  const auto mine = written(file);
  const auto first = 2 * static_cast<std::uint64_t>(world().rank());
  auto values = gather(world(), {{"/fields/u", {first}, mine[0]}, {"/fields/u", {first + 1}, mine[1]}});
  std::vector<double> errors;
  const auto names = file.commit([&](const std::filesystem::path& path) {
    errors.push_back(compare_with_file(path, values).error);
    std::swap(values.front().index, values.back().index); // as if two ranks' blocks were exchanged
    errors.push_back(compare_with_file(path, values).error);
    values.front().dataset = "/fields/v";
    errors.push_back(compare_with_file(path, values).error);
    return false;
  });
  EXPECT_TRUE(names.empty());
  EXPECT_FALSE(std::filesystem::exists(folder / "fields.h5"));
  if (world().rank() > 0) return;
  EXPECT_EQ(errors, (std::vector<double>{0, 2, 2}));
}

TEST(RestoredState, IsComparedBitForBit) {
  const test::Folder folder("verify");
  {
    output::File file(world().native(), folder / "state.h5");
    written(file);
    file.record("/numbers", {{"sweeps", 7}});
    file.commit();
  }
  const output::Reader reader(world().native(), folder / "state.h5");
  output::File same(world().native(), reader), other(world().native(), reader);
  written(same);
  same.record("/numbers", {{"sweeps", 7}});
  EXPECT_TRUE(same.differences().empty());
  written(other, world().rank() + 1 == world().size() ? 1e-9 : 0);
  other.record("/numbers", world().rank() == 0 ? nlohmann::ordered_json{{"sweeps", 8}, {"time", 1}}
                                               : nlohmann::ordered_json::object()); // rank 0's count
  EXPECT_EQ(other.differences(), (std::vector<std::string>{"/fields/u", "/numbers/sweeps", "/numbers/time"}));
}

} // namespace
} // namespace kontor::miniapp
