// What an exception does that a request causes in a shard: one of the language, while it is read,
// fails that request alone. A broken invariant and a fault of the disk end the shard.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuse } from '../../src/contract/errors/table.ts';
import { AssertionFailure } from '../../src/core/assert.ts';
import { JournalDamaged, JournalFailure } from '../../src/journal/journal.ts';
import { GuardedReads } from '../../src/shard/guarded-reads.ts';

const failed: unknown[] = [];
const damaged: string[] = [];
const reads = new GuardedReads({
  onVisitFailed: (error, entry, requestId) => failed.push([(error as Error).message, entry, requestId]),
  onDamage: (reason) => damaged.push(reason),
});
const read = (error: Error) => {
  const result = reads.readForRequest('req_1', () => {
    throw error;
  });
  return result.refusal;
};

for (const kind of [TypeError, RangeError, SyntaxError, URIError]) {
  test(`a ${kind.name} while a request is read fails that request alone`, () => {
    failed.length = 0;
    assert.deepEqual(read(new kind('bad')), refuse('api_error'));
    assert.deepEqual(failed, [['bad', 'api', 'req_1']]);
  });
}

test('a broken invariant and a fault of the disk end the shard', () => {
  failed.length = 0;
  const fault = new JournalFailure('it is broken', { diskFull: false });
  for (const error of [new AssertionFailure('it does not hold'), fault, new Error('EIO')])
    assert.throws(() => read(error), error);
  assert.deepEqual(failed, []);
});

test('a damaged record refuses the request, and is no bug', () => {
  failed.length = 0;
  assert.equal(read(new JournalDamaged('row 7')).message, 'api_error.record_damaged');
  assert.deepEqual([damaged, failed], [['row 7'], []]);
});

test('an exception in deciding a command ends the shard, whatever kind it is', () => {
  assert.throws(() => reads.read(() => assert.fail(new TypeError('bad'))), TypeError);
});
