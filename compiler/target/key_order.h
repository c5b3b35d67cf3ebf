// The order of keys in Kubernetes objects: the one people write them in. Where nobody has a habit, it stays the author's.
#pragma once

#include "compiler/target/object.h"

namespace kft::target {

// Of a pod's spec, and of the containers, volumes and other named items in it.
void orderPodSpec(Tree &spec);
// Of a JobSet's spec without its replicatedJobs.
void orderJobSetSpec(Tree &spec);

} // namespace kft::target
