// The context of a request: what a page asks the service for, with the member as the author of
// every command.

import { setTimeout as sleep } from 'node:timers/promises';
import { routeTable } from '../contract/routes/table.ts';
import type { MonotonicClock } from '../core/clock.ts';
import { KeyedBuckets } from '../core/token-bucket.ts';
import { DirectoryRefusal } from '../directory/refusal.ts';
import type { Audit } from '../operator/audit/audit.ts';
import { OperatorFailure } from '../operator/use-cases/failures.ts';
import type { ApiAnswer, OperatorServices } from '../operator/use-cases/services.ts';
import type { ResultOf, ViewContext, ViewPlace } from './layout/row.ts';
import type { Searches } from './pages/searches.ts';

/** A refused call, on its way through the audit record. */
class Refused extends OperatorFailure {
  readonly answer: ApiAnswer & { readonly ok: false };
  constructor(answer: ApiAnswer & { readonly ok: false }) {
    super(answer.error.type === 'api_error' ? 'failed' : 'refused', answer.error.code);
    this.answer = answer;
  }
}

interface ContextOptions {
  readonly services: Omit<OperatorServices, 'author' | 'language'>;
  readonly audit: Pick<Audit, 'record' | 'actionsOf'>;
  readonly searches: Searches;
  readonly recentForms: RecentForms;
  readonly changes: SettingsChanges;
}

export function createContext(
  { services, audit, searches, recentForms, changes }: ContextOptions,
  place: ViewPlace,
): ViewContext {
  const { organization, mode, form, language, client, gone } = place;
  const { id: member } = place.member;
  const act: ViewContext['act'] = (action, params, run) =>
    audit.record({ member, organization: organization.id }, action, params, run);
  return {
    act,
    search: (isCounted, run) => searches.run(place, isCounted, gone, () => run(gone)),
    countChange: () => changes.count(organization.id),
    once: (run) => recentForms.once(member, form, run),
    actionsOf: (before) => audit.actionsOf(organization.id, before),
    services: { ...services, author: { by: 'member', name: member }, language },
    async api(operation, call) {
      const route = routeTable.find((each) => each.operation === operation)!;
      const isCommand = route.kind === 'command';
      const livemode = mode === 'live';
      const run = () =>
        services.callApi({
          org: organization.id,
          livemode,
          operation,
          language,
          member,
          address: client,
          ...call,
          ...(isCommand && keyOf(form, call)),
        });
      if (!isCommand) return (await run()) as ApiAnswer<ResultOf<typeof operation>>;
      // What the command says in detail is in the log of the shard, under the same member.
      const { amount } = (call.params ?? {}) as { readonly amount?: number };
      return act(`api.${operation}`, { id: call.id ?? null, amount, mode }, async () => {
        const answer = await afterTheFirst(run);
        if (!answer.ok) throw new Refused(answer);
        return { id: (answer.body as { id?: string }).id, answer };
      }).then(
        ({ answer }) => answer as ApiAnswer<ResultOf<typeof operation>>,
        (error) => {
          if (!(error instanceof Refused)) throw error;
          if (isFinal(error.answer)) form.delete('idempotency_key');
          return error.answer as ApiAnswer<ResultOf<typeof operation>>;
        },
      );
    },
  };
}

const patienceMs = [50, 100, 200, 400, 800, 1_600];

/**
 * Runs a command. The second click of a double click has the same key, and comes while the first
 * one is still carried out: it waits for the answer of that one.
 */
async function afterTheFirst(run: () => Promise<ApiAnswer>): Promise<ApiAnswer> {
  for (const waitMs of patienceMs) {
    const answer = await run();
    if (answer.ok || answer.error.code !== 'idempotency_in_progress') return answer;
    await sleep(waitMs);
  }
  return run();
}

/**
 * Whether the refusal is final. It may be stored for the form's key, so the form gets another key
 * when it is shown again. After any other refusal it keeps its key, because the command may have
 * run.
 */
export function isFinal({ status }: { readonly status: number }): boolean {
  return status < 500 && status !== 409 && status !== 429;
}

/** The key of the form, so that a form that is sent twice is carried out once. */
function keyOf(
  form: URLSearchParams,
  call: { readonly idempotencyKey?: string },
): { idempotencyKey?: string } {
  const idempotencyKey = call.idempotencyKey ?? form.get('idempotency_key');
  return idempotencyKey ? { idempotencyKey } : {};
}

/** How often an organization's members change its settings in an hour. */
const changesOfHour = { count: 30, windowMs: 3_600_000, keysMax: 50_000 };

/** The changes of each organization's settings. */
export class SettingsChanges {
  readonly #buckets = new KeyedBuckets(changesOfHour);
  readonly #monotonic: MonotonicClock;

  constructor(monotonic: MonotonicClock) {
    this.#monotonic = monotonic;
  }

  /** Counts one. Throws `DirectoryRefusal` when there were too many. */
  count(org: string): void {
    if (this.#buckets.spend(org, this.#monotonic()) === null) return;
    throw new DirectoryRefusal(
      `the settings were changed ${changesOfHour.count} times in an hour: change them later`,
      'too_many_changes',
    );
  }
}

/** The forms that are known of one member, and the members. */
const formsKeptMax = 32;
const membersKeptMax = 1_000;

/**
 * The forms that were carried out lately, by their idempotency keys, for what no command of the API
 * does: a double click or a reload makes no second key and no second secret. The answers are not
 * stored, because they may show a secret that is shown once.
 */
export class RecentForms {
  /** Of each member; who sent one last is at the end. */
  readonly #keys = new Map<string, Set<string>>();

  /**
   * Carries out the form of a member; null when that was done, or is under way. A form that fails
   * may come again, and one without a key counts as new.
   */
  async once<T>(member: string, form: URLSearchParams, run: () => Promise<T>): Promise<T | null> {
    const key = form.get('idempotency_key');
    if (!key) return run();
    const keys = this.#keysOf(member);
    if (keys.has(key)) return null;
    keys.add(key);
    // A set is in the order in which its members came.
    const [oldest] = keys;
    if (keys.size > formsKeptMax) keys.delete(oldest!);
    try {
      return await run();
    } catch (error) {
      keys.delete(key);
      throw error;
    }
  }

  #keysOf(member: string): Set<string> {
    const keys = this.#keys.get(member) ?? new Set();
    this.#keys.delete(member);
    this.#keys.set(member, keys);
    const [oldest] = this.#keys.keys();
    if (this.#keys.size > membersKeptMax) this.#keys.delete(oldest!);
    return keys;
  }
}
