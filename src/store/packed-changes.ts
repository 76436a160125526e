// The changes of a log batch as the bytes that the log has. Memory holds them in this form until the checkpoint has them:
// they are some kilobytes in one piece outside of V8's heap, while objects would be marked and copied by the garbage
// collector again and again.

import type { Change } from '../domain/record.ts';

export interface PackedChanges {
  /** The memory that the batch takes. */
  readonly bytes: number;
  /** Decodes the change with this number, of the record `id`. Changes are counted from 0 over all entries of the batch. */
  read(number: number, id: string): Change;
}
