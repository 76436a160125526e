// What a shard keeps of its log: all that the checkpoint lacks, each stored response for as long as its key may be sent again,
// segments of a day and of a size, and nothing for longer than somebody needs it.

import { isDeepStrictEqual } from 'node:util';
import { type Journal, JournalDamaged, type Log, type StoredResponse } from '../../../src/journal/journal.ts';
import { tableOf } from '../disk/contents.ts';
import type { Machine } from '../disk/machine.ts';
import { EnvironmentFile, Folder } from '../disk/volume.ts';
import type { Random } from '../kernel/random.ts';
import type { History } from '../world/history.ts';
import type { World } from '../world/world.ts';

const dayMs = 86_400_000;
/** Batches that are written together are this close. */
const togetherMs = 60_000;
/** No more are written together: a mirror that catches up gets so many. */
const togetherMax = 64;
const unlimited = 1e12;

interface Segment {
  readonly firstSequence: number;
  /** Of the file. */
  readonly bytes: number;
  /** The bytes of each of its batches. */
  readonly batches: readonly number[];
}

interface KeptLogOptions {
  readonly world: World;
  readonly machine: Machine;
  /** That of the segments. */
  readonly folder: string;
  readonly history: History;
  readonly journal: Pick<Journal, 'log' | 'checkpoint'>;
}

export class KeptLog {
  readonly #options: KeptLogOptions;
  readonly #random: Random;

  constructor(options: KeptLogOptions) {
    const { simulation } = options.world;
    this.#options = options;
    this.#random = simulation.random(`${options.folder} at ${simulation.tasks}`);
  }

  #check(holds: boolean, what: () => string): void {
    const { judge, isDamaged } = this.#options.world;
    judge.check('a log is kept as long as it is needed', holds || isDamaged, what);
  }

  get #names(): string[] {
    const found = this.#options.machine.volume.find(this.#options.folder);
    return found instanceof Folder ? [...found.entries.keys()] : [];
  }

  #segments(): Segment[] {
    const names = this.#names.filter((name) => /^\d{16}$/.test(name)).sort();
    return names.map((name) => {
      const file = this.#options.machine.volume.find(`${this.#options.folder}/${name}/data.mdb`);
      const [bytes, values] =
        file instanceof EnvironmentFile ? [file.size, tableOf(file.contents, '').values] : [0, []];
      // The first row says whose it is.
      return { firstSequence: Number(name), bytes, batches: values.slice(1).map(({ length }) => length) };
    });
  }

  /** What is older was dropped as far as it may be, and the log begins with this sequence. `mayStay`: a copy is made from it. */
  dropped(olderThanMs: number, firstSequence: number, mayStay: boolean): void {
    const left = this.#names.filter((name) => name.endsWith('.dropped'));
    this.#check(left.length === 0, () => `${left} are dropped and take room still`);
    const segments = this.#segments();
    const { logBytesMax, archiveAgeMs } = this.#options.world.settings;
    const { sequence } = this.#options.journal.checkpoint;
    const first = segments[0]?.firstSequence ?? 0;
    this.#check(first === firstSequence, () => `the log begins with ${first}, and not with ${firstSequence}`);
    this.#check(
      first <= sequence + 1,
      () => `the log begins with ${first}, and the checkpoint has ${sequence}`,
    );
    if (logBytesMax >= unlimited) {
      const needed = this.#options.history.since(olderThanMs);
      this.#check(
        needed === null || first <= needed,
        () => `the log begins with ${first}, and ${needed} is needed`,
      );
    }
    for (const [i, segment] of segments.entries()) {
      this.#ofADay(segment, segments[i + 1]);
      this.#ofASize(segment);
    }
    for (let i = 0; i < 2; i++) this.#readResponse(olderThanMs);
    const end = (segments[1]?.firstSequence ?? Number.POSITIVE_INFINITY) - 1;
    if (mayStay || archiveAgeMs > 0 || end > sequence) return;
    const endedMs = this.#options.history.timeMsOf(end);
    this.#check(
      endedMs === null || endedMs >= olderThanMs,
      () => `the segment ${first} is there still, whose last batch ${end} is of ${endedMs}`,
    );
    const bytes = segments.slice(0, -1).reduce((sum, segment) => sum + segment.bytes, 0);
    this.#check(bytes <= logBytesMax, () => `the log has ${bytes} bytes, and may have ${logBytesMax}`);
  }

  #ofADay({ firstSequence }: Segment, next: Segment | undefined): void {
    const last = next === undefined ? this.#options.history.durable : next.firstSequence - 1;
    const [beganMs, endedMs] = [firstSequence, last].map((each) => this.#options.history.timeMsOf(each));
    if (beganMs == null || endedMs == null) return;
    this.#check(
      endedMs - beganMs <= dayMs + togetherMs,
      () => `the segment ${firstSequence} goes on for ${endedMs - beganMs} ms`,
    );
  }

  /** It goes on until it has more than a segment may have, or what was written with the batch that made it so. */
  #ofASize({ firstSequence, batches }: Segment): void {
    const { segmentBytesMax } = this.#options.world.settings;
    const bytes = batches.slice(0, -togetherMax).reduce((sum, each) => sum + each, 0);
    this.#check(
      bytes <= segmentBytesMax,
      () => `the segment ${firstSequence} has ${bytes} bytes before its last batches`,
    );
  }

  /** A stored response is read for its key, and for no other. */
  #readResponse(olderThanMs: number): void {
    const { responses } = this.#options.history;
    const chosen = responses[this.#random.below(responses.length || 1)];
    if (chosen === undefined || chosen.timeMs < olderThanMs || this.#options.world.isDamaged) return;
    const { location, response } = chosen;
    const { status, requestId, defaults, body, keyDigest } = response;
    const wanted = { status, requestId, defaults, body: Buffer.from(body).toString() };
    const other = keyDigest.map((byte) => byte ^ 1);
    const [found, foreign] = [keyDigest, other].map((digest) => textOf(this.#read(location, digest)));
    const what = () => `the response at ${JSON.stringify(location)}`;
    this.#check(isDeepStrictEqual(found, wanted), () => `${what()} is ${JSON.stringify(found)}`);
    this.#check(foreign === undefined, () => `${what()} is that of another key`);
  }

  #read(location: Parameters<Log['readResponse']>[0], digest: Uint8Array): StoredResponse | undefined {
    try {
      return this.#options.journal.log.readResponse(location, digest);
    } catch (error) {
      if (error instanceof JournalDamaged) return undefined;
      throw error;
    }
  }
}

function textOf(response: StoredResponse | undefined) {
  return response && { ...response, body: Buffer.from(response.body).toString() };
}
