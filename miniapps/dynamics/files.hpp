// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "dynamics/body.hpp"
#include "mesh/rows.hpp"
#include "run/checkpoint/state.hpp"
#include "run/mini_app.hpp"

/// Fields of a body in files, by the numbers of nodes and elements, whichever ranks have them.
namespace kontor::dynamics {

inline constexpr std::size_t state_numbers = 33; ///< of an element

/// visit(field, where its numbers begin, their count): fields of elements in the state.
template <class T, class Visit>
void each_state(const ElementFields<T>& elements, const Visit& visit) {
  visit(elements.stretch, 0, 6);
  visit(elements.rotation, 6, 9);
  visit(elements.stress, 15, 6);
  visit(elements.hourglass, 21, 12);
}

/// Collective. Displacement, velocity, stress and rank; the mesh with the group "/fields".
template <class T>
miniapp::FieldOutput write_fields(output::File& file, const std::string& group, const Body<T>& body,
                                  const comm::Communicator& comm, std::int64_t steps) {
  using output::Centering;
  const auto displacement = on_host(body.nodes.displacement);
  const auto motion = on_host(body.nodes.motion);
  const auto rotation = on_host(body.elements.rotation), stress = on_host(body.elements.stress);
  output::Snapshot snapshot{on_host(body.clock)(elapsed), {}};
  const auto write = [&](const char* name, Centering centering, const auto& row) {
    using Row = decltype(row(0));
    mesh::write_rows(file, group + "/" + name,
                     centering == Centering::points ? nodes_of(body.mesh, comm) : elements_of(body.mesh, comm), row);
    snapshot.fields.push_back(
        {name, group + "/" + name, output::scalar_of<typename Row::value_type>, centering, std::tuple_size_v<Row>});
  };
  write("displacement", Centering::points, [&](LocalIndex n) { return mesh::row_of<3>(displacement, n); });
  write("velocity", Centering::points, [&](LocalIndex n) { return mesh::row_of<3>(motion, n, 3); });
  write("stress", Centering::cells, [&](LocalIndex e) {
    Tensor<T> r;
    Symmetric<T> s;
    body.order.read(rotation, e, r.at);
    body.order.read(stress, e, s.at);
    const auto cauchy = rotated<false>(r, s);
    std::array<T, 9> full;
    for (int i = 0; i < 9; ++i) full[i] = cauchy.at[packed(i / 3, i % 3)];
    return full;
  });
  write("rank", Centering::cells, [&](LocalIndex) { return std::array{comm.rank()}; });
  file.attributes(group, {{"steps", steps}, {"time", snapshot.time}});
  if (group == "/fields") mesh::write_mesh(file, body.mesh, comm);
  return {mesh::described(body.mesh), snapshot};
}

/// Collective. All that a run needs to go on after so many steps.
template <class T>
void write_state(output::File& file, const Body<T>& body, const comm::Communicator& comm, std::int64_t steps) {
  const auto displacement = on_host(body.nodes.displacement);
  const auto motion = on_host(body.nodes.motion);
  mesh::write_rows(file, "/state/motion", nodes_of(body.mesh, comm), [&](LocalIndex n) {
    std::array<T, 6> row;
    for (int i = 0; i < 6; ++i) row[i] = i < 3 ? displacement(n, i) : motion(n, i);
    return row;
  });
  std::vector<std::array<T, state_numbers>> states(body.mesh.element.size());
  each_state(body.elements, [&](const auto& view, int first, int count) {
    const auto field = on_host(view);
    for (LocalIndex e = 0; e < body.mesh.elements(); ++e)
      for (int i = 0; i < count; ++i) states[e][first + i] = body.order.number(field, e, i);
  });
  mesh::write_rows(file, "/state/elements", elements_of(body.mesh, comm), [&](LocalIndex e) { return states[e]; });
  const auto clock = on_host(body.clock);
  miniapp::write_values(file, comm.native(), "/state/clock",
                        std::vector<double>(clock.data(), clock.data() + clock.size()));
  file.attributes("/state", {{"steps", steps}});
}

/// Collective. What write_state() wrote; returns the steps.
template <class T>
std::int64_t read_state(const output::Reader& reader, Body<T>& body, const comm::Communicator& comm) {
  const auto rows = mesh::read_rows<T, 6>(reader, "/state/motion", nodes_of(body.mesh, comm));
  const auto place = on_host(body.nodes.place);
  mesh::set_nodes(body.nodes.displacement, [&](LocalIndex n, int i) { return rows[n][i]; });
  mesh::set_nodes(body.nodes.motion,
                  [&](LocalIndex n, int i) { return i < 3 ? place(n, i) + rows[n][i] : rows[n][i]; });
  const auto states = mesh::read_rows<T, state_numbers>(reader, "/state/elements", elements_of(body.mesh, comm));
  each_state(body.elements, [&](const auto& view, int first, int) {
    mesh::set_elements(view, body.order, [&](LocalIndex e, int i) { return states[e][first + i]; });
  });
  const auto times = miniapp::read_values<double>(reader, "/state/clock");
  mesh::set_on_host(body.clock, [&](const auto& clock) {
    for (std::size_t i = 0; i < clock.size(); ++i) clock(i) = times.at(i);
  });
  return reader.attributes("/state").at("steps").get<std::int64_t>();
}

} // namespace kontor::dynamics
