// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "fft/algorithm/peer_arrays.hpp"
#include "fft/kernels/copy.hpp"
#include "fft/problem/pencil.hpp"
#include "run/record/chosen_method.hpp"
#include "run/record/sampled_exchange.hpp"

#include <kontor/comm/exchange.hpp>
#include <kontor/device/compat.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace kontor::fft {

/// From lines of one axis to lines of another, among the ranks of a row or a column of the process grid. Cut into
/// chunks along the third axis, each of which is an exchange: one message for each other rank. Where nothing is sent,
/// since the rank is alone in its row or reads arrays of the others, a chunk is what a cache holds.
template <class T>
class Transpose {
 public:
  using Value = Complex<T>;
  using Exchange = comm::Exchange<Kokkos::View<Value*>>;

  /// An end of it: a pencil in memory that outlives it.
  struct End {
    Pencil pencil;
    Value* data;
  };

  /// Collective over all ranks. `group`: ranks of the method's grid that take part, in the order of their parts; this
  /// one is number `me`. `landing`: as much memory as `to` has, in which values arrive in the order of `from`; null:
  /// they arrive in place. `arrays`: both ends lie in them, and kernels read those of others; null: values are sent.
  Transpose(miniapp::ChosenMethod& method, const std::string& label, const End& from, const End& to,
            const std::vector<int>& group, std::size_t me, std::int64_t chunks, const Space& instance, Value* landing,
            const PeerArrays<Value>* arrays)
      : from_(from), to_(to), landing_{{to.pencil.own, from.pencil.order}, group.size() > 1 ? landing : nullptr},
        gathered_(to.pencil.order[2]), scattered_(from.pencil.order[2]), third_(3 - gathered_ - scattered_) {
    const auto parts = static_cast<std::int64_t>(group.size());
    const auto whole = [](const End& end, int axis) { return end.pencil.extent(axis); };
    if (parts == 1 || arrays) chunks = parts_in_cache(from_.pencil.extent(third_));
    for (std::int64_t c = 0; c < chunks; ++c) {
      auto range = grid::part_of_axis(whole(from, third_), chunks, c);
      range.begin += from.pencil.own[third_].begin;
      range.end += from.pencil.own[third_].begin;
      ranges_.push_back(range);
      own_.push_back(box(grid::part_of_axis(whole(from, scattered_), parts, static_cast<std::int64_t>(me)),
                         from.pencil.own[gathered_], c));
    }
    for (std::size_t next = 1; next < group.size(); ++next) { // not all from the same one first
      const auto other = (me + next) % group.size();
      const auto scattered = grid::part_of_axis(whole(from, scattered_), parts, static_cast<std::int64_t>(other));
      sent_.push_back({group[other], scattered.size() * whole(from, gathered_) * whole(from, third_)});
      if (!arrays) continue;
      auto pencil = from.pencil;
      pencil.own[gathered_] = grid::part_of_axis(whole(to, gathered_), parts, static_cast<std::int64_t>(other));
      others_.push_back({pencil, arrays->of(group[other], from.data)});
    }
    if (parts == 1 || arrays) return;
    exchanges_.reserve(static_cast<std::size_t>(chunks));
    for (std::int64_t c = 0; c < chunks; ++c) {
      auto& exchange = exchanges_.emplace_back(method.comm(), label, instance);
      for (std::size_t other = 0; other < group.size(); ++other) {
        const auto part = static_cast<std::int64_t>(other);
        const auto sent = box(grid::part_of_axis(whole(from, scattered_), parts, part), from.pencil.own[gathered_], c);
        const auto received = box(to.pencil.own[scattered_], grid::part_of_axis(whole(to, gathered_), parts, part), c);
        if (other == me || ranges_[static_cast<std::size_t>(c)].size() == 0) continue; // the same for all of the group
        exchange.add_send(part_of(from_.pencil, from_.data, sent), group[other]);
        exchange.add_receive(part_of(arrival().pencil, arrival().data, received), group[other]);
      }
      method.commit(exchange);
      exchange.measure_times();
    }
    under_way_.resize(exchanges_.size());
  }

  /// Local. How many.
  std::size_t chunks() const { return ranges_.size(); }
  /// Local. A chunk's indices of the third axis, within this rank's part.
  AxisRange range(std::size_t chunk) const {
    const auto first = from_.pencil.own[third_].begin;
    return {ranges_[chunk].begin - first, ranges_[chunk].end - first};
  }
  /// Local. Into how many parts so many indices of the third axis are cut, that lines of a part at either end take half
  /// of a usual L2 cache. A device has no use for it: 1.
  std::int64_t parts_in_cache(std::int64_t layers) const {
    if (layers == 0 || !device::kernels_on_host) return 1;
    const auto lines = 2 * from_.pencil.size() / from_.pencil.extent(third_) * layers;
    return std::clamp<std::int64_t>((lines * static_cast<std::int64_t>(sizeof(Value))) >> 19, 1, layers);
  }
  /// Values that another rank gets.
  struct Part {
    int rank;
    std::int64_t values;
  };
  /// Local. Of each other rank of the group.
  const std::vector<Part>& sent() const { return sent_; }
  /// Local. One a chunk, or none: this rank sends nothing.
  std::vector<Exchange>& exchanges() { return exchanges_; }
  const std::vector<Exchange>& exchanges() const { return exchanges_; }

  ///@{
  /// Collective. What other ranks get, and send.
  void start(std::size_t chunk, const miniapp::ExchangeSamples& samples) {
    under_way_[chunk].emplace(exchanges_[chunk], samples).start();
  }
  void finish(std::size_t chunk) {
    under_way_[chunk]->finish();
    under_way_[chunk].reset();
  }
  ///@}

  /// Local; queued on `instance`. What stays on this rank.
  void copy_own(const Space& instance, std::size_t chunk) const {
    copy(instance, part_of(arrival().pencil, arrival().data, own_[chunk]),
         part_of(from_.pencil, from_.data, own_[chunk]));
  }
  /// Local. Kernels read arrays of other ranks.
  bool reads_others() const { return !others_.empty(); }
  /// Local; queued on `instance`, while the other ranks are at this transpose, too. What lies in their arrays.
  void copy_others(const Space& instance, std::size_t chunk) const {
    for (const auto& [pencil, data] : others_) {
      const auto all = box(to_.pencil.own[scattered_], pencil.own[gathered_], static_cast<std::int64_t>(chunk));
      copy(instance, part_of(to_.pencil, to_.data, all), part_of(pencil, data, all));
    }
  }
  /// Local. Values do not arrive in place.
  bool arranges() const { return landing_.data; }
  /// Local; queued on `instance`, after the exchange. Reorders what has not arrived in place.
  void arrange(const Space& instance, std::size_t chunk) const {
    auto all = to_.pencil.own;
    all[third_] = ranges_[chunk];
    copy(instance, part_of(to_.pencil, to_.data, all), part_of(landing_.pencil, landing_.data, all));
  }

 private:
  const End& arrival() const { return landing_.data ? landing_ : to_; }
  Ranges box(const AxisRange& scattered, const AxisRange& gathered, std::int64_t chunk) const {
    Ranges box;
    box[scattered_] = scattered;
    box[gathered_] = gathered;
    box[third_] = ranges_[static_cast<std::size_t>(chunk)];
    return box;
  }

  End from_, to_, landing_;
  std::vector<Part> sent_;
  std::vector<End> others_; ///< `from` of other ranks, in their memory
  int gathered_;            ///< the axis that becomes whole
  int scattered_;           ///< the one that is cut
  int third_;               ///< the one that stays as it is
  std::vector<AxisRange> ranges_;
  std::vector<Exchange> exchanges_;
  std::vector<std::optional<miniapp::SampledExchange<Exchange>>> under_way_;
  std::vector<Ranges> own_;
};

} // namespace kontor::fft
