// The state diagrams of docs/ARCHITECTURE.md as data, and the transitions that a series of commands takes.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Change, RecordKind } from '../../src/domain/record.ts';

/** The heading over the diagram of each kind. */
const headings = {
  payment_intent: 'Payment intent',
  charge: 'Charge',
  checkout_session: 'Checkout session',
  refund: 'Refund',
  delivery: 'Delivery',
} as const satisfies Partial<Record<RecordKind, string>>;

type DrawnKind = keyof typeof headings;
export const drawnKinds = Object.keys(headings) as DrawnKind[];

/** Stands for no record, as in the diagrams: before it is created, after it is removed. */
const none = '[*]';

const document = readFileSync(new URL('../../docs/ARCHITECTURE.md', import.meta.url), 'utf8');

/** The arrows of a kind's diagram, as `from --> to`. */
export function drawnTransitions(kind: DrawnKind): Set<string> {
  const section = document.split(`\n### ${headings[kind]}\n`)[1];
  const diagram = /^```mermaid\nstateDiagram-v2\n([\s\S]*?)^```$/m.exec(section ?? '')?.[1];
  assert.ok(diagram, `docs/ARCHITECTURE.md has a state diagram under ${headings[kind]}`);
  const arrows = [...diagram.matchAll(/^ {2}(\S+) --> (\S+) : .+$/gm)];
  assert.equal(arrows.length, diagram.trim().split('\n').length, 'each line is an arrow with its reason');
  return new Set(arrows.map(([, from, to]) => `${from} --> ${to}`));
}

/** The transitions of each kind that a series of commands took, from the changes of each, one command after the other. */
export function transitionsOf(commands: Iterable<readonly Change[]>): Record<DrawnKind, Set<string>> {
  const taken = Object.fromEntries(drawnKinds.map((kind) => [kind, new Set<string>()]));
  const statuses = new Map<string, string>();
  const move = ({ id, kind }: Change, to: string) => {
    const from = statuses.get(id) ?? none;
    if (from !== to) taken[kind]!.add(`${from} --> ${to}`);
    statuses.set(id, to);
  };
  for (const changes of commands) {
    for (const change of changes) {
      if (!(change.kind in headings) || !('status' in change)) continue;
      // A command that takes an object through several states has an event for each.
      for (const event of changes) {
        const object = event.kind === 'event' ? JSON.parse(event.object_json) : null;
        if (object?.id === change.id) move(change, object.status);
      }
      move(change, change.removed ? none : String(change.status));
    }
  }
  return taken as Record<DrawnKind, Set<string>>;
}
