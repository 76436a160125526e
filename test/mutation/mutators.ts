// Mistakes that StrykerJS' instrumenter does not make: a promise that is not awaited, a number that is off by one or doubled, a
// statement left out, and arguments swapped. They are added to its own, which it reads from one list.

import { allMutators } from '../../node_modules/@stryker-mutator/instrumenter/dist/src/mutators/mutate.js';
import { deepCloneNode } from '../../node_modules/@stryker-mutator/instrumenter/dist/src/util/syntax-helpers.js';

type Mutator = (typeof allMutators)[number];

const droppedAwait: Mutator = {
  name: 'DroppedAwait',
  *mutate({ node }) {
    if (node.type === 'AwaitExpression') yield deepCloneNode(node.argument);
  },
};

/** Large numbers are bounds that were chosen: one more is no mistake, twice as much is. */
const changedNumber: Mutator = {
  name: 'ChangedNumber',
  *mutate({ node, parent }) {
    if (node.type !== 'NumericLiteral' || !Number.isSafeInteger(node.value)) return;
    if (parent?.type === 'ObjectProperty' && parent.key === node) return;
    if (parent?.type === 'TSLiteralType') return;
    const value = node.value <= 16 ? node.value + 1 : node.value * 2;
    yield { ...node, value, extra: { raw: String(value), rawValue: value } };
  },
};

const removedStatement: Mutator = {
  name: 'RemovedStatement',
  *mutate({ node, parent }) {
    if (node.type !== 'ExpressionStatement') return;
    // A block without it is what an emptied block is, too.
    if (parent?.type === 'BlockStatement' && parent.body.length === 1) return;
    const { expression } = node;
    if (expression.type === 'CallExpression' && expression.callee.type === 'Super') return;
    const { loc, start, end } = node;
    yield { type: 'BlockStatement', body: [], directives: [], loc, start, end } as never;
  },
};

const plain = ['Identifier', 'MemberExpression', 'CallExpression'];
/** Their arguments may stand in any order. */
const commutative = ['min', 'max', 'timingSafeEqual'];

function nameOf(callee: {
  readonly type: string;
  readonly name?: unknown;
  readonly property?: unknown;
}): string {
  const { name } = callee.type === 'MemberExpression' ? (callee.property as { name?: unknown }) : callee;
  return String(name);
}

const swappedArguments: Mutator = {
  name: 'SwappedArguments',
  *mutate({ node }) {
    if (node.type !== 'CallExpression' && node.type !== 'NewExpression') return;
    const [first, second, ...others] = node.arguments;
    if (first === undefined || second === undefined || commutative.includes(nameOf(node.callee))) return;
    if (plain.includes(first.type) && plain.includes(second.type))
      yield { ...deepCloneNode(node), arguments: [second, first, ...others].map(deepCloneNode) };
  },
};

export function addMutators(): void {
  for (const mutator of [droppedAwait, changedNumber, removedStatement, swappedArguments])
    if (!allMutators.includes(mutator)) allMutators.push(mutator);
}
