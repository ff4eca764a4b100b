// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How fast the device's sweep is, as a fraction of the speed at which the same program copies a field. Every
// setting is measured in turn in each round, so that all of them see the same weather; medians over rounds.
//   heat_sweep_rate [--n2 16384] [--n3 512] [--rounds 9] [--sweeps 10] [--team 256 128...]
//                   [--tile 256...] [--rows 16...] [--batch 4...] [--scalar float|double|both] [--dims 2|3|0]
//                   [--norms none,max,l2]
// Without a setting it is what heat takes.
#include "heat/kernels/columns.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace kontor;
using namespace kontor::heat;
using Instance = FieldView<double>::execution_space;

struct Settings {
  std::int64_t n2 = 16384, n3 = 512;
  int rounds = 9, sweeps = 10, dims = 0;
  std::string scalar = "both";
  std::vector<int> teams, tiles, rows, batches;
  std::vector<std::string> norms{"none", "max", "l2"};

  /// All combinations; what is not given is as usual.
  std::vector<ColumnTuning> tunings(const ColumnTuning& usual) const {
    const auto of = [](const std::vector<int>& values, int otherwise) {
      return values.empty() ? std::vector<int>{otherwise} : values;
    };
    std::vector<ColumnTuning> list;
    for (const int team : of(teams, usual.team))
      for (const int tile : of(tiles, usual.tile))
        for (const int row : of(rows, usual.rows))
          for (const int batch : of(batches, usual.batch)) list.push_back({team, tile, row, batch});
    return list;
  }
};

struct TimedMethod {
  std::string name;
  std::function<void()> sweep;
  std::vector<double> seconds;
};

double median(std::vector<double>& values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

template <int batch, class T>
void sweep_with(const SweepInput<T>& in, const FieldView<T>& out, Norm norm, ColumnTuning tuning,
                double* parts, const stepping::NormSlots& slots) {
  const Instance instance;
  const auto shape = column_shape<T>(instance, in.block.all(), in.block.dimensions, tuning);
  sweep_columns<batch>(instance, in, out, shape, norm, parts);
  if (norm != Norm::none) combine(instance, parts, shape.parts(), norm, slots);
}

template <class T>
void measure(const Settings& settings, int dimensions) {
  Block block;
  block.dimensions = dimensions;
  const auto n = dimensions == 3 ? settings.n3 : settings.n2;
  block.global = block.extents = {n, n, dimensions == 3 ? n : 1};
  Options options;
  options.cells.assign(static_cast<std::size_t>(dimensions), n);
  options.lower.assign(3, 0);
  options.upper.assign(3, 1);
  const auto stencil = make_stencil<T>(options, block, 0);
  const auto u = grid::make_field<T>("heat/u", block);
  const auto v = grid::make_field<T>("heat/v", block);
  const auto source = make_source<T>(block, false);
  const auto tunings = [&](bool with_norm) {
    return settings.tunings(usual_tuning<T>(dimensions, with_norm));
  };
  int most_parts = 0;
  for (const auto& tuning : tunings(true))
    most_parts = std::max(most_parts, column_shape<T>(Instance(), block.all(), dimensions, tuning).parts());
  const Kokkos::View<double*, FieldView<double>::memory_space> numbers("heat/parts", most_parts + 1);
  double* const parts = numbers.data() + 1;
  const Kokkos::View<int*, FieldView<double>::memory_space> next("heat/next norm slot", 1);
  const stepping::NormSlots slots{numbers.data(), next.data(), 1};

  std::vector<TimedMethod> candidates;
  candidates.push_back({"copy", [=] { Kokkos::deep_copy(Instance(), v, u); }, {}});
  for (const auto& norm_name : settings.norms) {
    const auto norm = norm_name == "none" ? Norm::none : norm_name == "max" ? Norm::max : Norm::l2;
    for (const auto& tuning : tunings(norm != Norm::none)) {
      const SweepInput<T> forth{u, source, stencil, block};
      const SweepInput<T> back{v, source, stencil, block};
      const auto sweep = [=](const SweepInput<T>& in, const FieldView<T>& out) {
        switch (tuning.batch) {
        case 1: return sweep_with<1>(in, out, norm, tuning, parts, slots);
        case 2: return sweep_with<2>(in, out, norm, tuning, parts, slots);
        default: return sweep_with<4>(in, out, norm, tuning, parts, slots);
        }
      };
      auto turn = std::make_shared<bool>(false);
      candidates.push_back({fmt::format("{:<5} team {:>4} tile {:>4} rows {:>3} batch {}", norm_name,
                                        tuning.team, tuning.tile, tuning.rows, tuning.batch),
                            [=] {
                              *turn = !*turn;
                              *turn ? sweep(forth, v) : sweep(back, u);
                            },
                            {}});
    }
  }

  for (int round = -1; round < settings.rounds; ++round)
    for (auto& candidate : candidates) {
      Kokkos::fence();
      Kokkos::Timer timer;
      for (int s = 0; s < settings.sweeps; ++s) candidate.sweep();
      Kokkos::fence();
      if (round >= 0) candidate.seconds.push_back(timer.seconds() / settings.sweeps);
    }

  fmt::print("{}-D, {}^{}, {}\n", dimensions, n, dimensions, sizeof(T) == 4 ? "float" : "double");
  const double cells = static_cast<double>(block.extents[0] * block.extents[1] * block.extents[2]);
  const double copied = 2.0 * static_cast<double>(u.span() * sizeof(T));
  double copy_rate = 0;
  for (auto& candidate : candidates) {
    const double seconds = median(candidate.seconds);
    const double rate = (copy_rate == 0 ? copied : cells * 2 * sizeof(T)) / seconds;
    if (copy_rate == 0) copy_rate = rate;
    fmt::print("  {:<48}{:>9.4f} ms{:>9.1f} GB/s{:>7.3f} of copy\n", candidate.name, 1e3 * seconds,
               1e-9 * rate, rate / copy_rate);
  }
}

} // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app("Rates of the device's sweep");
  app.add_option("--n2", settings.n2, "Cells along each axis in 2-D");
  app.add_option("--n3", settings.n3, "Cells along each axis in 3-D");
  app.add_option("--rounds", settings.rounds, "Over which the median is taken");
  app.add_option("--sweeps", settings.sweeps, "In one timing");
  app.add_option("--dims", settings.dims, "2 or 3; 0: both");
  app.add_option("--scalar", settings.scalar, "float, double or both");
  app.add_option("--team", settings.teams, "Threads of a team, a power of two; several are tried");
  app.add_option("--tile", settings.tiles, "Packs along x, a power of two; several are tried");
  app.add_option("--rows", settings.rows, "Rows of a thread, a power of two; several are tried");
  app.add_option("--batch", settings.batches, "Rows loaded ahead: 1, 2 or 4; several are tried");
  app.add_option("--norms", settings.norms, "none, max, l2")->delimiter(',');
  CLI11_PARSE(app, argc, argv);
  const Kokkos::ScopeGuard kokkos;
  for (const int dimensions : {2, 3}) {
    if (settings.dims != 0 && settings.dims != dimensions) continue;
    if (settings.scalar != "float") measure<double>(settings, dimensions);
    if (settings.scalar != "double") measure<float>(settings, dimensions);
  }
}
