// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "stepping/global_dots.hpp"

#include "stepping/dot.hpp"
#include "stepping/row_sums.hpp"

#include <utility>

namespace kontor::stepping {

GlobalDots::GlobalDots(const comm::Communicator& comm, const std::string& label, int count, const Space& instance,
                       SumKind kind)
    : alone_(comm.size() == 1), exact_(kind == SumKind::reproducible),
      values_(exact_ ? Vector() : Vector("stepping/" + label, static_cast<std::size_t>(count))),
      parts_(parts_of_rows(count)),
      sums_(exact_ ? Sums(std::in_place_type<Exact>, comm, label, count, instance)
                   : Sums(std::in_place_type<Fast>, comm, label, values_, comm::ReduceOp::sum, instance)) {
  if (exact_) values_ = std::get<Exact>(sums_).results();
}

void GlobalDots::dot(const Space& instance, int k, const Vector& x, const Vector& y) {
  if (exact_)
    std::get<Exact>(sums_).add_dot(instance, k, x, y);
  else
    for_rows_with_sums<1>("stepping/dot", instance, static_cast<std::int64_t>(y.extent(0)), DotTerm{x, y}, parts_,
                          StoreTo<1>{local(k)});
}

void GlobalDots::forget(const Space& instance) {
  if (exact_) std::get<Exact>(sums_).clear(instance);
}

void GlobalDots::start(const Space& instance) {
  if (!exchanges_) return forget(instance);
  if (!complete()) std::visit([&](auto& sums) { sums.start(instance); }, sums_);
}

void GlobalDots::finish(const Space& instance) {
  if (exchanges_ && !complete()) std::visit([&](auto& sums) { sums.finish(instance); }, sums_);
}

void GlobalDots::progress() {
  if (exchanges_ && !alone_) std::visit([](auto& sums) { sums.progress(); }, sums_);
}

void GlobalDots::poll() {
  if (!alone_) std::visit([](auto& sums) { sums.poll(); }, sums_);
}

bool GlobalDots::stream_ordered() const {
  return alone_ || std::visit([](const auto& sums) { return sums.stream_ordered(); }, sums_);
}

} // namespace kontor::stepping
