// The audit record of a data folder: who did what, when. Only the folder's owner can read it:
//
//   audit/operators.ndjson   each action of an operator or a member: a row before, a row after it
//   audit/keys.ndjson        API keys that were refused
//
// No action is missing, whenever the process ends. No row contains a key, a secret or a card
// number.

import { randomFillSync } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../core/clock.ts';
import { createRandomText } from '../../core/ids.ts';
import { systemTimers } from '../../core/scheduler.ts';
import { DirectoryRefusal } from '../../directory/refusal.ts';
import type { RemoteText } from '../../disk/remote-text.ts';
import { syncPath } from '../../disk/sync-path.ts';
import type { RefusedKeyNote } from '../../edge/api/refused-keys.ts';
import { OperatorFailure } from '../use-cases/failures.ts';
import { type CheckedChain, checkChain } from './audit-chain.ts';
import { lastRows } from './audit-files.ts';
import { type AuditBounds, AuditLog, dropBeyond } from './audit-log.ts';
import type { Asker, MemberAuthor, OperatorRow, PlacedRow } from './audit-row.ts';
import { type AuditReader, AuditTrail } from './audit-trail.ts';
import { SharedRecord } from './shared-record.ts';

export interface RefusedKeyRow extends RefusedKeyNote {
  readonly at: string;
}

interface AuditOptions {
  readonly dataDir: string;
  readonly now: Clock;
  /** Actions are kept for so long. */
  readonly keptMs: number;
  /** Removes secrets and card numbers from a text. */
  readonly scrub: (text: string) => string;
  /** Called with every row, too. */
  readonly onRow: (row: OperatorRow | RefusedKeyRow) => void;
  /** Reads the record where that keeps nobody waiting; left out: in this thread. */
  readonly reader?: AuditReader;
  /** The record of actions as other machines hold it, too; left out: they don't. */
  readonly remote?: RemoteText | null;
  /** Hears where rows of this folder's own were put that do not fit behind theirs. */
  readonly onPutAside?: (folder: string) => void;
  /** Called with rows that could not be written after the action was done. */
  readonly onFailure: (error: unknown) => void;
}

// Files of actions go with their age alone: nobody pushes out what was done by doing much else. The
// rows of refused keys are bounded by their bytes, because anybody can cause them.
export const operatorsBounds = (keptMs: number, now: Clock): AuditBounds => ({
  fileBytesMax: 64 * 1024 * 1024,
  kept: { ms: keptMs, now },
});
const keysBounds: AuditBounds = { fileBytesMax: 16 * 1024 * 1024, kept: { filesMax: 2 } };
const textCharactersMax = 200;
const paramsCharactersMax = 4_096;

/** Tells of rows that do not fit behind those of other machines. */
export const putAsideWarning = 'rows of this folder’s own audit record were put aside';

/** For how long actions are kept. */
export const auditKeptMs = (keptDays: number) => keptDays * 86_400_000;

export const auditFolder = (dataDir: string) => join(dataDir, 'audit');
export const operatorsFile = (dataDir: string) => join(auditFolder(dataDir), 'operators.ndjson');
const keysFile = (dataDir: string) => join(auditFolder(dataDir), 'keys.ndjson');

/** Makes the folder of the record durably. */
export function makeAuditFolder(dataDir: string): void {
  mkdirSync(auditFolder(dataDir), { recursive: true, mode: 0o700 });
  syncPath(dataDir);
}

export class Audit {
  readonly #options: AuditOptions;
  readonly #operators: AuditLog;
  readonly #keys: AuditLog;
  readonly #trail: AuditTrail;
  readonly #randomText = createRandomText(randomFillSync);

  private constructor(options: AuditOptions, operators: AuditLog, keys: AuditLog) {
    this.#options = options;
    this.#operators = operators;
    this.#keys = keys;
    this.#trail = new AuditTrail(operatorsFile(options.dataDir), options.reader);
  }

  /** Opens the record of an existing data folder. Creates it if it does not exist. */
  static async open(options: AuditOptions): Promise<Audit> {
    const { dataDir, now, keptMs, remote = null, onPutAside } = options;
    makeAuditFolder(dataDir);
    const bounds = operatorsBounds(keptMs, now);
    // What is too old goes before the others are given the rest.
    if (remote !== null) dropBeyond(operatorsFile(dataDir), bounds);
    const shared = remote && (await SharedRecord.take(remote, operatorsFile(dataDir), systemTimers));
    if (shared?.aside) onPutAside?.(shared.aside);
    return new Audit(
      options,
      await AuditLog.open(operatorsFile(dataDir), bounds, shared),
      await AuditLog.open(keysFile(dataDir), keysBounds),
    );
  }

  /**
   * Carries out an action between its two rows. Rejects as `run` does, or with an `OperatorFailure`
   * when the first row can't be written and nothing was done. `organizationOf` finds the
   * organization that is concerned, from what the action names.
   */
  async record<T>(
    by: Asker | MemberAuthor | null,
    action: string,
    params: unknown,
    run: () => Promise<T>,
    organizationOf: (named: readonly string[]) => Promise<string | null> = noOrganization,
  ): Promise<T> {
    const id = `aud_${this.#randomText(24)}`;
    const append = async (
      outcome: OperatorRow['outcome'],
      object: string | null = null,
      message: string | null = null,
    ) => {
      const isMember = by !== null && 'member' in by;
      const organization = isMember ? by.organization : await organizationOf(textsIn(params, object));
      const asked = { id, by, action, params: this.#shortenedParams(params) };
      await this.#append({ ...asked, outcome, object, message, ...(organization && { organization }) });
    };
    await append('asked').catch((error: Error) => {
      this.#options.onFailure(error);
      throw new OperatorFailure(
        'failed',
        `nothing was done: the audit record can't be written (${error.message})`,
      );
    });
    // Without its second row the action is answered, too, because the first one is on disk.
    const { onFailure } = this.#options;
    try {
      const result = await run();
      await append('done', idOf(result)).catch(onFailure);
      return result;
    } catch (error) {
      const { outcome, message } = failureOf(error);
      await append(outcome, null, message && this.#shortened(message)).catch(onFailure);
      throw error;
    }
  }

  /** The actions that concern an organization before the row at `before`, newest first. */
  actionsOf(org: string, before: number | null): AsyncIterable<PlacedRow> {
    return this.#trail.actions(org, before);
  }

  /** Writes rows of refused keys. */
  async refusedKeys(refused: readonly RefusedKeyNote[]): Promise<void> {
    const at = this.#time();
    const rows = refused.map((each) => ({ at, ...each }));
    for (const row of rows) this.#options.onRow(row);
    await Promise.all(rows.map((row) => this.#keys.append(() => row))).catch(this.#options.onFailure);
  }

  async close(): Promise<void> {
    await Promise.all([this.#operators.close(), this.#keys.close()]);
  }

  async #append(fields: Omit<OperatorRow, 'at'>): Promise<void> {
    const row = { at: this.#time(), ...fields };
    this.#options.onRow(row);
    const { organization: org } = row;
    if (org === undefined) return this.#operators.append(() => row);
    await this.#trail.newest(org);
    await this.#operators
      .append((place) => ({ ...row, previous: this.#trail.put(org, place) }))
      .catch((error: Error) => {
        this.#trail.forget(org);
        throw error;
      });
  }

  #time(): string {
    return new Date(this.#options.now()).toISOString();
  }

  #shortened(text: string): string {
    return this.#options.scrub(text).slice(0, textCharactersMax);
  }

  /** The parameters without secrets, with texts cut; null for very large ones. */
  #shortenedParams(params: unknown): unknown {
    const text = JSON.stringify(params ?? null, (_, each) =>
      typeof each === 'string' ? this.#shortened(each) : each,
    );
    return text.length > paramsCharactersMax ? null : JSON.parse(text);
  }
}

const noOrganization = async () => null;

/** The texts that an action names: its object, and its parameters. */
function textsIn(params: unknown, object: string | null): string[] {
  return [object, ...Object.values(params ?? {})].filter((value) => typeof value === 'string');
}

function idOf(result: unknown): string | null {
  const { id }: { readonly id?: unknown } = result ?? {};
  return typeof id === 'string' ? id : null;
}

/** How an action ended by an error. The message is null where it could contain anything. */
function failureOf(error: unknown): Pick<OperatorRow, 'outcome' | 'message'> {
  if (error instanceof OperatorFailure) return { outcome: error.kind, message: error.message };
  if (error instanceof DirectoryRefusal) return { outcome: 'refused', message: error.message };
  // A command that follows something ends when its client leaves, so that is no failure.
  const isEnd = error instanceof Error && error.name === 'AbortError';
  return { outcome: isEnd ? 'done' : 'failed', message: null };
}

/** Whether the rows of a data folder's records are as they were written. */
export function checkAudit(dataDir: string): {
  readonly operators: CheckedChain;
  readonly refusedKeys: CheckedChain;
} {
  return { operators: checkChain(operatorsFile(dataDir)), refusedKeys: checkChain(keysFile(dataDir)) };
}

export function readAudit(
  dataDir: string,
  rowsMax: number,
): { readonly operators: OperatorRow[]; readonly refusedKeys: RefusedKeyRow[] } {
  return {
    operators: lastRows(operatorsFile(dataDir), rowsMax),
    refusedKeys: lastRows(keysFile(dataDir), rowsMax),
  };
}
