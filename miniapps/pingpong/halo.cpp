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
  Methods methods(bench);
  bench.each_size([&](auto scalar, int dimensions, std::int64_t size) {
    using T = decltype(scalar);
    const auto halo = halo_of<T>(bench.comm(), dimensions, size, bench.options.fields);
    std::int64_t cells = 0;
    for (const auto& slot : halo.there) cells += static_cast<std::int64_t>(slot.out.size());
    methods.time(subject_of<T>(fmt::format("{}d", dimensions), size, cells), halo, true);
  });
  auto best = nlohmann::ordered_json::array();
  for (const auto points :
       runs_of(findings.points, [](const Point& p) { return std::pair(p.subject.curve, p.subject.size); })) {
    const Point* fastest = nullptr;
    for (const auto& p : points)
      if (methods.moves_data(p.series) && (!fastest || p.time.median < fastest->time.median)) fastest = &p;
    if (!fastest) continue;
    const auto& [curve, size, elements, bytes, messages] = fastest->subject;
    const double median = fastest->time.median;
    best.push_back(
        {{"curve", curve}, {"size", size}, {"series", fastest->series}, {"median", median}, {"bytes", bytes}});
    findings.figures = {{"halo_exchange", median, "s"}};
  }
  findings.record["best"] = best;
  methods.report();
  if (best.empty()) return;
  const auto& last = best.back();
  findings.notes.push_back(fmt::format("the fastest that moves data, {} of size {}: {}",
                                       last["curve"].get<std::string>(), last["size"].get<std::int64_t>(),
                                       last["series"].get<std::string>()));
}

} // namespace kontor::pingpong
