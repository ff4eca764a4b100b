// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>

namespace kontor::output {

/// Throws Error if `target` cannot be replaced by a file, or `temporary` beside it not be created.
void check_creatable(const std::filesystem::path& target, const std::filesystem::path& temporary);

/// Waits until the file's data are on the disk; throws Error if they did not get there.
void sync(const std::filesystem::path& file);

/// Renames `temporary` to `target` and syncs the directory.
void replace(const std::filesystem::path& temporary, const std::filesystem::path& target);

/// Removes a file that failed, and gives its space back even where it is still open.
void discard(const std::filesystem::path& file) noexcept;

} // namespace kontor::output
