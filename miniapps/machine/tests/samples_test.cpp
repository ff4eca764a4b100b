// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/distribution.hpp"
#include "machine/energy.hpp"
#include "run/tests/first_ranks.hpp"

#include <kontor/device/compat.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <unistd.h>

namespace {

using namespace kontor::miniapp;
using namespace kontor;
using test::world;

TEST(Distribution, HasTheQuantilesOfAllRanks) {
  const int ranks = world().size();
  Distribution mine;
  for (int i = world().rank(); i < 1000; i += ranks) mine.add(1e-6 * (i + 1)); // 1 to 1000 us, dealt out
  const auto all = mine.over_ranks(world());
  if (world().rank() != 0) return;
  EXPECT_EQ(all["count"], 1000);
  for (const auto& [quantile, value] : {std::pair("p50", 500e-6), {"p95", 950e-6}, {"p99", 990e-6}})
    EXPECT_NEAR(all[quantile].get<double>(), value, 0.005 * value);
  EXPECT_EQ(all["max"], 1000e-6);
  EXPECT_EQ(all["slowest_rank"], 999 % ranks);
}

TEST(Distribution, CountsWhatItsBinsDoNotReachButNotZero) {
  Distribution mine;
  for (const double sample : {0.0, -1.0, 1e-12, 1e6}) mine.add(sample);
  auto all = mine.over_ranks(world());
  if (world().rank() == 0) {
    EXPECT_EQ(all["count"], 2 * world().size());
    EXPECT_EQ(all["max"], 1e6);
    EXPECT_LT(all["p50"], 1e-9);
  }
  mine.clear();
  all = mine.over_ranks(world());
  if (world().rank() != 0) return;
  EXPECT_EQ(all["count"], 0);
  EXPECT_EQ(all["p99"], 0);
}

TEST(Noise, IsRelativeToTheFastestSampleOfARank) {
  const double fastest = 1e-4 * (1 + world().rank()); // a slower rank is no noise
  std::vector<double> seconds(100, 1.25 * fastest);
  seconds[7] = fastest;
  if (world().rank() == world().size() - 1) seconds[3] = 3 * fastest;
  const auto noise = noise_of(world(), seconds);
  if (world().rank() != 0) return;
  EXPECT_EQ(noise["quantum"], 1e-4);
  EXPECT_EQ(noise["samples"], 100 * world().size());
  for (const auto& [quantile, value] : {std::pair("p50", 1.25), {"p99", 1.25}, {"max", 3}})
    EXPECT_NEAR(noise[quantile].get<double>(), value, 0.002);
  EXPECT_EQ(noise["slowest_rank"], world().size() - 1);
}

TEST(Noise, IsMeasured) {
  const auto noise = measure_noise(world());
  if (world().rank() != 0) return;
  EXPECT_GT(noise["quantum"], 0);
  EXPECT_EQ(noise["samples"], 400 * world().size());
  EXPECT_LE(noise["p50"], noise["p99"]);
  EXPECT_LE(noise["p50"], noise["max"].get<double>() * 1.01);
}

/// A powercap tree of this process: two packages, a domain of one of them and the whole platform.
class Powercap : public testing::Test {
 protected:
  Powercap() {
    package(0, "package-0", 900'000'000);
    package(1, "package-1", 5'000'000);
    zone("intel-rapl:0:0", "core", 1'000'000);
    zone("intel-rapl:2", "psys", 7'000'000);
  }
  ~Powercap() override { std::filesystem::remove_all(root); }

  void package(int number, const std::string& name, std::int64_t microjoules) {
    zone(fmt::format("intel-rapl:{}", number), name, microjoules);
  }
  void zone(const std::string& folder, const std::string& name, std::int64_t microjoules) {
    const auto path = root / "sys/class/powercap" / folder;
    std::filesystem::create_directories(path);
    std::ofstream(path / "name") << name << '\n';
    std::ofstream(path / "max_energy_range_uj") << 1'000'000'000 << '\n';
    std::ofstream(path / "energy_uj") << microjoules << '\n';
  }

  std::filesystem::path root = std::filesystem::temp_directory_path() / fmt::format("powercap-{}", getpid());
};

TEST_F(Powercap, PackagesAreAddedUpAcrossAWrapAround) {
  const auto joules = package_energy(root);
  EXPECT_EQ(joules(), 0);
  package(0, "package-0", 950'000'000);
  package(1, "package-1", 7'000'000);
  zone("intel-rapl:2", "psys", 90'000'000);
  EXPECT_DOUBLE_EQ(joules(), 52);
  package(0, "package-0", 30'000'000); // 80 J more: the counter began at 0 again
  EXPECT_DOUBLE_EQ(joules(), 132);
  std::filesystem::remove(root / "sys/class/powercap/intel-rapl:1/energy_uj");
  EXPECT_TRUE(std::isnan(joules()));
  EXPECT_TRUE(std::isnan(package_energy(root)()));
  std::filesystem::remove_all(root);
  EXPECT_TRUE(std::isnan(package_energy(root)()));
}

/// Of counters by which rank r of p takes 4 + r J and the package nothing, or what cannot be read.
TEST(Energy, IsTheMeanPowerOfAllRanksTimesARepeatWhereAllCanBeRead) {
  const bool last = world().rank() == world().size() - 1;
  EnergyMeter meter(
      {[sum = 0.0]() mutable { return sum += 4.0 + world().rank(); }, [last] { return last ? std::nan("") : 0.0; }});
  meter.begin(10);
  meter.end(10.5);
  const auto brief = meter.over_ranks(world(), 3);
  meter.begin(10);
  meter.end(12);
  const auto energy = meter.over_ranks(world(), 3);
  if (world().rank() != 0) return;
  const double ranks = world().size();
  EXPECT_TRUE(brief.empty());
  EXPECT_EQ(energy.size(), 1u);
  EXPECT_DOUBLE_EQ(energy["gpu"].get<double>(), (4 * ranks + ranks * (ranks - 1) / 2) * 3 / 2);
}

TEST(Energy, OfAHostHasNoGpu) {
  EnergyMeter meter(world());
  meter.begin(0);
  meter.end(2);
  const auto energy = meter.over_ranks(world(), 1);
  EXPECT_FALSE(device::kernels_on_host && energy.contains("gpu"));
}

} // namespace
