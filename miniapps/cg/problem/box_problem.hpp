// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cg/problem/box_rows.hpp"
#include "cg/problem/memory.hpp"
#include "cg/problem/problem.hpp"
#include "grid/block_output.hpp"
#include "grid/process_grid.hpp"
#include "machine/memory.hpp"

#include <kontor/device/compat.hpp>

namespace kontor::cg {

/// A problem whose rows are the points of a box: what does not depend on the equations.
class BoxProblem : public Problem {
 public:
  std::optional<miniapp::FieldOutput> write(output::File& file, const std::string& group,
                                            const Vector& solution) const final {
    const auto field = grid::mesh_field<double>(box_.block, this->field(), group + "/" + this->field());
    write_vector(file, field.dataset, solution);
    return miniapp::FieldOutput{grid::image_of(box_.block), {0.0, {field}}};
  }
  void write_vector(output::File& file, const std::string& dataset, const Vector& v) const final {
    const auto block = new_block(box_, "cg/block");
    to_block(box_, v, block);
    grid::write_view(file, dataset, grid::block_in_file(box_.block), block);
  }
  void read_vector(const output::Reader& reader, const std::string& dataset, const Vector& v) const final {
    const auto block = new_block(box_, "cg/block");
    grid::read_view(reader, dataset, grid::block_in_file(box_.block), block);
    from_block(box_, block, v);
  }

  const grid::Block* block() const final { return &box_.block; }

 protected:
  /// Collective. Without rows.
  BoxProblem(const Options& options, const miniapp::RunContext& context)
      : cartesian_(grid::make_cartesian(context.comm, options.process_grid, {false, false, false})),
        solver_(options.solver), initial_(options.initial), timers_(context.timers) {}

  /// Calls work() in a region that is timed apart from the solver's; waits for the device.
  template <class Work>
  void timed(const char* region, const Work& work) {
    const miniapp::ScopedTimer timer(timers_.once(region));
    work();
    device::fence(Space(), "cg/built");
  }

  /// Collective. Makes the rows, unless what is to come does not fit into memory: throws AgreedError then. A row reads
  /// the points across faces, or, `corners`, all around.
  void make_rows(const Options& options, bool corners) {
    const auto points = options.points();
    miniapp::require_memory(cartesian_, bytes_of_box(options, grid::make_block(points, cartesian_)));
    timed("partition", [&] { box_ = make_box_rows(cartesian_, points, corners); });
  }

  comm::Communicator cartesian_;
  SolverOptions solver_;
  grid::DeckFunction initial_; ///< guess
  miniapp::Timers& timers_;
  BoxRows box_;
};

} // namespace kontor::cg
