// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace kontor::fuzz {

/// What inputs are made of: whole ones that are valid, and words that stand in such inputs.
struct Material {
  std::vector<std::string> samples; ///< one or more
  std::vector<std::string> words;
  bool binary = false; ///< numbers are bytes, not digits
};

/// A sample, changed at 1 to 8 places: bits, bytes, numbers, words; parts removed, repeated, or taken from another
/// sample. The same for the same material, seed and number, on every machine.
std::string mutated(const Material&, std::uint64_t seed, std::uint64_t number);

/// What reads inputs of one kind.
struct Target {
  std::string name;
  Material material;
  /// Reads an input, which is also in the file. Returns why it is refused, by an error of the documented kinds; empty:
  /// it is accepted. Everything that is thrown is a finding.
  std::function<std::string(const std::string& input, const std::filesystem::path& file)> take;
};

/// Decks of all apps, as a program reads them up to --print-deck; what is printed must be accepted, and printed alike.
Target decks();
/// Values of --set.
Target overrides();
/// Formulas, compiled and evaluated.
Target formulas();
/// Matrix Market files of matrices and of vectors.
Target matrices();
Target vectors();
/// HDF5 files: all that output::Reader does with them. Files that Kontor writes, and others.
Target results();
/// HDF5 files as what a run goes on from.
Target checkpoints();
/// What a checkpoint tells of itself, as JSON text: written into one whose checksums are right.
Target checkpoint_headers();

/// Why a call is refused, by an error of this kind; empty: it is not.
template <class Error, class Call>
std::string refusal_of(Call&& call) {
  try {
    call();
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

/// A folder of this process alone, removed at its end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// The text of a file.
std::string text_of(const std::filesystem::path&);

} // namespace kontor::fuzz
