// Bugs of nodes that share a service, as those in bugs.ts. They show in seeds with nodes only, and only those are run for them.

import { bug } from './bug.ts';

export const clusterBugs = [
  bug('the owner trusts itself for longer than a challenger waits', [
    'cluster/lease-keeper.ts',
    '    onTrusted(sent, trustMs);\n    const { successor }',
    '    onTrusted(sent, 4 * trustMs);\n    const { successor }',
  ]),
  bug('trust counts from the answer to a beat', [
    'cluster/lease-keeper.ts',
    '    onTrusted(sent, trustMs);\n    const { successor }',
    '    onTrusted(now(), trustMs);\n    const { successor }',
  ]),
  bug('a shard does not ask whether its node is trusted', [
    'journal/log/replicated-log.ts',
    'this.#failure === null && this.#isTrusted();',
    'this.#failure === null;',
  ]),
  bug('webhooks are sent without asking who owns their partition', [
    'webhooks/dispatcher.ts',
    '      if (!isHeld(actor.shard)) {',
    '      if (false) {',
  ]),
  bug('a takeover does not read the log to its end', [
    'journal/log/replicated-log.ts',
    '    if (mirrored.sequence === sequence) return;',
    '    if (mirrored.sequence >= sequence - 1) return;',
  ]),
  bug(
    'a node serves although PostgreSQL has lost what its mirror has',
    [
      'journal/log/mirror.ts',
      '  if (sequence > end.sequence) throw divergence(partition, mirrored, end);',
      '  if (sequence > end.sequence) return;',
    ],
    [
      'journal/log/mirror.ts',
      '  if (known !== checksum) throw divergence(',
      '  if (known !== checksum) void divergence(',
    ],
    [
      'journal/log/replicated-log.ts',
      '    if (mirrored.sequence === sequence) return;',
      '    if (mirrored.sequence >= sequence) return;',
    ],
    [
      'journal/log/replicated-log.ts',
      '    this.#acknowledged = acquired.end.sequence;',
      '    this.#acknowledged = this.#mirror.end().sequence;',
    ],
  ),
  bug('the directory is served as the mirror has it', [
    'directory/directory-mirror.ts',
    '  if (from === end.sequence) return;',
    '  if (from !== null) return;',
  ]),
  bug('a forgotten connection is waited for', [
    'postgresql/owner-connection.ts',
    'else if (isAnswered && wasAnswered && !isOver)',
    'else if (isAnswered && !isAnswered)',
  ]),
  bug('every lease counts as one that was left', [
    'cluster/lease-keeper.ts',
    'const quietMs = seen === null ? 0 : (seen.quietMs ?? attemptMsMax);',
    'const quietMs = seen?.quietMs ?? 0;',
  ]),
  bug('a machine that was suspended believes itself', [
    'journal/ownership.ts',
    '      BigInt(Math.ceil(this.#clocks.wall())) < Atomics.load(this.#deadline, wallPlace)',
    '      true',
  ]),
  bug('a batch of an older epoch counts as stored', [
    'postgresql/partition-log.ts',
    '    if (row === undefined) throw this.#fenced(epoch);\n  }\n\n  async begin',
    '    void row;\n  }\n\n  async begin',
  ]),
  bug('what an earlier owner has noted is not taken over', [
    'journal/open-journal.ts',
    'await follower.putMetadata(replicated.notedMetadata);',
    'await follower.putMetadata(new Map());',
  ]),
  bug('a batch is answered before PostgreSQL has it', [
    'journal/log/replicated-log.ts',
    '        await this.#remote.append(epoch, batch);',
    '        this.#remote.append(epoch, batch).catch((error) => this.#fail(error));',
  ]),
  bug('a partition that is lost answers queries and commands', [
    'shard/commit-batch.ts',
    '    requireHeld(ownership);\n    assert(!this.#isReleased',
    '    assert(!this.#isReleased',
  ]),
  bug('a change of the directory that may be lost counts as stored', [
    'postgresql/owned-writes.ts',
    'if (!(await this.change(statement))) await this.#requireStored(next);',
    'await this.change(statement);',
  ]),
  bug('what one disk alone has is acknowledged after a wait', [
    'postgresql/owner-connection.ts',
    'const later = hasWaited ? await',
    'const later = hasWaited && this.#isClosed ? await',
  ]),
  bug('a follower takes the last batch before it is acknowledged', [
    'postgresql/log-follower.ts',
    '      const isAcknowledged = Number(newest.last_sequence) <= Number(newest.mirrored);',
    '      const isAcknowledged = Number(newest.mirrored) >= 0;',
  ]),
  bug('trust is lent for longer than the lender has it', [
    'cluster/lent-trust.ts',
    '    const leftMs = this.#ownership.trustLeftMs(this.#trustMs);',
    '    const leftMs = this.#trustMs;',
  ]),
  bug('what was lent counts as over when its link is lost', [
    'cluster/lent-trust.ts',
    '    return Math.max(0, this.#untilMs - this.#ownership.now().monotonicMs) + marginMs;',
    '    return marginMs - marginMs;',
  ]),
  bug('trust that is lent counts from when it is granted', [
    'cluster/lent-trust.ts',
    '    this.#board.trust(sent, Math.min(trustMs, this.#trustMs));',
    '    this.#board.trust(this.#board.now(), Math.min(trustMs, this.#trustMs));',
  ]),
  bug('a partition is lent while it is followed still', [
    'threads/standby-partitions.ts',
    'return this.#between(() => this.#letGo(partition));',
    'return this.#between(async () => void (await this.#journals.get(partition)?.checkpoint()));',
  ]),
  bug('a standby lets go before its journal is closed', [
    'threads/standby-partitions.ts',
    'return this.#between(() => this.#letGo(partition));',
    'return this.#between(async () => void this.#letGo(partition));',
  ]),
  bug('a thread of another node goes on when its trust has ended', [
    'journal/ownership.ts',
    '    return this.isTrusted() && Atomics.load(this.#term, 0) === term;',
    '    return Atomics.load(this.#term, 0) === term;',
  ]),
  bug('an edge goes by what it was told over an earlier link', [
    'journal/ownership.ts',
    '    return this.isTrusted() && Atomics.load(this.#term, 0) === term;',
    '    return this.isTrusted();',
  ]),
  bug('a takeover begins nine seconds after the last beat', [
    'cluster/lease-keeper.ts',
    '    if (this.#unchangedMs < silentMs * (comesLast() ? lastPatience : 1)) return;',
    '    if (this.#unchangedMs < 3.5 * silentMs) return;',
  ]),
  bug(
    'a shard that was taken over refuses writes for eight seconds',
    ['threads/running-shard.ts', '  #isPaused: boolean;\n', '  #isPaused: boolean;\n  #looks = 0;\n'],
    [
      'threads/running-shard.ts',
      '    const isFull = this.#room.isFull();',
      '    const isNew = this.#options.journal.ownership.epoch > 1 && this.#looks++ < 8;\n    const isFull = isNew || this.#room.isFull();',
    ],
  ),
  bug('requests are passed on to the node that served before', [
    'cluster/lease-keeper.ts',
    '    if (address === this.#holder) return;',
    '    if (this.#holder !== null) return;',
  ]),
  bug('a webhook thread goes on with what an ended shard has left there', [
    'webhooks/dispatcher.ts',
    'if (actor.shard === shard) this.#change(actor, null);',
    'if (actor.shard === -1) this.#change(actor, null);',
  ]),
  bug('an old holder of the lease takes back what is noted beside the logs', [
    'postgresql/partitions.ts',
    'node = $2, released = false\n               where lease.epoch < $1::bigint or (lease.epoch = $1 and lease.released)',
    'node = $2, released = false',
  ]),
  bug('the lease is taken without a look at what is noted beside the logs', [
    'postgresql/lease-table.ts',
    'const { epoch: highest } = await this.#notes.lookForEpoch();',
    'const highest = 0 * (await this.#notes.lookForEpoch()).epoch;',
  ]),
  bug('a holder keeps the lease although a later one is noted beside the logs', [
    'cluster/lease-keeper.ts',
    'if (await table.isForgotten(epoch, isDoubtful))',
    'if (await table.isForgotten(Number.MAX_SAFE_INTEGER, false))',
  ]),
  bug('the first start does not write whose the second database is', [
    'postgresql/service-table.ts',
    'for (const other of database.others) await claim(other);',
    '',
  ]),
  bug('a takeover waits for a database that does not answer', [
    'postgresql/partition-table.ts',
    'return (await within(lookMs, this.#looking, this.#options.timers)) ?? false;',
    'return (await this.#looking) && this.#options.timers !== null;',
  ]),
  bug('a beat may come again that the database has forgotten', [
    'cluster/lease-keeper.ts',
    '++this.#beatsSent',
    '0',
  ]),
  bug('a write of the directory whose answer was lost counts as not made', [
    'postgresql/owned-writes.ts',
    'if (Number(row.next_sequence) !== next)',
    'if (Number(row.next_sequence) === next)',
  ]),
  bug('a write of the directory whose answer was lost is made again', [
    'postgresql/directory-rows.ts',
    'and next_sequence = $3 returning partition),',
    'returning partition),',
  ]),
  bug('a portion of the directory counts as whole writes', [
    'postgresql/directory-rows.ts',
    'where sequence > $1 or (sequence = $1 and name > $2)\n',
    'where sequence > $1\n',
  ]),
  bug('a row that was removed of the directory comes back', [
    'postgresql/directory-rows.ts',
    'yield new Map(rows.map(({ name, content }) => [name, content]));',
    'yield new Map(rows.flatMap(({ name, content }) => (content === null ? [] : [[name, content]])));',
  ]),
  bug('who wakes up late takes a node from the one that lends by now', [
    'cluster/lent-trust.ts',
    'return this.#epoch === null || this.#epoch <= epoch;',
    'return this.#epoch === null || epoch >= 0;',
  ]),
  bug('a mirror is noted further than it is on the disk', [
    'journal/log/replicated-log.ts',
    'const mirrored = this.#mirror.durableEnd?.sequence ?? this.#acquired;',
    'const mirrored = Math.max(this.#acknowledged, this.#acquired);',
  ]),
];
