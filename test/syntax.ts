// The syntax trees of the sources, as the TypeScript compiler reads them, and what the tests of the source tree ask of them.

import { join } from 'node:path';
import * as ast from 'typescript/unstable/ast';
import { API } from 'typescript/unstable/sync';

/** Calls `visit` with the tree of each file below the folders that the project in `root` compiles. */
export function readTrees(
  root: string,
  folders: readonly string[],
  visit: (tree: ast.SourceFile) => void,
): void {
  const config = join(root, 'tsconfig.json');
  const compiler = new API();
  try {
    const project = compiler.updateSnapshot({ openProjects: [config] }).getProject(config);
    if (project === undefined) throw new Error(`${config} is no project`);
    const { program } = project;
    for (const file of program.getSourceFileNames()) {
      const isAsked = folders.some((folder) => file.startsWith(join(folder, '/')));
      const tree = isAsked ? program.getSourceFile(file) : undefined;
      if (tree !== undefined) visit(tree);
    }
  } finally {
    compiler.close();
  }
}

function lineOf(tree: ast.SourceFile, position: number): number {
  return tree.text.slice(0, position).split('\n').length;
}

interface FunctionSize {
  readonly line: number;
  /** With its signature, and with the functions within it. */
  readonly lines: number;
}

export function functionsOf(tree: ast.SourceFile): FunctionSize[] {
  const found: FunctionSize[] = [];
  const walk = (node: ast.Node): void => {
    if (ast.isFunctionLikeDeclaration(node)) {
      const line = lineOf(tree, node.getStart(tree));
      found.push({ line, lines: lineOf(tree, node.end) - line + 1 });
    }
    node.forEachChild(walk);
  };
  walk(tree);
  return found;
}

/** What a module may make once: values of the platform that don't change, or not unless somebody writes to them. */
const platform =
  /^(Map|Set|WeakMap|WeakSet|RegExp|URL|TextDecoder|TextEncoder|Intl\.\w+|U?int\d+Array|Uint8Array|Uint16Array)$/;
/** Instances whose state nobody can observe: memory that is used again, empty between two calls, and a codec. */
const unobservable = /^(ByteWriter|Packr)$/;
const writes = /^(set|add|delete|clear|push|pop|shift|unshift|splice|sort|reverse|fill)$/;

/** What of a module's state can change while it runs, a line each. What is built up at the import does not. */
export function moduleStateOf(tree: ast.SourceFile): string[] {
  const found: string[] = [];
  const tell = (node: ast.Node) => found.push(`${lineOf(tree, node.getStart(tree))}: ${node.getText(tree)}`);
  const constants = new Set<string>();
  for (const statement of tree.statements) {
    if (!ast.isVariableStatement(statement)) continue;
    const { declarationList } = statement;
    if (!/^const\b/.test(declarationList.getText(tree))) tell(declarationList);
    for (const { name, initializer } of declarationList.declarations) {
      const made =
        initializer && ast.isNewExpression(initializer) ? initializer.expression.getText(tree) : null;
      if (made !== null && !platform.test(made) && !unobservable.test(made)) tell(declarationList);
      if (made === null || !unobservable.test(made)) constants.add(name.getText(tree));
    }
  }
  const isConstant = (node: ast.Node) => constants.has(node.getText(tree));
  const walk = (node: ast.Node, isInFunction: boolean): void => {
    if (isInFunction && isWrite(tree, node, isConstant)) tell(node);
    if (ast.isPropertyDeclaration(node) && /^(?=.*\bstatic\b)(?!.*\breadonly\b)/.test(node.getText(tree)))
      tell(node);
    const isWithin = isInFunction || ast.isFunctionLikeDeclaration(node);
    node.forEachChild((child) => walk(child, isWithin));
  };
  walk(tree, false);
  return found;
}

/** Whether it calls a method that writes, or assigns to a part, of what `isConstant` knows. */
function isWrite(tree: ast.SourceFile, node: ast.Node, isConstant: (node: ast.Node) => boolean): boolean {
  if (ast.isCallExpression(node) && ast.isPropertyAccessExpression(node.expression)) {
    const { expression, name } = node.expression;
    return isConstant(expression) && writes.test(name.text);
  }
  if (!ast.isBinaryExpression(node) || !/^(?![=!<>]=).*=$/.test(node.operatorToken.getText(tree)))
    return false;
  let target: ast.Node = node.left;
  // Where a global expression goes on searching is set before each search.
  if (ast.isPropertyAccessExpression(target) && target.name.text === 'lastIndex') return false;
  while (ast.isPropertyAccessExpression(target) || ast.isElementAccessExpression(target))
    target = target.expression;
  return target !== node.left && isConstant(target);
}
