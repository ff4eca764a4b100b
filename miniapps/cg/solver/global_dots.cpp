// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cg/solver/global_dots.hpp"

#include "cg/dot.hpp"
#include "cg/names.hpp"
#include "stepping/row_sums.hpp"

namespace kontor::cg {

GlobalDots::GlobalDots(const comm::Communicator& comm, const std::string& label, int count,
                       const Space& instance, SumKind kind)
    : alone_(comm.size() == 1), parts_(parts_of_rows(count)) {
  if (kind == SumKind::reproducible) {
    exact_.emplace(comm, label, count, instance);
    values_ = exact_->results();
  } else {
    values_ = Vector("cg/" + label, static_cast<std::size_t>(count));
    fast_.emplace(comm, label, values_, comm::ReduceOp::sum, instance);
  }
}

void GlobalDots::dot(const Space& instance, int k, const Vector& x, const Vector& y) {
  if (exact_)
    exact_->add_dot(instance, k, x, y);
  else
    for_rows_with_sums<1>("cg/dot", instance, static_cast<std::int64_t>(y.extent(0)), DotTerm{x, y}, parts_,
                          StoreTo<1>{local(k)});
}

void GlobalDots::forget(const Space& instance) {
  if (exact_) exact_->clear(instance);
}

void GlobalDots::start(const Space& instance) {
  if (!exchanges_) return forget(instance);
  if (exact_)
    exact_->start(instance);
  else if (!alone_)
    fast_->start(instance);
}

void GlobalDots::finish(const Space& instance) {
  if (!exchanges_) return;
  if (exact_)
    exact_->finish(instance);
  else if (!alone_)
    fast_->finish(instance);
}

void GlobalDots::progress() {
  if (alone_ || !exchanges_) return;
  exact_ ? exact_->progress() : fast_->progress();
}

void GlobalDots::poll() {
  if (alone_) return;
  exact_ ? exact_->poll() : fast_->poll();
}

bool GlobalDots::stream_ordered() const {
  return alone_ || (exact_ ? exact_->stream_ordered() : fast_->stream_ordered());
}

} // namespace kontor::cg
