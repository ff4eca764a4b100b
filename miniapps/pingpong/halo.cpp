// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "grid/halo.hpp"

#include "grid/make_field.hpp"
#include "grid/process_grid.hpp"
#include "pingpong/methods.hpp"

namespace kontor::pingpong {
namespace {

/// The halo of a block of size^dimensions cells. The process grid is periodic along all axes: a rank sends to itself
/// along an axis that is not cut.
template <class T>
auto halo_of(const comm::Communicator& comm, int dimensions, std::int64_t size, std::int64_t count) {
  const auto ranks = grid::smallest_surface_grid(comm.size(), std::vector<std::int64_t>(dimensions, comm.size()));
  const auto cartesian =
      grid::make_cartesian(comm, {ranks.begin(), ranks.end()}, std::vector<bool>(ranks.size(), true));
  grid::UniformGrid whole;
  for (const int n : ranks) whole.extents.push_back(n * size);
  const auto block = grid::make_block(whole, cartesian);
  using Layer = decltype(grid::view_of(grid::FieldView<T>(), block, grid::Box()));
  Traffic<Layer> halo{"pingpong/halo", {}};
  const auto fields = static_cast<int>(count);
  for (int f = 0; f < fields; ++f) {
    const auto field = grid::make_field<T>("pingpong/block", block);
    for (const auto& slot : grid::halo_slots(cartesian, block, grid::across_faces(dimensions))) {
      const auto out = grid::view_of(field, block, slot.sent), in = grid::view_of(field, block, slot.received);
      // Blocks are alike: what arrives has the place in the source's field that `out` has here.
      halo.there.push_back({out, slot.destination, comm.rank() * fields + f, in, slot.source, slot.source * fields + f,
                            out.data() - field.data()});
    }
  }
  return halo;
}

} // namespace

void measure_halo(Bench& bench) {
  auto& findings = bench.findings;
  auto best = nlohmann::ordered_json::array();
  Methods methods(bench);
  bench.each_size([&](auto scalar, int dimensions, std::int64_t size) {
    using T = decltype(scalar);
    const auto first = findings.points.size();
    const auto halo = halo_of<T>(bench.comm(), dimensions, size, bench.options.fields);
    std::int64_t cells = 0;
    for (const auto& slot : halo.there) cells += static_cast<std::int64_t>(slot.out.size());
    methods.time(subject_of<T>(fmt::format("{}d", dimensions), size, cells), halo, true);
    std::vector<Point> moved(findings.points.begin() + static_cast<std::ptrdiff_t>(first), findings.points.end());
    std::erase_if(moved, [&](const Point& p) { return !methods.moves_data(p.series); });
    if (moved.empty()) return;
    const auto fastest = *std::ranges::min_element(moved, {}, [](const Point& p) { return p.time.median; });
    best.push_back({{"curve", fastest.subject.curve},
                    {"size", size},
                    {"series", fastest.series},
                    {"median", fastest.time.median},
                    {"bytes", fastest.subject.bytes}});
  });
  findings.record["best"] = best;
  methods.report();
  if (best.empty()) return;
  const auto& last = best.back();
  findings.notes.push_back(fmt::format("the fastest that moves data, {} of size {}: {}",
                                       last["curve"].get<std::string>(), last["size"].get<std::int64_t>(),
                                       last["series"].get<std::string>()));
  findings.figures = {{"halo_exchange", last["median"].get<double>(), "s"}};
}

} // namespace kontor::pingpong
