// The syntax trees of the sources, as the TypeScript compiler reads them, and what the tests of the source tree ask of them.

import { join } from 'node:path';
import { isFunctionLikeDeclaration, type Node, type SourceFile } from 'typescript/unstable/ast';
import { API } from 'typescript/unstable/sync';

/** Calls `visit` with the tree of each file below the folders that the project in `root` compiles. */
export function readTrees(root: string, folders: readonly string[], visit: (tree: SourceFile) => void): void {
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

function lineOf(tree: SourceFile, position: number): number {
  return tree.text.slice(0, position).split('\n').length;
}

export interface FunctionSize {
  readonly line: number;
  /** With its signature, and with the functions within it. */
  readonly lines: number;
}

export function functionsOf(tree: SourceFile): FunctionSize[] {
  const found: FunctionSize[] = [];
  const walk = (node: Node): void => {
    if (isFunctionLikeDeclaration(node)) {
      const line = lineOf(tree, node.getStart(tree));
      found.push({ line, lines: lineOf(tree, node.end) - line + 1 });
    }
    node.forEachChild(walk);
  };
  walk(tree);
  return found;
}
