// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/verify/read_back.hpp"

#include "machine/gather_to_root.hpp"

#include <kontor/output/error.hpp>
#include <kontor/output/values_at.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

namespace kontor::miniapp {

std::vector<FileValue> gather(const comm::Communicator& comm, std::vector<FileValue> mine) {
  constexpr int least = 4, all_together = 4096;
  const auto most = static_cast<std::size_t>(std::max(least, all_together / comm.size()));
  auto rows = nlohmann::ordered_json::array();
  for (auto& v : mine)
    if (rows.size() < most) rows.push_back({std::move(v.dataset), std::move(v.index), v.value, std::move(v.at)});
  std::vector<FileValue> result;
  for (const auto& v : gather_rows(comm, rows))
    result.push_back({v[0].get<std::string>(), v[1].get<std::vector<std::uint64_t>>(), v[2].get<double>(),
                      v[3].get<std::vector<double>>()});
  return result;
}

Verification compare_with_file(const std::filesystem::path& path, const std::vector<FileValue>& values) {
  Verification result{.measure = "values in the file that differ from those verified"};
  std::map<std::string, std::vector<const FileValue*>> of_dataset;
  for (const auto& value : values) of_dataset[value.dataset].push_back(&value);
  for (const auto& [name, wanted] : of_dataset) {
    std::vector<std::vector<std::uint64_t>> indices;
    for (const auto* value : wanted) indices.push_back(value->index);
    std::vector<double> found;
    try {
      found = output::values_at(path, name, indices);
    } catch (const output::Error& error) {
      result.error += static_cast<double>(wanted.size());
      result.remark = fmt::format("{} cannot be read back: {}", name, error.what());
      continue;
    }
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (found[i] == wanted[i]->value) continue;
      if (++result.error == 1)
        result.remark = fmt::format("{} at [{}] is {:.17g} in the file and {:.17g} in the field", name,
                                    fmt::join(wanted[i]->index, ", "), found[i], wanted[i]->value);
    }
  }
  return result;
}

Verification compare_with_image(const output::Image& image, const std::vector<output::MeshField>& fields,
                                const std::vector<FileValue>& values) {
  Verification result{.measure = "places of the file's mesh that are not the deck's"};
  for (const auto& [dataset, index, value, at] : values)
    for (const auto& field : fields) {
      if (field.dataset != dataset || at.empty()) continue;
      const double middle = field.centering == output::Centering::cells ? 0.5 : 0;
      for (std::size_t axis = 0; axis < index.size(); ++axis) {
        const double h = image.spacing[axis], number = static_cast<double>(index[index.size() - 1 - axis]) + middle;
        if (!(std::abs(image.origin[axis] + number * h - at[axis]) <= 1e-6 * h)) ++result.error;
      }
    }
  return result;
}

std::string words_of(const std::vector<FileValue>& values) {
  return fmt::format("file read back at {} places", values.size());
}

} // namespace kontor::miniapp
