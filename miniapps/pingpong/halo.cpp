// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "grid/halo.hpp"

#include "grid/make_field.hpp"
#include "grid/process_grid.hpp"
#include "pingpong/combinations.hpp"
#include "pingpong/measures.hpp"
#include "pingpong/payload.hpp"

#include <fmt/format.h>

namespace kontor::pingpong {
namespace {

/// A block of size^dimensions cells with a layer of ghost cells, its fields, and their halo on a process grid that is
/// periodic along all axes. Where an axis is not cut the rank sends to itself.
template <class T>
class HaloBlock {
 public:
  using Field = grid::FieldView<T>;

  /// Local.
  HaloBlock(const comm::Communicator& cartesian, std::int64_t size, std::int64_t fields)
      : block_(make_block(cartesian, size)),
        slots_(grid::halo_slots(cartesian, block_, grid::across_faces(block_.dimensions))) {
    for (std::int64_t f = 0; f < fields; ++f) fields_.push_back(grid::make_field<T>("pingpong/block", block_));
  }

  /// Collective. By that communicator, which numbers its ranks as the one given first. All fields in one exchange.
  grid::Halo<T> exchange(const comm::Communicator& comm) const {
    grid::Halo<T> halo(comm, "pingpong/halo");
    for (const auto& field : fields_)
      for (const auto& slot : slots_)
        halo.add(view(field, slot.sent), slot.destination, view(field, slot.received), slot.source);
    halo.commit();
    return halo;
  }

  /// Cells that are sent, of all fields.
  std::int64_t halo_cells() const {
    std::int64_t cells = 0;
    for (const auto& slot : slots_) cells += slot.sent.size();
    return cells * static_cast<std::int64_t>(fields_.size());
  }

  void fill(int seed, int rank) const {
    for (const auto& field : fields_)
      for (const auto& slot : slots_) fill_view(view(field, slot.sent), field.data(), seed, sender(rank, field));
  }

  /// Blocks are alike: a neighbour's layer lies as far from its origin as the one that this rank sends back.
  std::int64_t wrong(int seed) const {
    std::int64_t count = 0;
    for (const auto& field : fields_)
      for (const auto& slot : slots_) {
        const auto received = view(field, slot.received);
        count += wrong_in_view(received, received.data(), view(field, slot.sent).data() - field.data(), seed,
                               sender(slot.source, field));
      }
    return count;
  }

 private:
  static grid::Block make_block(const comm::Communicator& cartesian, std::int64_t size) {
    grid::UniformGrid whole;
    for (auto dim = cartesian.dims().rbegin(); dim != cartesian.dims().rend(); ++dim)
      whole.extents.push_back(*dim * size);
    return grid::make_block(whole, cartesian);
  }
  auto view(const Field& field, const grid::Box& box) const { return grid::view_of(field, block_, box); }
  /// Each field of each rank has values of its own.
  int sender(int rank, const Field& field) const {
    return rank * static_cast<int>(fields_.size()) + static_cast<int>(&field - fields_.data());
  }

  grid::Block block_;
  std::vector<grid::HaloSlot> slots_;
  std::vector<Field> fields_;
};

/// The candidates on a process grid that is closed along all of its axes.
std::vector<TimedMethod> on_grid(const std::vector<TimedMethod>& candidates, int dimensions) {
  std::vector<TimedMethod> result;
  for (const auto& [name, comm, moves_data] : candidates) {
    const auto ranks = grid::smallest_surface_grid(comm.size(), std::vector<std::int64_t>(dimensions, comm.size()));
    const std::vector<bool> periodic(ranks.size(), true);
    result.push_back({name, grid::make_cartesian(comm, {ranks.begin(), ranks.end()}, periodic), moves_data});
  }
  return result;
}

/// Times all ways at one size and returns the fastest one that moves data.
template <class T>
const Point* at_size(Bench& bench, int dimensions, std::int64_t size, const std::vector<TimedMethod>& all,
                     Refusals& refusals) {
  const HaloBlock<T> block(all.front().comm, size, bench.options.fields);
  std::deque<grid::Halo<T>> exchanges;
  const auto ways = ways_of(
      bench, all, refusals, exchanges, [&](const comm::Communicator& comm) { return block.exchange(comm); },
      [](const TimedMethod& candidate, grid::Halo<T>& exchange) {
        return steps_of(candidate.name, exchange, candidate.moves_data);
      });
  const auto subject = subject_of<T>(fmt::format("{}d", dimensions), size, block.halo_cells());
  const auto first = bench.findings.points.size();
  const int rank = all.front().comm.rank();
  bench.time(subject, ways, {[&](int seed) { block.fill(seed, rank); }, [&](int seed) { return block.wrong(seed); }});
  const Point* best = nullptr;
  for (std::size_t w = 0; w < ways.size(); ++w) {
    auto& point = bench.findings.points[first + w];
    point.subject.messages = static_cast<std::int64_t>(exchanges[w].sent().size());
    if (ways[w].verified && (!best || point.time.median < best->time.median)) best = &point;
  }
  return best;
}

} // namespace

void measure_halo(Bench& bench) {
  auto& findings = bench.findings;
  findings.record["best"] = nlohmann::ordered_json::array();
  Refusals refusals;
  const auto everything = candidates(bench, refusals);
  std::map<int, std::vector<TimedMethod>> by_dimensions;
  each_size(bench, [&](auto scalar, auto dimensions, std::int64_t size) {
    auto& all = by_dimensions[dimensions];
    if (all.empty()) all = on_grid(everything, dimensions);
    if (const auto* best = at_size<decltype(scalar)>(bench, dimensions, size, all, refusals))
      findings.record["best"].push_back({{"curve", best->subject.curve},
                                         {"size", size},
                                         {"series", best->series},
                                         {"median", best->time.median},
                                         {"bytes", best->subject.bytes}});
  });
  tell(refusals, findings);
  if (findings.record["best"].empty()) return;
  const auto& last = findings.record["best"].back();
  findings.notes.push_back(fmt::format("the fastest that moves data, {} of size {}: {}",
                                       last["curve"].get<std::string>(), last["size"].get<std::int64_t>(),
                                       last["series"].get<std::string>()));
  findings.figures = {{"halo_exchange", last["median"].get<double>(), "s"}};
}

} // namespace kontor::pingpong
