// A model as a .safetensors file: eight bytes of header length, a JSON header, raw little-endian floats. Readable by
// the Python package of that name, and by everything that reads those files.
#pragma once

#include "runtime/data/dataset.h"
#include "runtime/nn/model.h"

#include <string>

namespace kft::run {

// Writes `path` by way of a temporary name, synced before it is renamed; makes its folder. Returns the file's size.
// Throws Error. Parameters are called "layers.N.weight", as the plan counts layers. With `normalize` the file also has
// "input.factor" and "input.shift", one number a column: the model was trained on x·factor + shift of the file's
// numbers x.
int64_t writeSafetensors(const std::string &path, const Plan &plan, const Model &model, const Dataset &data);

} // namespace kft::run
