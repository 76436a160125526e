// How many deliveries of an event are pending, as its body says: counted as they change, without a look into the index, and
// no organization takes the counts of another.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EventRecord } from '../../src/domain/record.ts';
import { EventBodies } from '../../src/shard/event-bodies.ts';
import { RecordStore } from '../../src/store/record-store.ts';

/** The events whose index was looked into. */
const counted: string[] = [];

function recordsOf(...events: (readonly [org: string, id: string])[]): RecordStore {
  const records = new RecordStore();
  for (const [org, id] of events)
    records.apply({ kind: 'event', org, id, livemode: false, created: 1, object_json: '{}' } as EventRecord);
  records.scan = (index) => {
    counted.push(index.slice(index.indexOf('evt_')));
    return [];
  };
  counted.length = 0;
  return records;
}

const pendingOf = (bodies: EventBodies, id: string): number => JSON.parse(bodies.of(id)).pending_webhooks;

test('an organization with many events that wait makes room, and others keep their counts', () => {
  const crowd = Array.from({ length: 20 }, (_, i) => ['org_crowd', `evt_${i}`] as const);
  const bodies = new EventBodies(recordsOf(['org_1', 'evt_own'], ...crowd), 8);
  for (const [org, event] of [['org_1', 'evt_own'] as const, ...crowd]) {
    bodies.add(event);
    bodies.added({ org, event });
    bodies.added({ org, event });
  }
  assert.equal(pendingOf(bodies, 'evt_own'), 2);
  assert.equal(pendingOf(bodies, 'evt_19'), 2);
  assert.deepEqual(counted, []);
  pendingOf(bodies, 'evt_0');
  assert.deepEqual(counted, ['evt_0'], 'it was forgotten');
});

test('counts that were ended leave their room', () => {
  const events = Array.from({ length: 20 }, (_, i) => ['org_1', `evt_${i}`] as const);
  const bodies = new EventBodies(recordsOf(['org_1', 'evt_first'], ...events), 4);
  bodies.add('evt_first');
  bodies.added({ org: 'org_1', event: 'evt_first' });
  for (const [org, event] of events) {
    bodies.add(event);
    bodies.added({ org, event });
    bodies.changed({ org, event }, false);
  }
  assert.equal(pendingOf(bodies, 'evt_first'), 1);
  assert.deepEqual(counted, []);
});

test('as many events are counted as there is room for, and one more makes room', () => {
  const events = Array.from({ length: 9 }, (_, i) => ['org_1', `evt_${i}`] as const);
  const bodies = new EventBodies(recordsOf(...events), 8);
  const begin = ([org, event]: (typeof events)[number]) => {
    bodies.add(event);
    bodies.added({ org, event });
  };
  for (const each of events.slice(0, 8)) begin(each);
  assert.equal(pendingOf(bodies, 'evt_0'), 1);
  assert.deepEqual(counted, []);
  begin(events[8]!);
  pendingOf(bodies, 'evt_1');
  assert.deepEqual(counted, ['evt_1']);
});
