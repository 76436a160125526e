// The tables of a checkpoint by their names in its file. Whoever writes, reads or checks one takes
// them from here, so none is forgotten.

export const checkpointTables = {
  /** Records that change, see record-table.ts. */
  records: 'records',
  unchanging: 'unchanging',
  /** Index rows, and the names of the lists that they belong to, see index-table.ts. */
  index: 'index',
  lists: 'lists',
  /** Idempotency records, see idempotency-rows.ts. */
  idempotency: 'idempotency',
  /** Stored responses that were moved out of the log, see response-table.ts. */
  responses: 'responses',
  /** Metadata by its name, which may be a second behind. */
  metadata: 'small-values',
  meta: 'meta',
} as const;

export type CheckpointTable = (typeof checkpointTables)[keyof typeof checkpointTables];

// The rows of the table `meta`. The log's newest segment alone is not about the checkpoint.
export const formatKey = Buffer.from('format');
export const sequenceKey = Buffer.from('sequence');
export const segmentKey = Buffer.from('segment');
