// What a target is made of: one Kubernetes object, keys in the order people write them.
#pragma once

#include "compiler/ir/tree.h"

#include <string>

namespace kft::target {

using Tree = ir::Tree;

struct Object {
  std::string apiVersion, kind, name, nameSpace;
  Tree root; // the whole document, apiVersion and kind included
};

} // namespace kft::target
