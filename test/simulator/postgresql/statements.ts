// The statements that the sources send, and what they do to the tables. A statement is known by its name, or by how it begins.
// The conditions of its first `where` are read from its text, so a statement that lacks one does here what it would do there.

import {
  type Changes,
  change,
  type LogRow,
  type PartitionRow,
  putLease,
  putPartition,
  putService,
  type RowChange,
  type Tables,
} from './tables.ts';

type Values = readonly unknown[];
type TakeValues = [node: string, process: string, unknown, unknown, dialect: object, noted: number];

/** The rows that it waits for and keeps until its transaction is over. */
export interface Lock {
  readonly row: string;
  readonly isShared: boolean;
}

export interface Done {
  readonly rows: readonly object[];
  readonly changes: Changes;
}

interface Statement {
  readonly locks?: (values: Values) => readonly Lock[];
  /** `nowMs`: of the server's clock. */
  readonly run: (tables: Tables, values: Values, text: string, nowMs: number) => Done;
}

const locked = (row: string): readonly Lock[] => [{ row, isShared: false }];
const lockLease = () => locked('lease');
const lockPartition = ([partition]: Values) => locked(`partition ${partition}`);

const read = (rows: readonly object[]): Done => ({ rows, changes: { rows: [], log: null } });
const write = (rows: readonly object[], changed: readonly RowChange[], log: LogRow | null = null): Done => ({
  rows,
  changes: { rows: changed, log },
});

/** Whether a row is as the first `where` of a statement says, which compares columns with values. */
function isMeant(row: object, text: string, values: Values): boolean {
  const [, conditions = ''] = /\bwhere (.*?)(?: returning\b|\)|$)/s.exec(text) ?? [];
  return conditions.split(/\s+and\s+/).every((condition) => {
    const [, not, column, , place, constant] =
      /^(not )?(\w+)( = (?:\$(\d+)(?:::\w+)?|(\d+)))?$/.exec(condition.trim()) ?? [];
    if (column === undefined) throw new Error(`the simulated PostgreSQL does not know "${condition}"`);
    const found = (row as Record<string, unknown>)[column];
    if (not !== undefined) return found === false;
    return String(found) === String(place === undefined ? constant : values[Number(place) - 1]);
  });
}

/** Settings that hold what they acknowledge, with the standbys that the server waits for. */
export interface ServerSettings {
  standbys: string;
}

/** As the statement has it. */
const seenMsMax = 3_000;

const settingsRow = { commit: 'on', fsync: 'on', pages: 'on' };
/** Filled in by the server that answers. */
export const settingsOf = ({ standbys }: ServerSettings) => ({ standbys, ...settingsRow });

/** Changes the row of a partition as the statement says, if it is meant. */
function owned(
  tables: Tables,
  values: Values,
  text: string,
  changed: (row: PartitionRow) => Partial<PartitionRow>,
  more: (row: PartitionRow) => { readonly rows?: readonly RowChange[]; readonly log?: LogRow } = () => ({}),
): Done {
  const row = tables.partition(Number(values[0]));
  if (row === undefined || !isMeant(row, text, values)) return read([]);
  const { rows = [], log = null } = more(row);
  const next = { ...row, ...changed(row) };
  return write([{ ...next, next_sequence: String(next.next_sequence) }], [putPartition(next), ...rows], log);
}

const named: Readonly<Record<string, Statement>> = {
  append: {
    locks: lockPartition,
    run: (tables, values, text) => {
      const [partition, epoch, first, last, checksum, bytes] = values as [
        number,
        number,
        number,
        number,
        number,
        Buffer,
      ];
      const log = { partition, epoch, first, last, checksum, bytes };
      return owned(
        tables,
        values,
        text,
        () => ({ next_sequence: last + 1, checksum }),
        () => ({ log }),
      );
    },
  },
  begin: {
    locks: lockPartition,
    run: (tables, values, text) =>
      owned(tables, values, text, () => ({
        next_sequence: Number(values[2]) + 1,
        checksum: Number(values[3]),
      })),
  },
  note: {
    locks: lockPartition,
    run: (tables, values, text) => {
      const [partition, , mirrored, names, contents] = values as [number, number, number, string[], Buffer[]];
      const rows = names.map((name, i) =>
        change('metadata', `${partition} ${name}`, { partition, name, value: contents[i]! }),
      );
      const note = (row: PartitionRow) => ({ mirrored: Math.max(row.mirrored, mirrored) });
      return owned(tables, values, text, note, () => ({ rows }));
    },
  },
  confirm: { locks: lockPartition, run: (tables, values, text) => owned(tables, values, text, () => ({})) },
  end: { locks: lockPartition, run: (tables, values, text) => owned(tables, values, text, () => ({})) },
  look: {
    run: ({ lease, keyed }) => {
      if (lease === undefined) return read([]);
      const { epoch, beat, ...others } = lease;
      const address = keyed.nodes.get(lease.process)?.address ?? null;
      return read([{ ...others, epoch: String(epoch), beat: String(beat), address }]);
    },
  },
  'take-first': {
    locks: lockLease,
    run: ({ lease }, values) => {
      const [node, process, , , dialect, noted] = values as TakeValues;
      if (lease !== undefined) return read([]);
      const epoch = noted + 1;
      const taken = { epoch, beat: 0, node, process, released: false, successor: null, dialect };
      return write([{ epoch: String(epoch) }], [putLease(taken)]);
    },
  },
  take: {
    locks: lockLease,
    run: ({ lease }, values, text) => {
      const [node, process, , , dialect, noted] = values as TakeValues;
      if (lease === undefined || !isMeant(lease, text, values)) return read([]);
      const epoch = Math.max(lease.epoch, noted) + 1;
      const taken = { epoch, beat: 0, node, process, released: false, successor: null, dialect };
      return write([{ epoch: String(epoch) }], [putLease(taken)]);
    },
  },
  beat: {
    locks: lockLease,
    run: ({ lease }, values, text) => {
      if (lease === undefined || !isMeant(lease, text, values)) return read([]);
      const beat = Math.max(lease.beat + 1, Number(values[2]));
      return write([{ successor: lease.successor }], [putLease({ ...lease, beat })]);
    },
  },
  release: {
    locks: lockLease,
    run: ({ lease }, values, text) => {
      if (lease === undefined || !isMeant(lease, text, values)) return read([]);
      const dialect = { ...lease.dialect, quietMs: Number(values[2]) };
      return write([], [putLease({ ...lease, released: true, dialect })]);
    },
  },
  'note-node': {
    locks: ([process]) => locked(`node ${process}`),
    run: (_, values, __, seenMs) => {
      const [process, node, address, followed, , link] = values as [
        string,
        string,
        string | null,
        string,
        string,
        string | null,
      ];
      return write([], [change('nodes', process, { node, address, link, followed, seenMs })]);
    },
  },
  'reachable-nodes': {
    run: ({ keyed }, _, __, nowMs) => {
      const seen = [...keyed.nodes].filter(
        ([, { link, seenMs }]) => link !== null && seenMs > nowMs - seenMsMax,
      );
      return read(
        seen.map(([process, { node, link, followed }]) => ({
          node,
          process,
          link,
          drained: false,
          leaving: false,
          damaged: [],
          followed: JSON.parse(followed),
        })),
      );
    },
  },
  'look-at-partitions': {
    run: ({ keyed }) =>
      read(
        [...keyed.partitions.values()]
          .filter(({ partition }) => partition >= 0)
          .map(({ partition, wanted, next_sequence }) => ({
            partition,
            node: null,
            wanted: wanted ?? null,
            next_sequence: String(next_sequence),
          })),
      ),
  },
  'look-at-epoch': {
    run: ({ lease }) => read(lease === undefined ? [] : [{ epoch: String(lease.epoch) }]),
  },
  'forget-node': {
    locks: ([process]) => locked(`node ${process}`),
    run: (_, [process]) => write([], [change('nodes', String(process), null)]),
  },
  'write-rows': {
    locks: lockPartition,
    run: (tables, values, text) => {
      const [, , sequence, checksum, names, contents] = values as [
        number,
        number,
        number,
        number,
        string[],
        (Buffer | null)[],
      ];
      const rows = [
        change('directory_writes', sequence, { checksum }),
        ...names.map((name, i) => change('directory', name, { name, content: contents[i]!, sequence })),
      ];
      return owned(
        tables,
        values,
        text,
        () => ({ next_sequence: sequence + 1, checksum }),
        () => {
          if (tables.keyed.directory_writes.has(sequence))
            throw new Error(`the simulated PostgreSQL has the write ${sequence} of the directory already`);
          return { rows };
        },
      );
    },
  },
  'was-stored': {
    locks: lockPartition,
    run: (tables, values, text) => owned(tables, values, text, () => ({})),
  },
  'take-rows': {
    locks: lockPartition,
    run: (tables, values, text) =>
      owned(tables, values, text, () => ({ next_sequence: Number(values[2]), checksum: Number(values[3]) })),
  },
  'remove-rows': {
    run: ({ keyed }) =>
      write(
        [],
        [...keyed.directory.keys()].map((name) => change('directory', name, null)),
      ),
  },
  'remove-writes': {
    run: ({ keyed }) =>
      write(
        [],
        [...keyed.directory_writes.keys()].map((key) => change('directory_writes', key, null)),
      ),
  },
  'note-rows': {
    run: (_, [sequence, checksum]) =>
      write([], [change('directory_writes', Number(sequence), { checksum: Number(checksum) })]),
  },
  'put-rows': {
    run: (_, values) => {
      const [sequence, names, contents] = values as [number, string[], (Buffer | null)[]];
      return write(
        [],
        names.map((name, i) => change('directory', name, { name, content: contents[i]!, sequence })),
      );
    },
  },
};

const logLimit = 64;
const logColumns = ({ last, checksum, bytes }: LogRow) => ({
  last_sequence: String(last),
  checksum: String(checksum),
  bytes,
});

const firstOf = (tables: Tables, partition: number) => {
  const [first] = tables.log(partition);
  return first === undefined ? null : String(first.first);
};

/** By how their texts begin. */
const unnamed: readonly (readonly [beginning: string, statement: Statement])[] = [
  ['migrate', { run: () => read([]) }],
  ['settings', { run: () => read([{}]) }],
  [
    'select folder, generation, shards, partitions, division',
    { run: ({ service }) => read(service === undefined ? [] : [service]) },
  ],
  [
    'insert into payments.service',
    {
      locks: () => locked('service'),
      run: ({ service }, values) => {
        if (service !== undefined) return read([]);
        const [folder, generation, shards, partitions, division] = values as [
          string,
          number,
          number,
          string | null,
          string | null,
        ];
        return write([], [putService({ folder, generation, shards, partitions, division })]);
      },
    },
  ],
  ['update payments.version', { run: () => read([]) }],
  [
    'update payments.service',
    {
      locks: () => locked('service'),
      run: ({ service, keyed }) =>
        service === undefined
          ? read([])
          : write([{ has_logs: keyed.partitions.size > 0 }], [putService(service)]),
    },
  ],
  [
    'insert into payments.lease',
    {
      locks: lockLease,
      run: ({ lease }, values, text) => {
        const [epoch, node] = values as [number, string];
        const isLater = lease === undefined || lease.epoch < epoch;
        if (!isLater && text.includes('where lease.epoch < $1')) return read([]);
        const none = { beat: 0, process: '', successor: null, dialect: {} };
        return write([], [putLease({ ...(lease ?? none), epoch, node, released: false })]);
      },
    },
  ],
  [
    'with lease as (select epoch, released from payments.lease for share)',
    {
      locks: (values) => [{ row: 'lease', isShared: true }, ...lockPartition(values)],
      run: (tables, values) => {
        const [partition, after, epoch] = values as [number, number, number | null];
        const { lease } = tables;
        const isHeld = lease !== undefined && !lease.released;
        if (epoch === null ? isHeld : !(isHeld && lease.epoch === epoch)) return read([]);
        const row = tables.partition(partition);
        const none = { partition, epoch: 0, next_sequence: 1, checksum: 0, mirrored: 0 };
        const taken = { ...(row ?? none), epoch: Math.max(row?.epoch ?? 0, after) + 1 };
        const { next_sequence, checksum } = taken;
        const columns = {
          epoch: String(taken.epoch),
          next_sequence: String(next_sequence),
          checksum: String(checksum),
        };
        return write([columns], [putPartition(taken)]);
      },
    },
  ],
  [
    'select 1 from payments.partitions',
    {
      run: (tables, [partition, epoch]) =>
        read(tables.partition(Number(partition))?.epoch === Number(epoch) ? [{}] : []),
    },
  ],
  [
    'select min(first_sequence)',
    { run: (tables, [partition]) => read([{ first_sequence: firstOf(tables, Number(partition)) }]) },
  ],
  [
    'select name, value from payments.metadata',
    {
      run: ({ keyed }, [partition]) =>
        read([...keyed.metadata.values()].filter((row) => row.partition === Number(partition))),
    },
  ],
  [
    'select last_sequence, bytes from payments.log',
    {
      run: (tables, [partition, after]) =>
        read(tables.logAfter(Number(partition), Number(after), logLimit).map(logColumns)),
    },
  ],
  [
    'select last_sequence, checksum from payments.log',
    {
      run: (tables, [partition, sequence]) => {
        const row = tables.log(Number(partition)).findLast(({ first }) => first <= Number(sequence));
        return read(row === undefined ? [] : [logColumns(row)]);
      },
    },
  ],
  [
    'select followed.partition',
    {
      run: (tables, values) => {
        const [partitions, sequences] = values as [number[], number[]];
        return read(
          partitions.flatMap((partition, i) => {
            const row = tables.partition(partition);
            if (row === undefined) return [];
            const { mirrored, next_sequence } = row;
            const after = sequences[i]!;
            const earlier = tables.log(partition).findLast(({ first }) => first <= after);
            return tables.logAfter(partition, after, logLimit).map((each, place) => ({
              ...logColumns(each),
              partition,
              mirrored: String(mirrored),
              next_sequence: String(next_sequence),
              before: place > 0 || earlier === undefined ? null : logColumns(earlier).checksum,
            }));
          }),
        );
      },
    },
  ],
  [
    'select checksum from payments.directory_writes',
    {
      run: ({ keyed }, [sequence]) => {
        const row = keyed.directory_writes.get(Number(sequence));
        return read(row === undefined ? [] : [{ checksum: String(row.checksum) }]);
      },
    },
  ],
  [
    'select name, content, sequence from payments.directory',
    {
      run: ({ keyed }, values, text) => {
        const [after, afterName] = values as [number, string | null];
        const [, limit] = /limit (\d+)/.exec(text) ?? [];
        const isWithin = text.includes('or (sequence = $1 and name > $2)');
        const isLater = ({ sequence, name }: { readonly sequence: number; readonly name: string }) =>
          sequence > after || (isWithin && afterName !== null && sequence === after && name > afterName);
        const rows = [...keyed.directory.values()]
          .filter(isLater)
          .sort((a, b) => a.sequence - b.sequence || (a.name < b.name ? -1 : 1));
        return read(rows.slice(0, Number(limit)).map((row) => ({ ...row, sequence: String(row.sequence) })));
      },
    },
  ],
];

export function statementOf(name: string | undefined, text: string): Statement {
  const found =
    name === undefined ? unnamed.find(([beginning]) => text.startsWith(beginning))?.[1] : named[name];
  if (found === undefined) throw new Error(`the simulated PostgreSQL does not know ${name ?? ''} "${text}"`);
  return found;
}
