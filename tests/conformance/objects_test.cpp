// Every object of the golden files, as somebody else's reader sees it, by the table of Kubernetes fields.
#include "tests/unit/target/conforms.h"

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <charconv>
#include <filesystem>

namespace kft::target {
namespace {

Tree read(const YAML::Node &node) {
  Tree tree;
  if (node.IsSequence()) {
    tree = Tree::list();
    for (const YAML::Node &item : node) tree.add(read(item));
  } else if (node.IsMap()) {
    tree = Tree::map();
    for (const auto &entry : node) tree.set(entry.first.Scalar(), read(entry.second));
  } else if (node.IsScalar()) {
    const std::string text = node.Scalar();
    int64_t number = 0;
    const bool isQuoted = node.Tag() == "!";
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (!isQuoted && code == std::errc() && end == text.data() + text.size()) tree = Tree::of(number);
    else if (!isQuoted && (text == "true" || text == "false")) tree = Tree::of(text == "true");
    else tree = Tree::of(text);
  }
  return tree;
}

TEST(Conformance, GoldenObjectsAreValid) {
  int objects = 0;
  for (const auto &file : std::filesystem::directory_iterator(KFT_SOURCE_DIR "/tests/golden/yaml")) {
    if (file.path().extension() != ".yaml") continue;
    for (const YAML::Node &document : YAML::LoadAllFromFile(file.path().string())) {
      Object object;
      object.root = read(document);
      object.apiVersion = object.root.find("apiVersion")->text;
      object.kind = object.root.find("kind")->text;
      object.name = object.root.find("metadata")->find("name")->text;
      for (const std::string &problem : problemsOf(object)) ADD_FAILURE() << file.path().filename() << ", " << object.kind << " " << object.name << ": " << problem;
      ++objects;
    }
  }
  EXPECT_GT(objects, 20);
}

// The judge itself: what a cluster refuses is found.
TEST(Conformance, TheTableRefuses) {
  auto problems = [](const char *text) {
    Object object;
    object.root = read(YAML::Load(text));
    object.apiVersion = object.root.find("apiVersion")->text;
    object.kind = object.root.find("kind")->text;
    return problemsOf(object).size();
  };
  const std::string head = "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: {name: a}\nspec:\n  runtimeRef: {name: x}\n";
  EXPECT_EQ(problems(head.c_str()), 0u);
  for (const char *wrong : {"  trainer: {numNode: 1}\n", "  trainer: {numNodes: \"1\"}\n", "  trainer: {command: [1]}\n", "  trainer: {env: [{name: A}, {name: A}]}\n", "  suspend: \"true\"\n",
                            "  activeDeadlineSeconds: 0\n", "  trainer: {resourcesPerNode: {limits: {cpu: 1g}}}\n", "  runtimePatches: [{}]\n"})
    EXPECT_EQ(problems((head + wrong).c_str()), 1u) << wrong;
}

} // namespace
} // namespace kft::target
