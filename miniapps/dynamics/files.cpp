// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dynamics/files.hpp"

#include "mesh/rows.hpp"
#include "run/checkpoint/state.hpp"

#include <array>

namespace kontor::dynamics {
namespace {

/// The parts of an element's state, one after the other in a row.
template <class T>
std::array<std::pair<ElementView<T>, int>, 4> state_of(const ElementFields<T>& elements) {
  return {{{elements.stretch, 6}, {elements.rotation, 9}, {elements.stress, 6}, {elements.hourglass, 12}}};
}
constexpr std::size_t state_numbers = 33;

} // namespace

template <class T>
miniapp::FieldOutput write_fields(output::File& file, const std::string& group, const Body<T>& body,
                                  const comm::Communicator& comm, std::int64_t steps) {
  const auto& part = body.mesh;
  const mesh::Directory nodes{part.all_nodes, comm.size()}, elements{part.all_elements, comm.size()};
  const auto displacement = on_host(body.nodes.displacement);
  const auto motion = on_host(body.nodes.motion);
  const auto rotation = on_host(body.elements.rotation), stress = on_host(body.elements.stress);
  const auto of_nodes = [&](const char* name, const auto& row) {
    mesh::write_rows<T, 3>(file, group + name, comm, nodes, part.node, part.counted, row);
  };
  of_nodes("/displacement", [&](LocalIndex n) {
    return std::array{displacement(n, 0), displacement(n, 1), displacement(n, 2)};
  });
  of_nodes("/velocity", [&](LocalIndex n) { return std::array{motion(n, 3), motion(n, 4), motion(n, 5)}; });
  mesh::write_rows<T, 9>(file, group + "/stress", comm, elements, part.element, part.own, [&](LocalIndex e) {
    Tensor<T> r;
    Symmetric<T> s;
    for (int i = 0; i < 9; ++i) r.at[i] = body.order.number(rotation, e, i);
    for (int i = 0; i < 6; ++i) s.at[i] = body.order.number(stress, e, i);
    const auto cauchy = rotated<false>(r, s);
    std::array<T, 9> full;
    for (int i = 0; i < 9; ++i) full[i] = cauchy.at[packed(i / 3, i % 3)];
    return full;
  });
  mesh::write_rows<std::int32_t, 1>(file, group + "/rank", comm, elements, part.element, part.own,
                                    [&](LocalIndex) { return std::array{comm.rank()}; });
  const double time = on_host(body.clock)(elapsed);
  file.attributes(group, {{"steps", steps}, {"time", time}});
  if (group == "/fields") mesh::write_mesh(file, part, comm);

  using output::Centering;
  const auto field = [&](const char* name, output::Scalar scalar, Centering centering, std::uint64_t components) {
    return output::MeshField{name, group + "/" + name, scalar, centering, components};
  };
  constexpr auto scalar = output::scalar_of<T>;
  return {mesh::described(body.mesh),
          {time,
           {field("displacement", scalar, Centering::points, 3), field("velocity", scalar, Centering::points, 3),
            field("stress", scalar, Centering::cells, 9), field("rank", output::Scalar::int32, Centering::cells, 1)}}};
}

template <class T>
void write_state(output::File& file, const Body<T>& body, const comm::Communicator& comm, std::int64_t steps) {
  const auto& part = body.mesh;
  const auto displacement = on_host(body.nodes.displacement);
  const auto motion = on_host(body.nodes.motion);
  mesh::write_rows<T, 6>(file, "/state/motion", comm, mesh::Directory{part.all_nodes, comm.size()}, part.node,
                         part.counted, [&](LocalIndex n) {
                           std::array<T, 6> row;
                           for (int i = 0; i < 6; ++i) row[i] = i < 3 ? displacement(n, i) : motion(n, i);
                           return row;
                         });
  const auto parts = state_of(body.elements);
  std::vector<typename ElementView<T>::HostMirror> fields;
  for (const auto& [view, numbers] : parts) fields.push_back(on_host(view));
  mesh::write_rows<T, state_numbers>(file, "/state/elements", comm, mesh::Directory{part.all_elements, comm.size()},
                                     part.element, part.own, [&](LocalIndex e) {
                                       std::array<T, state_numbers> row;
                                       std::size_t next = 0;
                                       for (std::size_t p = 0; p < parts.size(); ++p)
                                         for (int i = 0; i < parts[p].second; ++i)
                                           row[next++] = body.order.number(fields[p], e, i);
                                       return row;
                                     });
  const auto clock = on_host(body.clock);
  miniapp::write_values(file, comm.native(), "/state/clock",
                        std::vector<double>(clock.data(), clock.data() + clock.size()));
  file.attributes("/state", {{"steps", steps}});
}

template <class T>
std::int64_t read_state(const output::Reader& reader, Body<T>& body, const comm::Communicator& comm) {
  const auto& part = body.mesh;
  const auto rows =
      mesh::read_rows<T, 6>(reader, "/state/motion", comm, mesh::Directory{part.all_nodes, comm.size()}, part.node);
  const auto place = on_host(body.nodes.place);
  const auto displacement = Kokkos::create_mirror_view(body.nodes.displacement);
  const auto motion = Kokkos::create_mirror_view(body.nodes.motion);
  for (LocalIndex n = 0; n < part.nodes(); ++n)
    for (int i = 0; i < 3; ++i) {
      displacement(n, i) = rows[n][i];
      motion(n, i) = place(n, i) + displacement(n, i);
      motion(n, 3 + i) = rows[n][3 + i];
    }
  Kokkos::deep_copy(body.nodes.displacement, displacement);
  Kokkos::deep_copy(body.nodes.motion, motion);
  const auto states = mesh::read_rows<T, state_numbers>(reader, "/state/elements", comm,
                                                        mesh::Directory{part.all_elements, comm.size()}, part.element);
  std::size_t next = 0;
  for (const auto& [view, numbers] : state_of(body.elements)) {
    const auto field = on_host(view);
    for (LocalIndex e = 0; e < part.elements(); ++e)
      for (int i = 0; i < numbers; ++i) body.order.number(field, e, i) = states[e][next + i];
    Kokkos::deep_copy(view, field);
    next += numbers;
  }
  const auto times = miniapp::read_values<double>(reader, "/state/clock");
  const auto clock = Kokkos::create_mirror_view(body.clock);
  for (std::size_t i = 0; i < clock.size(); ++i) clock(i) = times.at(i);
  Kokkos::deep_copy(body.clock, clock);
  return reader.attributes("/state").at("steps").get<std::int64_t>();
}

#define KONTOR_FIELDS(T)                                                                                               \
  template miniapp::FieldOutput write_fields(output::File&, const std::string&, const Body<T>&,                        \
                                             const comm::Communicator&, std::int64_t);                                 \
  template void write_state(output::File&, const Body<T>&, const comm::Communicator&, std::int64_t);                   \
  template std::int64_t read_state(const output::Reader&, Body<T>&, const comm::Communicator&);
KONTOR_FIELDS(float)
KONTOR_FIELDS(double)
#undef KONTOR_FIELDS

} // namespace kontor::dynamics
