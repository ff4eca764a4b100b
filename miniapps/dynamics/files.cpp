// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dynamics/files.hpp"

#include "run/checkpoint/state.hpp"

#include <algorithm>
#include <array>

namespace kontor::dynamics {
namespace {

template <class View>
auto on_host(const View& view) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
}

Directory nodes_of_all(const LocalMesh& mesh, const comm::Communicator& comm) { return {mesh.all_nodes, comm.size()}; }
Directory elements_of_all(const LocalMesh& mesh, const comm::Communicator& comm) {
  return {mesh.all_elements, comm.size()};
}

/// Rows of n numbers of this rank's share in a dataset of all.
template <std::size_t n>
output::Block rows_of(const Directory& directory, int rank) {
  const auto first = static_cast<std::uint64_t>(directory.first(rank)),
             count = static_cast<std::uint64_t>(directory.size(rank));
  if constexpr (n == 1) return {{static_cast<std::uint64_t>(directory.count)}, {first}, {count}};
  return {{static_cast<std::uint64_t>(directory.count), n}, {first, 0}, {count, n}};
}

/// Collective. A dataset of rows(local number) of nodes or elements, each given by one rank.
template <class S, std::size_t n, class Row>
void write_rows(output::File& file, const std::string& name, const comm::Communicator& comm, const Directory& directory,
                const std::vector<GlobalIndex>& numbers, const std::vector<bool>& given, const Row& row) {
  std::vector<Numbered<std::array<S, n>>> records;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (given[i]) records.push_back({numbers[i], row(static_cast<LocalIndex>(i))});
  const auto share = hand_in(comm, directory, records);
  file.dataset(name, rows_of<n>(directory, comm.rank()), share.empty() ? nullptr : share.front().data());
}

template <class S, std::size_t n>
std::vector<std::array<S, n>> read_rows(const output::Reader& reader, const std::string& name,
                                        const comm::Communicator& comm, const Directory& directory,
                                        const std::vector<GlobalIndex>& numbers) {
  std::vector<std::array<S, n>> share(static_cast<std::size_t>(directory.size(comm.rank())));
  reader.read(name, rows_of<n>(directory, comm.rank()), share.empty() ? nullptr : share.front().data());
  return look_up(comm, directory, numbers, share);
}

void write_mesh(output::File& file, const LocalMesh& mesh, const comm::Communicator& comm) {
  const auto nodes = nodes_of_all(mesh, comm), elements = elements_of_all(mesh, comm);
  write_rows<double, 3>(file, "/mesh/coordinates", comm, nodes, mesh.node, mesh.counted,
                        [&](LocalIndex n) { return mesh.place[n].place; });
  const auto corners = [&](LocalIndex e) {
    std::array<std::int64_t, 8> numbers;
    std::ranges::transform(mesh.corner[e], numbers.begin(), [&](LocalIndex n) { return mesh.node[n]; });
    return numbers;
  };
  write_rows<std::int64_t, 8>(file, "/mesh/connectivity", comm, elements, mesh.element, mesh.own, corners);
  // The same as VTK wants it, without a second dimension.
  std::vector<Numbered<std::array<std::int64_t, 8>>> records;
  for (LocalIndex e = 0; e < mesh.elements(); ++e)
    if (mesh.own[e]) records.push_back({mesh.element[e], corners(e)});
  const auto share = hand_in(comm, elements, records);
  const auto block = rows_of<8>(elements, comm.rank());
  file.dataset("/VTKHDF/Connectivity", {{8 * block.global[0]}, {8 * block.offset[0]}, {8 * block.extent[0]}},
               share.empty() ? nullptr : share.front().data());
}

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
  const auto& mesh = body.mesh;
  const auto nodes = nodes_of_all(mesh, comm), elements = elements_of_all(mesh, comm);
  const auto displacement = on_host(body.nodes.displacement);
  const auto motion = on_host(body.nodes.motion);
  const auto rotation = on_host(body.elements.rotation), stress = on_host(body.elements.stress);
  const auto of_nodes = [&](const char* name, const auto& row) {
    write_rows<T, 3>(file, group + name, comm, nodes, mesh.node, mesh.counted, row);
  };
  of_nodes("/displacement",
           [&](LocalIndex n) { return std::array{displacement(n, 0), displacement(n, 1), displacement(n, 2)}; });
  of_nodes("/velocity", [&](LocalIndex n) { return std::array{motion(n, 3), motion(n, 4), motion(n, 5)}; });
  write_rows<T, 9>(file, group + "/stress", comm, elements, mesh.element, mesh.own, [&](LocalIndex e) {
    const auto block = body.slot(e) / width<T>, l = body.slot(e) % width<T>;
    Tensor<T> r;
    Symmetric<T> s;
    for (int i = 0; i < 9; ++i) r.at[i] = lane(rotation(block, i), l);
    for (int i = 0; i < 6; ++i) s.at[i] = lane(stress(block, i), l);
    const auto cauchy = rotated<false>(r, s);
    std::array<T, 9> full;
    for (int i = 0; i < 9; ++i) full[i] = cauchy.at[packed(i / 3, i % 3)];
    return full;
  });
  write_rows<std::int32_t, 1>(file, group + "/rank", comm, elements, mesh.element, mesh.own,
                              [&](LocalIndex) { return std::array{comm.rank()}; });
  const double time = on_host(body.clock)(elapsed);
  file.attributes(group, {{"steps", steps}, {"time", time}});
  if (group == "/fields") write_mesh(file, mesh, comm);

  using output::Centering;
  const auto field = [&](const char* name, output::Scalar scalar, Centering centering, std::uint64_t components) {
    return output::MeshField{name, group + "/" + name, scalar, centering, components};
  };
  constexpr auto scalar = output::scalar_of<T>;
  return {output::Hexahedra{static_cast<std::uint64_t>(nodes.count), static_cast<std::uint64_t>(elements.count),
                            "/mesh/coordinates", "/mesh/connectivity"},
          {time,
           {field("displacement", scalar, Centering::points, 3), field("velocity", scalar, Centering::points, 3),
            field("stress", scalar, Centering::cells, 9), field("rank", output::Scalar::int32, Centering::cells, 1)}}};
}

template <class T>
void write_state(output::File& file, const Body<T>& body, const comm::Communicator& comm, std::int64_t steps) {
  const auto& mesh = body.mesh;
  const auto displacement = on_host(body.nodes.displacement);
  const auto motion = on_host(body.nodes.motion);
  write_rows<T, 6>(file, "/state/motion", comm, nodes_of_all(mesh, comm), mesh.node, mesh.counted, [&](LocalIndex n) {
    std::array<T, 6> row;
    for (int i = 0; i < 6; ++i) row[i] = i < 3 ? displacement(n, i) : motion(n, i);
    return row;
  });
  const auto parts = state_of(body.elements);
  std::vector<typename ElementView<T>::HostMirror> fields;
  for (const auto& [view, numbers] : parts) fields.push_back(on_host(view));
  write_rows<T, state_numbers>(file, "/state/elements", comm, elements_of_all(mesh, comm), mesh.element, mesh.own,
                               [&](LocalIndex e) {
                                 std::array<T, state_numbers> row;
                                 std::size_t next = 0;
                                 for (std::size_t p = 0; p < parts.size(); ++p)
                                   for (int i = 0; i < parts[p].second; ++i)
                                     row[next++] = lane(fields[p](body.slot(e) / width<T>, i), body.slot(e) % width<T>);
                                 return row;
                               });
  const auto clock = on_host(body.clock);
  miniapp::write_values(file, comm.native(), "/state/clock",
                        std::vector<double>(clock.data(), clock.data() + clock.size()));
  file.attributes("/state", {{"steps", steps}});
}

template <class T>
std::int64_t read_state(const output::Reader& reader, Body<T>& body, const comm::Communicator& comm) {
  const auto& mesh = body.mesh;
  const auto rows = read_rows<T, 6>(reader, "/state/motion", comm, nodes_of_all(mesh, comm), mesh.node);
  const auto place = on_host(body.nodes.place);
  const auto displacement = Kokkos::create_mirror_view(body.nodes.displacement);
  const auto motion = Kokkos::create_mirror_view(body.nodes.motion);
  for (LocalIndex n = 0; n < mesh.nodes(); ++n)
    for (int i = 0; i < 3; ++i) {
      displacement(n, i) = rows[n][i];
      motion(n, i) = place(n, i) + displacement(n, i);
      motion(n, 3 + i) = rows[n][3 + i];
    }
  Kokkos::deep_copy(body.nodes.displacement, displacement);
  Kokkos::deep_copy(body.nodes.motion, motion);
  const auto states =
      read_rows<T, state_numbers>(reader, "/state/elements", comm, elements_of_all(mesh, comm), mesh.element);
  std::size_t next = 0;
  for (const auto& [view, numbers] : state_of(body.elements)) {
    const auto field = on_host(view);
    for (LocalIndex e = 0; e < mesh.elements(); ++e)
      for (int i = 0; i < numbers; ++i)
        lane(field(body.slot(e) / width<T>, i), body.slot(e) % width<T>) = states[e][next + i];
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
