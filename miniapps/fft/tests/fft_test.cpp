// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lines have the sums of the definition; a field has the bits of one rank on any ranks; the check finds what is wrong.
#include "fft/check/exact.hpp"
#include "fft/fft.hpp"
#include "fft/kernels/lines.hpp"
#include "methods.hpp"
#include "run/tests/first_ranks.hpp"
#include "run/tests/loan.hpp"
#include "run/tests/refusal.hpp"
#include "run/tests/sized.hpp"

#include <kontor/comm/collectives.hpp>
#include <kontor/output/values_at.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <numbers>

namespace kontor::fft {
namespace {

using miniapp::test::world_size;

Options read(const std::string& problem, const std::string& others = "", std::int64_t steps = 2,
             int ranks = world_size()) {
  const auto solver = others.starts_with("solver") ? "" : fmt::format("solver: {{steps: {}}}\n", steps);
  const auto text = fmt::format("problem: {{{}}}\n{}{}", problem, solver, others);
  return miniapp::test::sized<Options>("fft", text, ranks, 1e8);
}

std::vector<Library> libraries() {
  std::vector<Library> here;
  for (const auto library : {Library::plain, Library::fftw, Library::cufft, Library::hipfft})
    if (!refusal_of(library)) here.push_back(library);
  return here;
}

/// Numbers without any symmetry.
template <class T>
std::vector<std::complex<T>> numbers(std::int64_t count) {
  std::vector<std::complex<T>> values;
  for (std::int64_t i = 0; i < count; ++i)
    values.emplace_back(static_cast<T>(std::sin(3.0 * i * i + 1)), static_cast<T>(std::cos(5.0 * i * i)));
  return values;
}

template <class T>
void expect_lines(Library library, std::int64_t n, std::int64_t lines) {
  SCOPED_TRACE(testing::Message() << n << " values, " << lines << " lines, library " << int(library));
  const auto in = numbers<T>(n * lines);
  const Kokkos::View<Complex<T>*> data("data", in.size());
  const auto host = Kokkos::create_mirror_view(data);
  for (std::size_t i = 0; i < in.size(); ++i) host(i) = Complex<T>(in[i].real(), in[i].imag());
  Kokkos::deep_copy(data, host);
  const auto plans = make_lines<T>(library, {n, false, lines});
  auto* const scalars = reinterpret_cast<T*>(data.data());
  plans->transform({}, scalars, scalars, lines, Direction::forward);
  Kokkos::fence();
  Kokkos::deep_copy(host, data);
  const double tolerance = 8 * std::numeric_limits<T>::epsilon() * static_cast<double>(n + 1);
  for (std::int64_t line = 0; line < lines; ++line)
    for (std::int64_t k = 0; k < n; ++k) {
      std::complex<double> sum = 0;
      for (std::int64_t j = 0; j < n; ++j)
        sum += std::complex<double>(in[line * n + j]) *
               std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(j * k % n) / static_cast<double>(n));
      ASSERT_NEAR(host(line * n + k).real(), sum.real(), tolerance * std::sqrt(n)) << k;
      ASSERT_NEAR(host(line * n + k).imag(), sum.imag(), tolerance * std::sqrt(n)) << k;
    }
  plans->transform({}, scalars, scalars, lines, Direction::backward);
  Kokkos::fence();
  Kokkos::deep_copy(host, data);
  for (std::size_t i = 0; i < in.size(); ++i)
    ASSERT_NEAR(host(i).real(), static_cast<double>(n) * in[i].real(), tolerance * n) << i;
}

TEST(Lines, HaveTheSumsOfTheDefinition) {
  for (const auto library : libraries())
    for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 12, 17, 30, 36, 64, 97}) {
      expect_lines<double>(library, n, 3);
      expect_lines<float>(library, n, 2);
    }
}

/// Half of the coefficients of complex lines, and values again.
TEST(Lines, OfRealValuesAreThoseOfComplexOnes) {
  for (const auto library : libraries())
    for (const std::int64_t n : {1, 2, 3, 4, 9, 16, 30}) {
      const std::int64_t lines = 3, half = n / 2 + 1;
      const Kokkos::View<double*> values("values", n * lines), back("back", n * lines);
      const Kokkos::View<Complex<double>*> all("all", n * lines), some("some", half * lines);
      const auto in = Kokkos::create_mirror_view(values), out = Kokkos::create_mirror_view(back);
      const auto wide = Kokkos::create_mirror_view(all), narrow = Kokkos::create_mirror_view(some);
      for (std::int64_t i = 0; i < n * lines; ++i) wide(i) = Complex<double>(in(i) = std::sin(2.0 * i * i + 1), 0);
      Kokkos::deep_copy(values, in);
      Kokkos::deep_copy(all, wide);
      const auto scalars = [](const auto& view) { return reinterpret_cast<double*>(view.data()); };
      make_lines<double>(library, {n, false, lines})
          ->transform({}, scalars(all), scalars(all), lines, Direction::forward);
      const auto plans = make_lines<double>(library, {n, true, lines});
      plans->transform({}, values.data(), scalars(some), lines, Direction::forward);
      Kokkos::fence();
      Kokkos::deep_copy(wide, all);
      Kokkos::deep_copy(narrow, some);
      for (std::int64_t i = 0; i < half * lines; ++i) {
        const auto expected = wide(i / half * n + i % half);
        ASSERT_NEAR(narrow(i).real(), expected.real(), 1e-14 * n) << n << " values, " << i;
        ASSERT_NEAR(narrow(i).imag(), expected.imag(), 1e-14 * n) << n << " values, " << i;
      }
      plans->transform({}, scalars(some), back.data(), lines, Direction::backward);
      Kokkos::fence();
      Kokkos::deep_copy(out, back);
      for (std::int64_t i = 0; i < n * lines; ++i) ASSERT_NEAR(out(i), n * in(i), 1e-14 * n * n) << n;
    }
}

/// With all that a run lends it.
struct App : miniapp::test::Loan {
  std::unique_ptr<miniapp::MiniApp> app;

  explicit App(const Options& options, const comm::Options& method = {}, bool overlap = true,
               MPI_Comm ranks = MPI_COMM_WORLD)
      : Loan("fft", comm::Communicator(ranks, method)), app(make_fft(options, context(overlap))) {
    app->warm_up();
    app->reset();
  }
  miniapp::MiniApp* operator->() const { return app.get(); }

  /// Collective. All real parts, or values, by way of a checkpoint.
  std::vector<double> field(const Options& o, const std::string& path) const {
    output::File file(comm.native(), path);
    app->write_state(file);
    file.commit();
    std::vector<std::vector<std::uint64_t>> places;
    for (std::int64_t z = 0; z < o.cells[2]; ++z)
      for (std::int64_t y = 0; y < o.cells[1]; ++y)
        for (std::int64_t x = 0; x < o.cells[0]; ++x)
          places.push_back(
              {static_cast<std::uint64_t>(z), static_cast<std::uint64_t>(y), static_cast<std::uint64_t>(x)});
    comm::barrier(comm);
    auto values = output::values_at(path, o.real() ? "/state/u" : "/state/real", places);
    comm::barrier(comm);
    return values;
  }
};

/// Odd shapes, all process grids, methods in turn, with overlap and without: the field of one rank, by plain settings.
TEST(Fft, HasTheBitsOfOneRankOnAnyRanks) {
  const miniapp::test::Folder folder("fft-bits");
  const auto methods = device::kernels_on_host ? comm::test::methods() : comm::test::device_methods();
  const comm::Options maps_memory{.backend = device::kernels_on_host ? "shm" : "ipc"};
  std::size_t turn = 0;
  for (const auto* problem :
       {"cells: [12, 10, 8], equation: round_trip", "cells: [13, 9, 11], equation: poisson, values: real",
        "cells: [6, 7, 13], equation: heat, precision: float", "cells: [16, 6, 9], equation: heat, values: real"}) {
    std::vector<double> expected;
    if (const auto first = miniapp::test::first_ranks(1); first != MPI_COMM_NULL) {
      const auto options = read(problem, "", 2, 1);
      const App one(options, {}, false, first);
      one->run();
      EXPECT_TRUE(one->verify().passed()) << problem;
      expected = one.field(options, folder / "one.h5");
    }
    auto count = expected.size();
    MPI_Bcast(&count, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    expected.resize(count);
    MPI_Bcast(expected.data(), static_cast<int>(count), MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (std::int64_t p = 1; p <= world_size(); ++p) {
      if (world_size() % p > 0) continue;
      for (const std::string how : {"{}", "{chunks: 3}", "{reorder: by_kernel, chunks: 2}", "{reorder: by_reading}"}) {
        const auto options = read(
            problem, fmt::format("transpose: {}\ndecomposition: {{process_grid: [{}, {}]}}", how, p, world_size() / p));
        const auto method = how.ends_with("by_reading}") ? maps_memory : methods[turn++ % methods.size()];
        const bool overlap = turn % 2 == 0;
        const auto words = fmt::format("{}, grid {} x {}, transpose {}, {}, overlap {}", problem, p, world_size() / p,
                                       how, comm::to_string(method), overlap);
        const App app(options, method, overlap);
        EXPECT_TRUE(app->verify_launches().passed()) << words;
        app->reset();
        EXPECT_TRUE(app->verify_start().passed()) << words;
        app->run();
        const auto verdict = app->verify();
        EXPECT_TRUE(verdict.passed()) << words << ": " << verdict.error << " of " << verdict.tolerance;
        EXPECT_TRUE(app.field(options, folder / "all.h5") == expected) << words;
      }
    }
  }
}

TEST(Fft, IsRightByEachLibrary) {
  for (const auto library : libraries())
    for (const auto* problem : {"cells: [12, 15, 10]", "cells: [13, 8, 12], values: real, equation: poisson",
                                "cells: [9, 8, 7], equation: heat, precision: float"}) {
      auto options = read(problem);
      options.library = library;
      const App app(options);
      app->run();
      EXPECT_TRUE(app->verify().passed()) << problem << " " << name_of(library);
    }
}

TEST(Fft, ATrialChoosesWhatTheDeckLeavesOpen) {
  const auto open = read("cells: [12, 10, 8]", "transpose: {reorder: auto, chunks: auto}");
  EXPECT_EQ(open.transposes(false).size(), 6u);
  EXPECT_EQ(open.transposes(true).size(), 7u); // by_reading sends nothing in chunks
  const App app(open);
  const auto record = app->record();
  if (world_size() == 1) {
    EXPECT_EQ(record.at("chunks"), 1);
    return;
  }
  const auto& trial = record.at("transpose_trial");
  EXPECT_EQ(trial.size(), 6u);
  std::vector<std::string> names;
  for (const auto& candidate : trial) {
    EXPECT_GT(candidate.at("seconds").get<double>(), 0) << candidate;
    names.push_back(candidate.at("candidate"));
  }
  const auto chosen =
      fmt::format("{}, chunks {}", record.at("reorder").get<std::string>(), record.at("chunks").get<int>());
  EXPECT_EQ(std::ranges::count(names, chosen), 1) << chosen;
  EXPECT_EQ(read("cells: [12, 10, 8]", "transpose: {chunks: auto}").transposes(true).size(), 3u);
}

/// The same bits, from files of other ranks.
TEST(Fft, ResumesFromACheckpointOnOtherRanks) {
  const miniapp::test::Folder folder("fft");
  const std::string problem = "cells: [12, 10, 8], equation: heat";
  const auto all = read(problem, "", 5);
  const App whole(all);
  whole->run();
  const auto expected = whole.field(all, folder / "whole.h5");
  for (const int from : miniapp::test::some_ranks()) {
    const auto path = folder / fmt::format("from-{}.h5", from);
    if (const auto writers = miniapp::test::first_ranks(from); writers != MPI_COMM_NULL) {
      const auto options = read(problem, "", 2, from);
      const App app(options, {}, true, writers);
      app->run();
      app.field(options, path);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const output::Reader reader(MPI_COMM_WORLD, path);
    const App app(all);
    app->read_state(reader);
    app->run();
    EXPECT_TRUE(app->verify().passed());
    EXPECT_TRUE(app.field(all, folder / "resumed.h5") == expected) << from;
  }
}

/// Of other decks, and with a value that is off.
TEST(Check, RejectsWhatIsNotOfTheDeck) {
  const auto right = read("cells: [12, 10, 8], equation: heat", "", 3);
  const auto verdict = [&](const auto& change) {
    auto wrong = right;
    change(wrong);
    const App app(wrong);
    app->run();
    const miniapp::test::Folder folder("fft-check");
    const auto path = folder / "state.h5";
    output::File file(app.comm.native(), path);
    app->write_state(file);
    file.commit();
    const output::Reader reader(MPI_COMM_WORLD, path);
    auto state = right;
    state.steps = 100;
    const App judged(state); // which resumes, so that its field is that of the file
    judged->read_state(reader);
    return judged->verify();
  };
  EXPECT_TRUE(verdict([](Options&) {}).passed());
  EXPECT_TRUE(verdict([](Options& o) { o.diffusion *= 1 + 1e-9; }).failed());
  EXPECT_TRUE(verdict([](Options& o) { ++o.seed; }).failed());
}

TEST(Check, SaysWhatProvesNothing) {
  const App decayed(read("cells: [4, 6, 6], equation: heat, diffusion: 1", "", 40));
  decayed->run();
  EXPECT_FALSE(decayed->verify().conclusive);
  const App coarse(read("cells: [997, 6, 6], precision: float", "", 200));
  coarse->run();
  EXPECT_FALSE(coarse->verify().conclusive);
}

TEST(Options, RejectWhatCannotRun) {
  const auto refused = [](const std::string& problem, const std::string& others,
                          const std::vector<std::string>& facts) {
    miniapp::test::expect_facts(miniapp::test::error_of([&] { read(problem, others, 1, 6); }), facts, problem + others);
  };
  refused("cells: [2, 2, 2]", "", {"problem.cells", "[2, 2, 2]", "6 ranks", "use fewer ranks or more cells"});
  refused("cells: [8, 8, 8]", "decomposition: {process_grid: [4, 2]}", {"decomposition.process_grid", "6 ranks"});
  refused("cells: [8, 8, 8]", "decomposition: {process_grid: [6]}", {"decomposition.process_grid", "length 1"});
  refused("cells: [6, 8, 8], values: real", "decomposition: {process_grid: [6, 1]}",
          {"decomposition.process_grid", "[6, 1]", "at most 4 along y"});
  refused("cells: [8, 8, 8], diffusion: 0.5", "", {"problem.diffusion", "problem.equation must be heat"});
  refused("cells: [1, 8, 8], equation: poisson", "", {"problem.cells", "along x"});
  if (const auto why = refusal_of(Library::cufft))
    refused("cells: [8, 8, 8]", "solver: {steps: 1, library: cufft}", {"solver.library", "cufft"});
  refused("cells: [8, 8, 8]", "transpose: {reorder: by_reading, chunks: 2}", {"transpose.chunks", "by_reading"});
  if (world_size() > 1)
    miniapp::test::expect_facts(
        miniapp::test::error_of([] { App(read("cells: [8, 9, 10]", "transpose: {reorder: by_reading}"), {}); }),
        {"by_reading", "backend 'raw'", "[E-DECK-CONFLICT]"});
  EXPECT_EQ(read("cells: [8, 9, 10]").process_grid.size(), 2u);
  const auto local = read("cells: [8, 9, 10], local: true");
  EXPECT_EQ(local.cells[1] * local.cells[2], 90 * world_size());
}

} // namespace
} // namespace kontor::fft
