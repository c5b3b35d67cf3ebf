#include "runtime/nn/model.h"
#include "runtime/plan/error.h"

#include <algorithm>

namespace kft::run {

// The next activation after layer `index`, looking through layers that leave the distribution alone.
static Activation activationAfter(const std::vector<LayerPlan> &layers, size_t index) {
  for (size_t i = index + 1; i < layers.size(); ++i) {
    if (layers[i].kind == "relu") return Activation::Relu;
    if (layers[i].kind == "tanh") return Activation::Tanh;
    if (layers[i].kind != "dropout" && layers[i].kind != "flatten") break;
  }
  return Activation::None;
}

Model::Model(const Plan &plan, int64_t rows, int64_t extra) {
  inputs_ = outputs_ = elements(plan.data.inputShape);
  if (inputs_ < 1 || plan.layers.empty())
    throw Error(ExitCode::Invalid, "the plan has a model without inputs or layers");
  activations_.emplace_back(rows * inputs_);
  input_ = activations_.back().data();
  int64_t widest = inputs_;
  // Of what the stage before needs in its backward pass: may this layer write over its input?
  Reads needed = Reads::Nothing;
  for (size_t i = 0; i < plan.layers.size(); ++i) {
    const LayerPlan &layerPlan = plan.layers[i];
    auto layer = makeLayer(layerPlan, {int64_t(i), plan.seed, plan.init, activationAfter(plan.layers, i)});
    if (layer->inputs != outputs_)
      throw Error(ExitCode::Invalid, layerPlan.source, 0,
                  "layer " + std::to_string(i) + " takes " + std::to_string(layer->inputs) + " values, but gets " +
                      std::to_string(outputs_));
    if (layer->activation() != Activation::None && !stages_.empty() &&
        stages_.back().layer->activation() == Activation::None && stages_.back().layer->takeOver(layer->activation())) {
      needed = stages_.back().layer->readsOutput();
      continue;
    }
    outputs_ = layer->outputs, widest = std::max(widest, outputs_);
    float *in = stages_.empty() ? input_ : stages_.back().out, *out = in;
    bool inPlace = layer->worksInPlace() && (needed == Reads::Nothing || (needed == Reads::Sign && layer->keepsSign()));
    if (!inPlace) activations_.emplace_back(rows * outputs_), out = activations_.back().data();
    // What stands in that memory must serve every layer that shares it.
    needed = std::max(layer->readsOutput(), inPlace ? needed : Reads::Nothing);
    if (count_ == 0) firstTrained_ = stages_.size();
    for (ParameterShape &shape : layer->parameters()) {
      named_.push_back({"layers." + std::to_string(i) + "." + shape.name, shape.shape, count_});
      count_ += shape.size();
    }
    stages_.push_back({std::move(layer), in, out});
  }
  if (count_ == 0) throw Error(ExitCode::Invalid, "the plan's model has no parameters, so there is nothing to train");
  parameters_ = Buffer(count_), parameterGradients_ = Buffer(count_ + extra);
  for (Buffer &buffer : gradients_)
    buffer = Buffer(rows * widest);
  int64_t offset = 0;
  for (Stage &stage : stages_) {
    stage.layer->place(parameters_.data() + offset, parameterGradients_.data() + offset);
    stage.layer->initialize();
    for (const ParameterShape &shape : stage.layer->parameters())
      offset += shape.size();
  }
}

const float *Model::forward(int64_t rows, const Pass &pass) {
  for (Stage &stage : stages_)
    stage.layer->forward(stage.in, stage.out, rows, pass);
  return stages_.back().out;
}

void Model::backward(int64_t rows, const Pass &pass) {
  float *gradient = gradients_[0].data(), *other = gradients_[1].data();
  for (size_t i = stages_.size(); i-- > firstTrained_;) {
    Stage &stage = stages_[i];
    bool inPlace = stage.in == stage.out;
    // Nobody needs the gradient of what comes before the first parameters.
    float *inGradient = i == firstTrained_ ? nullptr : inPlace ? gradient : other;
    stage.layer->backward(stage.in, stage.out, gradient, inGradient, rows, pass);
    if (!inPlace) std::swap(gradient, other);
  }
}

} // namespace kft::run
