#include "runtime/nn/layer.h"
#include "runtime/plan/error.h"

namespace kft::run {

int64_t elements(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

int64_t ParameterShape::size() const { return elements(shape); }

const Arg *findArg(const LayerPlan &plan, const std::string &name) {
  for (const Arg &arg : plan.args)
    if (arg.name == name) return &arg;
  return nullptr;
}

double numberArg(const LayerPlan &plan, const std::string &name, std::optional<double> otherwise) {
  const Arg *arg = findArg(plan, name);
  if (arg && arg->kind == Arg::Kind::Number) return arg->number;
  if (!otherwise)
    throw Error(ExitCode::Invalid, plan.source, 0, "the plan's layer `" + plan.kind + "` has no `" + name + "`");
  return *otherwise;
}

bool flagArg(const LayerPlan &plan, const std::string &name, bool otherwise) {
  const Arg *arg = findArg(plan, name);
  return arg && arg->kind == Arg::Kind::Flag ? arg->flag : otherwise;
}

static constexpr struct {
  std::string_view kind;
  std::unique_ptr<Layer> (*make)(const LayerPlan &, LayerPlace);
} makers[] = {
#define KFT_LAYER(kind, maker, shapes, parameters) {#kind, maker},
#include "runtime/nn/layers.def"
};

std::unique_ptr<Layer> makeLayer(const LayerPlan &plan, LayerPlace place) {
  for (auto &row : makers) {
    if (plan.kind != row.kind) continue;
    std::unique_ptr<Layer> layer = row.make(plan, std::move(place));
    layer->inputs = elements(plan.inputShape), layer->outputs = elements(plan.outputShape);
    return layer;
  }
  throw Error(ExitCode::Invalid, plan.source, 0, "this engine has no layer `" + plan.kind + "`");
}

} // namespace kft::run
