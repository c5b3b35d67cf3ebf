// A new field or kind of statement comes with a golden file: every row of schema.def has to be written in one of those that
// are checked, and every kind of statement has to stand in one.
#include "compiler/ast/walk.h"
#include "compiler/parse/parse.h"
#include "compiler/sema/schema.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

namespace kft {
namespace {

namespace schema = sema::schema;

class Written : public ast::Visitor {
public:
  std::set<std::string> fields;
  std::set<ast::StmtKind> kinds;

  bool enter(const ast::Stmt &stmt) override {
    kinds.insert(stmt.kind);
    return true;
  }
  // `block` is what schema.def calls it; null: not of the schema.
  void statements(ast::ArrayRef<const ast::Stmt *> stmts, const schema::Block *block) {
    for (const ast::Stmt *stmt : stmts) statement(stmt, block);
  }

private:
  void statement(const ast::Stmt *stmt, const schema::Block *block) {
    if (!stmt) return;
    if (const auto *annotation = ast::as<ast::Annotation>(stmt)) return statement(annotation->target, block);
    if (const auto *loop = ast::as<ast::For>(stmt)) return statements(loop->block->stmts, block);
    if (const auto *choice = ast::as<ast::If>(stmt)) {
      statements(choice->then->stmts, block);
      statement(choice->elseIf, block);
      if (choice->otherwise) statements(choice->otherwise->stmts, block);
      return;
    }
    if (const auto *decl = ast::as<ast::Decl>(stmt)) {
      if (!block) return statements(decl->block->stmts, schema::find(decl->kindName.text));
      return field(*block, decl->kindName.text, decl->block);
    }
    if (!block) return;
    if (const auto *given = ast::as<ast::Field>(stmt)) field(*block, given->target.parts[0].text, ast::as<ast::Block>(given->value));
    if (const auto *nested = ast::as<ast::BlockField>(stmt)) {
      // In a profile `job.train { … }` and `job { … }` hold the fields of the kind.
      llvm::StringRef name = nested->target.parts[0].text;
      const schema::Block *kind = schema::find(name);
      if (block->name == "profile" && kind && kind->isKind) {
        fields.insert("profile.*");
        return statements(nested->block->stmts, kind);
      }
      field(*block, name, nested->block);
    }
    // `gang = "volcano"` is the member of that name.
    if (const auto *given = ast::as<ast::Field>(stmt))
      if (const schema::Field *known = block->find(given->target.parts[0].text))
        if (llvm::StringRef member = schema::argument(known->type, "one_of"); !member.empty())
          if (const auto *text = ast::as<ast::StringLiteral>(given->value); text && text->parts.size() == 1 && !text->parts[0].value)
            fields.insert(member.str() + "." + text->parts[0].text.str());
  }
  void field(const schema::Block &block, llvm::StringRef name, const ast::Block *inner) {
    const schema::Field *known = block.find(name);
    if (!known) {
      if (block.rest()) fields.insert(block.name.str() + ".*");
      return;
    }
    fields.insert(block.name.str() + "." + name.str());
    if (!inner) return;
    auto [first, second] = known->type.split(" | ");
    for (llvm::StringRef type : {first, second})
      for (llvm::StringRef head : {"block", "named", "ref", "one_of"})
        if (llvm::StringRef nested = schema::argument(type, head); !nested.empty()) statements(inner->stmts, schema::find(nested));
  }
};

Written everythingWritten() {
  namespace fs = std::filesystem;
  Written written;
  for (const fs::directory_entry &entry : fs::recursive_directory_iterator(KFT_GOLDEN_DIR)) {
    const fs::path &path = entry.path();
    if (path.extension() != ".kft") continue;
    // Files that stop at mistakes show no field at work.
    if (path.parent_path().filename() == "stderr" || path.parent_path().filename() == "fmt") continue;
    Compilation compilation;
    compilation.parse = [&](FileId file) -> const ast::Module & { return parse::module(file, compilation); };
    const ast::Module &module = parse::module(llvm::cantFail(compilation.sources.load(path.string())), compilation);
    EXPECT_FALSE(module.hasErrors) << path;
    ast::walk(module, written);
    written.statements(module.stmts, nullptr);
  }
  return written;
}

TEST(Golden, EveryFieldIsWritten) {
  const Written written = everythingWritten();
  for (const schema::Block &block : schema::blocks())
    for (const schema::Field &field : block.fields) {
      const std::string name = block.name.str() + "." + field.name.str();
      EXPECT_TRUE(written.fields.count(name)) << "no golden file writes " << name;
    }
}

TEST(Golden, EveryKindOfStatementIsWritten) {
  const Written written = everythingWritten();
  for (int kind = 0; kind < static_cast<int>(ast::StmtKind::ErrorStmt); ++kind)
    EXPECT_TRUE(written.kinds.count(static_cast<ast::StmtKind>(kind))) << "no golden file has a statement of kind " << kind;
}

} // namespace
} // namespace kft
