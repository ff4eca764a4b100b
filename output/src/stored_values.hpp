// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "stored.hpp"

#include <string>

namespace kontor::output {

/// The values of a dataset of rank 0 or 1 as JSON; of a table, objects.
Json dataset_values(const Stored& stored, hid_t dataset, const std::string& name);

/// The value or values of an attribute of an open object, which is called `object`.
Json attribute_values(const Stored& stored, hid_t open, const std::string& object, const std::string& name);

/// "; /fields has temperature": what there is where `object` is not.
std::string present(hid_t file, const std::string& object);

} // namespace kontor::output
