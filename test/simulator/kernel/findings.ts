// What a run looks for: each assertion has a name, and is counted when it is reached. A finding is an assertion that does
// not hold; the first one ends the run.

export const assertions = [
  'nothing acknowledged is lost',
  'nothing runs twice',
  'a replay is byte for byte',
  'a key is bound to its request for a day',
  'money is conserved',
  'what is credited was paid in full, and is captured',
  'a code that is given up is taken back',
  'a day’s total is the sum of what was settled',
  'records agree with each other',
  'indexes equal records',
  'what a list shows is what was made',
  'a list has the same objects by pages of every size, both ways',
  'a filter shows what fits, and nothing else',
  'memory is what the disk replays to',
  'the time of a shard does not go back',
  'what is done has the time of its moment',
  'what a shard reads is what was written',
  'what a shard has just used stays in memory',
  'memory is counted as it is used',
  'a shard does what the model does',
  'a request is refused for its first fault',
  'an answer says what became of its request',
  'an answer says what the limits leave',
  'a log is kept as long as it is needed',
  'one checkpoint is left by a compaction',
  'every organization sees only its own',
  'limits are never exceeded',
  'nobody is refused within the limits',
  'what waits is bounded',
  'who is refused uses most',
  'nobody is starved',
  'nothing abandoned runs',
  'what a read shows is on disk',
  'a read is prompt while the disk stalls',
  'the edge knows that the disk stalls',
  'a stop leaves nobody without an answer',
  'what is due is done in time',
  'webhook threads have what is due',
  'every event is there once',
  'every event is delivered',
  'a delivery goes to its address, signed with the secrets that count',
  'nothing is sent to an endpoint that is deleted',
  'what is past its retention goes',
  'what is within its retention stays',
  'a link for one payment is paid once',
  'a link that many may pay stays open',
  'at most five flights to an endpoint',
  'a delivery is tried as often as its schedule says',
  'a network call has one effect',
  'a network is called for what is durable',
  'a directory change that was acknowledged is kept',
  'a key that was revoked opens nothing',
  'what has ended opens nothing',
  'who has left has nothing open',
  'an organization keeps an owner',
  'members may do what their roles say',
  'a backup and the archive hold what was acknowledged',
  'a restore equals the model',
  'the log’s tools show what was appended',
  'a log moves there and back as it is',
  'a journal is copied as it is',
  'what is on disk lies as its format says',
  'a damaged end is given up, and nothing else',
  'a file that is damaged loses what lies there, and nothing else',
  'a record of an older layout is read',
  'a release says what it can’t read',
  'records that contradict each other are told',
  'nothing goes out while paused',
  'the service starts on what a crash leaves',
  'the service fails of what failed, and of nothing else',
  'a write error inside the storage library ends the process',
  'a write that the disk refused is nobody’s',
  'what was opened is closed',
  'damage is noticed',
  'a shard that is put back is noticed',
  'nobody believes to have what another node has taken',
  'nobody believes itself for longer than its lender',
  'nobody speaks for what another node has taken',
  'a mirror holds what the log holds',
  'a wrong promotion is refused and told',
  'the lease is taken above what is noted of it',
  'the service is back within five seconds',
  'whatever was asked is answered in the end',
] as const;
export type Assertion = (typeof assertions)[number];

export function isAssertion(name: string): name is Assertion {
  return (assertions as readonly string[]).includes(name);
}

export class Finding extends Error {
  override name = 'Finding';
  readonly assertion: Assertion;

  constructor(assertion: Assertion, what: string) {
    super(what);
    this.assertion = assertion;
  }
}

/** Counts by name: assertions that were reached, faults that were injected, things that happened. */
export class Counts {
  readonly #counts = new Map<string, number>();

  add(name: string, count = 1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + count);
  }

  get(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  addAll(other: Counts): void {
    for (const [name, count] of other.entries()) this.add(name, count);
  }

  entries(): [string, number][] {
    return [...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1));
  }
}

/** Holds a run's assertions and its first finding. */
export class Judge {
  readonly reached = new Counts();
  finding: Finding | null = null;
  readonly #isOff: () => boolean;
  readonly #unheard: Assertion | null;

  /**
   * `isOff`: a process that has ended in the middle of an operation is not judged by what it does until its task is over. What is
   * found by `unheard` counts for nothing.
   */
  constructor(isOff: () => boolean, unheard: Assertion | null) {
    this.#isOff = isOff;
    this.#unheard = unheard;
  }

  /** Checks one assertion; `what` says what was found instead. Goes on, as the caller may be anywhere. */
  check(assertion: Assertion, holds: boolean, what: () => string): void {
    this.reached.add(assertion);
    if (!holds) this.found(new Finding(assertion, what()));
  }

  found(finding: Finding): void {
    if (!this.#isOff() && finding.assertion !== this.#unheard) this.finding ??= finding;
  }
}
