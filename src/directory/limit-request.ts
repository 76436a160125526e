// A request of an organization for a higher rate limit: which bucket, in which mode, how much,
// until when and why, and what an operator decided. `limit-requests.ts` has the rules.

import type { Bucket } from '../contract/limits.ts';
import { type Mode, modes } from '../contract/vocabulary.ts';
import { findCardNumber } from '../core/card-number.ts';
import { hasHiddenInLines } from '../core/shown-text.ts';
import { DirectoryRefusal } from './refusal.ts';

export const requestedModes = ['test', 'live', 'both'] as const;
type RequestedMode = (typeof requestedModes)[number];

/** A limit, and its end in Unix milliseconds (null: none). */
interface Wish {
  readonly perMinute: number;
  readonly untilMs: number | null;
}

/** What a member asks for. */
export interface LimitWish extends Wish {
  readonly bucket: Bucket;
  readonly mode: RequestedMode;
  readonly reason: string;
}

export interface LimitRequest extends LimitWish {
  /** `lrq_…` */
  readonly id: string;
  /** Who asks, in words. */
  readonly by: string;
  /** Unix milliseconds. */
  readonly createdMs: number;
  /** Null while the request is open. */
  readonly decision: LimitDecision | null;
}

export interface LimitDecision {
  readonly atMs: number;
  /** The limit that has been active since then; null when the request was denied. */
  readonly granted: Wish | null;
  /** What the operator tells the organization; may be empty. */
  readonly note: string;
}

export type LimitRequestState = 'open' | 'approved' | 'denied';

const requestTextCharactersMax = 1_000;

export function stateOf({ decision }: LimitRequest): LimitRequestState {
  if (decision === null) return 'open';
  return decision.granted === null ? 'denied' : 'approved';
}

/** The modes that a request is about. */
export function modesOf({ mode }: Pick<LimitWish, 'mode'>): readonly Mode[] {
  return mode === 'both' ? modes : [mode];
}

/** The trimmed text. Throws `DirectoryRefusal` when it is too long or has what it must not have. */
export function checkedText(text: string): string {
  const trimmed = text.trim();
  if (
    [...trimmed].length > requestTextCharactersMax ||
    hasHiddenInLines(trimmed) ||
    findCardNumber(trimmed)
  ) {
    throw new DirectoryRefusal(
      `a text must have at most ${requestTextCharactersMax} characters, none of them invisible, and no card number`,
      'text_invalid',
    );
  }
  return trimmed;
}
