// What a PostgreSQL must be set to so that an acknowledged append is on more than one disk. The
// answer to every append brings the settings, because somebody may change them at any time.

import { promoteInstead } from '../cluster/cluster-status.ts';

/** The settings, as columns of any statement. */
export const settingsColumns = [
  "current_setting('synchronous_standby_names') as standbys",
  "current_setting('synchronous_commit') as commit",
  "current_setting('fsync') as fsync",
  "current_setting('full_page_writes') as pages",
].join(', ');

/**
 * Whether a standby in `pg_stat_replication` has what this primary never had: it ends behind the
 * primary, or behind the end of the timeline that both share, and can't go on from there.
 */
export const isAhead = `(flush_lsn > pg_current_wal_lsn() or state = 'startup' and flush_lsn > sent_lsn)`;

/**
 * What is asked when a connection is new, and after a wait: besides the settings, the standbys that
 * are ahead. For as far as they are, PostgreSQL counts commits as theirs that they do not have.
 */
export const durabilityColumns = `${settingsColumns},
  (select string_agg(application_name, ', ') from pg_stat_replication where ${isAhead}) as ahead`;

export interface DurabilitySettings {
  readonly standbys: string;
  readonly commit: string;
  readonly fsync: string;
  readonly pages: string;
  /** Absent: not asked. Null: none that the role may see. */
  readonly ahead?: string | null;
}

/**
 * What does not hold, with what to set; null: everything does. `isSingle`: one PostgreSQL without
 * standbys is wanted.
 */
export function durabilityDefect(settings: DurabilitySettings, isSingle: boolean): string | null {
  const { standbys, commit, fsync, pages, ahead = null } = settings;
  if (fsync !== 'on') return `fsync is ${fsync}: set fsync = on`;
  if (pages !== 'on') return `full_page_writes is ${pages}: set full_page_writes = on`;
  if (commit !== 'on' && commit !== 'remote_apply')
    return `synchronous_commit is ${commit}: set synchronous_commit = on`;
  if (ahead !== null) return promoteInstead('this server', ahead);
  if (standbys.trim() !== '' || isSingle) return null;
  return (
    "synchronous_standby_names is empty, so nobody else has what is acknowledged: set it, as to 'ANY 1 (b, c)', " +
    'or set PAYMENTS_JOURNAL_SINGLE=true where one PostgreSQL is wanted'
  );
}
