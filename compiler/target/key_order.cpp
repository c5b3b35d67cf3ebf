#include "compiler/target/key_order.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>

namespace kft::target {

namespace {

using llvm::ArrayRef;
using llvm::StringRef;

constexpr StringRef Pod[] = {"serviceAccountName", "automountServiceAccountToken", "imagePullSecrets", "runtimeClassName", "schedulerName", "priorityClassName",
                             "nodeName", "nodeSelector", "affinity", "tolerations", "topologySpreadConstraints", "hostNetwork", "hostPID", "hostIPC", "dnsPolicy",
                             "restartPolicy", "terminationGracePeriodSeconds", "activeDeadlineSeconds", "securityContext"};
constexpr StringRef PodEnd[] = {"initContainers", "containers", "volumes"};
constexpr StringRef Container[] = {"name", "image", "imagePullPolicy", "command", "args", "workingDir", "env", "envFrom", "ports", "resources", "volumeMounts", "volumeDevices",
                                   "securityContext", "startupProbe", "readinessProbe", "livenessProbe", "lifecycle"};
constexpr StringRef Item[] = {"name", "mountPath", "key", "value", "operator"};
constexpr StringRef Resources[] = {"requests", "limits"};
constexpr StringRef JobSet[] = {"network", "startupPolicy", "successPolicy", "failurePolicy"};

// Keys of `first` in front, in that order; keys of `last` at the end; the others between them as they are.
void order(Tree &map, ArrayRef<StringRef> first, ArrayRef<StringRef> last = {}) {
  auto rank = [&](StringRef key) {
    const auto *front = std::find(first.begin(), first.end(), key);
    if (front != first.end()) return front - first.begin();
    const auto *back = std::find(last.begin(), last.end(), key);
    return static_cast<std::ptrdiff_t>(first.size()) + (back == last.end() ? 0 : 1 + (back - last.begin()));
  };
  std::stable_sort(map.fields.begin(), map.fields.end(), [&](const auto &a, const auto &b) { return rank(a.first) < rank(b.first); });
}

void orderItems(Tree &tree) {
  for (Tree &item : tree.items) {
    if (item.isMap()) order(item, Item);
    orderItems(item);
  }
  for (auto &[key, value] : tree.fields) orderItems(value);
}

} // namespace

void orderPodSpec(Tree &spec) {
  orderItems(spec);
  order(spec, Pod, PodEnd);
  for (const char *list : {"initContainers", "containers", "ephemeralContainers"})
    if (Tree *containers = spec.find(list))
      for (Tree &container : containers->items) {
        order(container, Container);
        if (Tree *resources = container.find("resources")) order(*resources, Resources);
      }
}

void orderJobSetSpec(Tree &spec) {
  orderItems(spec);
  order(spec, JobSet);
}

} // namespace kft::target
