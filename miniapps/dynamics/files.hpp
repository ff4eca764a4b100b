// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "dynamics/body.hpp"
#include "mesh/rows.hpp"
#include "run/checkpoint/state.hpp"
#include "run/mini_app.hpp"
#include "run/verify/digest.hpp"
#include "run/verify/places.hpp"

#include <kontor/comm/reductions.hpp>

#include <fmt/format.h>

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

/// Local. Cauchy stress of an element from its rotation and stress on the host, row by row.
template <class T>
std::array<T, 9> cauchy_stress(const BlockOrder<T>& order, const device::HostMirror<ElementView<T>>& rotation,
                               const device::HostMirror<ElementView<T>>& stress, LocalIndex e) {
  Tensor<T> r;
  Symmetric<T> s;
  order.read(rotation, e, r.at);
  order.read(stress, e, s.at);
  const auto cauchy = rotated<false>(r, s);
  std::array<T, 9> full;
  for (int i = 0; i < 9; ++i) full[i] = cauchy.at[packed(i / 3, i % 3)];
  return full;
}

/// Collective. Displacement, velocity, stress and rank; the mesh with the group "/fields".
template <class T>
miniapp::FieldOutput write_fields(output::File& file, const std::string& group, const Body<T>& body,
                                  const comm::Communicator& comm) {
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
  write("stress", Centering::cells, [&](LocalIndex e) { return cauchy_stress(body.order, rotation, stress, e); });
  write("rank", Centering::cells, [&](LocalIndex) { return std::array{comm.rank()}; });
  if (group == "/fields") mesh::write_mesh(file, body.mesh, comm);
  return {mesh::described(body.mesh), snapshot};
}

/// Local. Values of all fields and of the mesh at random nodes and elements, and where write_fields() puts them.
template <class T>
std::vector<miniapp::FileValue> file_values(const Body<T>& body, const comm::Communicator& comm, std::uint64_t seed) {
  constexpr std::int64_t places = 64;
  auto random = miniapp::generator_of(seed, comm.rank());
  const auto& mesh = body.mesh;
  const auto displacement = on_host(body.nodes.displacement);
  const auto motion = on_host(body.nodes.motion);
  const auto rotation = on_host(body.elements.rotation), stress = on_host(body.elements.stress);
  std::vector<miniapp::FileValue> values;
  const auto add = [&](const char* name, mesh::GlobalIndex row, std::uint64_t column, auto value) {
    values.push_back({name, {static_cast<std::uint64_t>(row), column}, static_cast<double>(value)});
  };
  for (const auto i : miniapp::sample_numbers(std::max(mesh.nodes(), mesh.elements()), places, random)) {
    const auto n = static_cast<LocalIndex>(i % mesh.nodes()), e = static_cast<LocalIndex>(i % mesh.elements());
    for (int d = 0; mesh.counted[n] && d < 3; ++d) {
      add("/fields/displacement", mesh.node[n], d, displacement(n, d));
      add("/fields/velocity", mesh.node[n], d, motion(n, 3 + d));
      add("/mesh/coordinates", mesh.node[n], d, mesh.place[n].place[d]);
    }
    if (!mesh.own[e]) continue;
    const auto cauchy = cauchy_stress(body.order, rotation, stress, e);
    for (int k = 0; k < 9; ++k) add("/fields/stress", mesh.element[e], k, cauchy[k]);
    for (int c = 0; c < 8; ++c) add("/mesh/connectivity", mesh.element[e], c, mesh.node[mesh.corner[e][c]]);
    values.push_back({"/fields/rank", {static_cast<std::uint64_t>(mesh.element[e])}, static_cast<double>(comm.rank())});
  }
  return values;
}

/// Collective. A checksum of what steps read, as it is in memory: what a restart does not restore changes it.
template <class T>
std::string digest_of_state(const Body<T>& body, const comm::Communicator& comm) {
  const auto& [nodes, elements, mesh] = std::tie(body.nodes, body.elements, body.mesh);
  std::uint64_t sum = 0, field = 0;
  const auto add = [&](mesh::GlobalIndex row, int i, T number) {
    sum +=
        miniapp::digest_of((static_cast<std::uint64_t>(row) * 8 + field) * 16 + static_cast<std::uint64_t>(i), number);
  };
  for (const auto& view :
       std::array{elements.stretch, elements.rotation, elements.stress, elements.hourglass, elements.viscous}) {
    const auto host = on_host(view);
    for (LocalIndex e = 0; e < mesh.elements(); ++e)
      for (int i = 0; host.size() > 0 && mesh.own[e] && i < static_cast<int>(view.extent(1)); ++i)
        add(mesh.element[e], i, body.order.number(host, e, i));
    ++field;
  }
  const auto displacement = on_host(nodes.displacement);
  const auto motion = on_host(nodes.motion);
  for (LocalIndex n = 0; n < mesh.nodes(); ++n)
    for (int i = 0; mesh.counted[n] && i < 9; ++i) add(mesh.node[n], i, i < 6 ? motion(n, i) : displacement(n, i - 6));
  return fmt::format("{:016x}", comm::allreduce(comm, sum, comm::ReduceOp::sum));
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
  if (const auto viscous = on_host(body.elements.viscous); viscous.size() > 0)
    mesh::write_rows(file, "/state/viscous", elements_of(body.mesh, comm), [&](LocalIndex e) {
      std::array<T, viscous_numbers> row;
      for (int i = 0; i < viscous_numbers; ++i) row[i] = body.order.number(viscous, e, i);
      return row;
    });
  const auto clock = on_host(body.clock);
  miniapp::write_values(file, comm.native(), "/state/clock",
                        std::vector<double>(clock.data(), clock.data() + clock.size()));
  file.record("/state/numbers", {{"steps", steps}, {"digest", digest_of_state(body, comm)}});
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
  if (body.options.hourglass.viscosity > 0) {
    const auto viscous = mesh::read_rows<T, viscous_numbers>(reader, "/state/viscous", elements_of(body.mesh, comm));
    mesh::set_elements(body.elements.viscous, body.order, [&](LocalIndex e, int i) { return viscous[e][i]; });
  }
  const auto times = miniapp::read_values<double>(reader, "/state/clock");
  mesh::set_on_host(body.clock, [&](const auto& clock) {
    for (std::size_t i = 0; i < clock.size(); ++i) clock(i) = times.at(i);
  });
  return reader.record("/state/numbers").at("steps").get<std::int64_t>();
}

} // namespace kontor::dynamics
