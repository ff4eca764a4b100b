// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pingpong/fit.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace {

using namespace kontor::pingpong;

/// Messages of 8 bytes to 4 MiB that take `seconds(bytes)`, give or take `noise` of it.
template <class Seconds>
std::vector<Timed> samples(const Seconds& seconds, double noise = 0) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> disturbed(1 - noise, 1 + noise);
  std::vector<Timed> result;
  for (double bytes = 8; bytes <= 4 << 20; bytes *= 2) result.push_back({bytes, seconds(bytes) * disturbed(random)});
  return result;
}

const Line slow{5e-6, 1e-9};
const Line fast{1e-6, 0.2e-9};

TEST(Fit, FindsTheLine) {
  const auto line = fit_line(samples([](double n) { return slow.seconds(n); }));
  EXPECT_NEAR(line.alpha, slow.alpha, 1e-9 * slow.alpha);
  EXPECT_NEAR(line.beta, slow.beta, 1e-9 * slow.beta);
}

/// Without weights the longest message, disturbed by 3 %, would move alpha by a hundred times its value.
TEST(Fit, ShortMessagesCountAsMuchAsLongOnes) {
  const auto line = fit_line(samples([](double n) { return slow.seconds(n); }, 0.03));
  EXPECT_NEAR(line.alpha, slow.alpha, 0.03 * slow.alpha);
  EXPECT_NEAR(line.beta, slow.beta, 0.03 * slow.beta);
}

TEST(Fit, OneLineHasNoBreakAndFewSamplesMakeOne) {
  EXPECT_FALSE(fit_hockney(samples([](double n) { return slow.seconds(n); })).rendezvous);
  EXPECT_FALSE(fit_hockney(samples([](double n) { return slow.seconds(n); }, 0.05)).rendezvous);
  const std::vector<Timed> five{{1, 1e-6}, {2, 1e-6}, {4, 9e-6}, {8, 9e-6}, {16, 9e-6}};
  EXPECT_FALSE(fit_hockney(five).rendezvous);
}

TEST(Fit, FindsTheChangeOfProtocol) {
  const auto seconds = [](double n) { return n < 4096 ? fast.seconds(n) : slow.seconds(n); };
  for (const double noise : {0.0, 0.03}) {
    const auto model = fit_hockney(samples(seconds, noise));
    ASSERT_TRUE(model.rendezvous);
    EXPECT_EQ(model.switch_bytes, 4096);
    EXPECT_NEAR(model.eager.alpha, fast.alpha, 0.03 * fast.alpha);
    EXPECT_NEAR(model.rendezvous->alpha, slow.alpha, 0.03 * slow.alpha);
    EXPECT_NEAR(model.rendezvous->beta, slow.beta, 0.03 * slow.beta);
  }
}

} // namespace
