// Layer plans from short texts: layer("dense", "6 -> 5", "units=5 bias=1").
#pragma once

#include "runtime/plan/run_plan.h"

#include <sstream>

inline std::vector<int64_t> shapeOf(const std::string &text) {
  std::vector<int64_t> shape;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, 'x');)
    shape.push_back(std::stoll(part));
  return shape;
}

inline kft::run::LayerPlan layer(const std::string &kind, const std::string &shapes,
                                 const std::string &parameters = "") {
  using kft::run::Arg;
  kft::run::LayerPlan plan;
  plan.kind = kind;
  size_t arrow = shapes.find(" -> ");
  plan.inputShape = shapeOf(shapes.substr(0, arrow)), plan.outputShape = shapeOf(shapes.substr(arrow + 4));
  std::istringstream in(parameters);
  for (std::string part; in >> part;) {
    size_t equals = part.find('=');
    Arg arg;
    arg.name = part.substr(0, equals);
    std::string value = part.substr(equals + 1);
    if (arg.name == "bias")
      arg.kind = Arg::Kind::Flag, arg.flag = value != "0";
    else
      arg.number = std::stod(value);
    plan.args.push_back(arg);
  }
  return plan;
}

inline kft::run::Plan modelPlan(std::vector<kft::run::LayerPlan> layers) {
  kft::run::Plan plan;
  plan.seed = 42, plan.data.inputShape = layers.front().inputShape;
  plan.layers = std::move(layers);
  return plan;
}
