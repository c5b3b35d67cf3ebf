// The data as the plan needs to know them, read by the same code as the ranks use; what is wrong is shown at the place in the
// .kft that brought it up, with the line of the data file in the message.
#include "compiler/plan/plan.h"
#include "compiler/plan/text.h"
#include "runtime/data/inspect.h"
#include "runtime/plan/error.h"

#include <fmt/format.h>

namespace kft::plan {

namespace {

// As the user wrote it where that names the same file, else the path.
std::string shownAs(const std::string &path, const ir::Dataset &dataset) {
  if (path == dataset.localPath && !dataset.source.empty()) return dataset.source;
  if (path == dataset.testPath && !dataset.testSource.empty()) return dataset.testSource;
  return path;
}

int64_t ceilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

} // namespace

bool lookAtData(run::Plan &plan, const ir::Job &job, Compilation &compilation) {
  const ir::Dataset &dataset = *job.dataset;
  const SourceRange at = dataset.atSource.valid() ? dataset.atSource : dataset.at;
  if (dataset.isRemote) {
    compilation.diags.report(at, diag::DataRemote{.source = dataset.source});
    return false;
  }
  run::DataFacts facts;
  // The engine's own library throws; this is the door it enters by.
  try {
    run::DataPlan data = plan.data;
    // Without the shape the library takes any width, and the mismatch is ours to show at the model's input. With a second
    // file it has to compare both.
    if (data.testPath.empty()) data.inputShape.clear();
    facts = run::inspect(data);
  } catch (const run::Error &error) {
    const std::string file = shownAs(error.path.empty() ? plan.data.path : error.path, dataset);
    if (error.code == run::ExitCode::Missing || error.code == run::ExitCode::InputOutput) {
      auto report = compilation.diags.report(at, diag::DataMissing{.file = file, .reason = error.text});
      if (!error.path.empty() && error.path != file) report.note(diag::WhereLooked{.path = error.path});
    } else {
      const std::string place = error.line > 0 ? fmt::format("{}:{}", file, error.line) : fmt::format("`{}`", file);
      // A bad class is as often a last layer that is too narrow.
      auto report = compilation.diags.report(at, diag::DataInvalid{.place = place, .problem = error.text});
      if (plan.data.targetKind == "class" && llvm::StringRef(error.text).contains("out of range") && !job.model->layers.empty())
        report.note(job.model->layers.back().at, diag::ModelEndsHere{});
    }
    return false;
  }
  const std::string file = shownAs(plan.data.path, dataset);
  const int64_t wanted = product(plan.data.inputShape);
  if (facts.features != wanted) {
    compilation.diags.report(job.model->atInput.valid() ? job.model->atInput : at,
                             diag::FeatureCount{.shape = shapeText(plan.data.inputShape), .wanted = wanted, .file = file, .found = facts.features});
    return false;
  }
  if (facts.trainRows < plan.ranks) {
    compilation.diags.report(at, diag::TooFewRows{.file = file, .rows = facts.trainRows, .ranks = plan.ranks});
    return false;
  }
  run::DataPlan &data = plan.data;
  data.rows = facts.rows;
  data.trainRows = facts.trainRows;
  data.testRows = facts.testRows;
  data.sha256 = facts.sha256;
  data.label = facts.label;
  run::LoopPlan &loop = plan.loop;
  const SourceRange atBatch = job.trainer->native->atBatch.valid() ? job.trainer->native->atBatch : job.trainer->at;
  if (loop.globalBatch > data.trainRows) compilation.diags.report(atBatch, diag::BatchOverRows{.batch = loop.globalBatch, .rows = data.trainRows});
  // The last step of an epoch takes what is left, with its true number of rows.
  loop.stepsPerEpoch = loop.dropLast ? std::max<int64_t>(1, data.trainRows / loop.globalBatch) : ceilDivide(data.trainRows, loop.globalBatch);
  if (loop.epochs > 0 && __builtin_mul_overflow(loop.epochs, loop.stepsPerEpoch, &loop.steps)) {
    compilation.diags.report(job.trainer->native->atBatch.valid() ? job.trainer->native->atBatch : job.trainer->at, diag::StepsOverflow{.epochs = loop.epochs, .steps = loop.stepsPerEpoch});
    return false;
  }
  if (loop.epochs > 0) checkWarmup(plan, job, compilation);
  if (data.targetKind == "class" && facts.highestClass >= 0 && facts.highestClass + 1 < data.classes)
    compilation.diags.report(job.model->layers.back().at, diag::ClassesUnused{.width = data.classes, .low = facts.lowestClass, .high = facts.highestClass});
  return true;
}

} // namespace kft::plan
