// Visits every node in the order of the text. What is null in the tree is not visited.
#pragma once

#include "compiler/ast/nodes.h"

namespace kft::ast {

class Visitor {
public:
  virtual ~Visitor() = default;
  // Called before the children, which are left out when the answer is false.
  virtual bool enter(const Stmt &) { return true; }
  virtual bool enter(const Expr &) { return true; }
  virtual bool enter(const Type &) { return true; }
  // Called after the children of every node that was entered.
  virtual void leave(const Stmt &) {}
  virtual void leave(const Expr &) {}
  virtual void leave(const Type &) {}
};

void walk(const Module &module, Visitor &visitor);
void walk(const Stmt &stmt, Visitor &visitor);
void walk(const Expr &expr, Visitor &visitor);
void walk(const Type &type, Visitor &visitor);

} // namespace kft::ast
