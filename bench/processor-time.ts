// Processor time of what is measured, from Linux's `/proc`: of a process with all that it started, and of the service's
// threads one by one, as its own metrics tell them, with what the garbage collector took of each.

import { readdirSync, readFileSync } from 'node:fs';

/** Seconds by the name of a thread or of a process, or of a group of them. */
export type ThreadSeconds = Readonly<Record<string, number>>;

const ticksPerSecond = 100;

interface ProcessTimes {
  readonly parent: number;
  /** Of its own and of the children that it has waited for. */
  readonly seconds: number;
}

function timesOf(pid: number): ProcessTimes | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The process's name, in parentheses, may hold spaces.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return { parent: Number(fields[1]), seconds: ticks / ticksPerSecond };
  } catch {
    return null;
  }
}

/** A process that runs, and all that run below it. */
export function familyOf(pid: number): number[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ pid: Number(name), parent: timesOf(Number(name))?.parent }));
  const below = (parent: number): number[] => [
    parent,
    ...all.filter((each) => each.parent === parent).flatMap((child) => below(child.pid)),
  ];
  return below(pid);
}

/** User and system time of a process and of all below it; null where the system doesn't tell. */
export function processSeconds(pid: number): number | null {
  if (timesOf(pid) === null) return null;
  return familyOf(pid).reduce((sum, each) => sum + (timesOf(each)?.seconds ?? 0), 0);
}

/** V8 makes its helpers when the process starts, right behind the thread that schedules delayed tasks. */
const helperThreads = 4;

/**
 * The service's processor time by thread. Those of JavaScript tell their own, and as `… gc` for how long the collector
 * stopped them; of the others, the helpers of V8 are told apart by their place, and by their name those of libuv's pool, in
 * which the storage engine commits and files are read and written.
 */
export function serviceThreads(pid: number, metrics: string): ThreadSeconds {
  const seconds: Record<string, number> = {};
  const collected: Record<string, number> = {};
  for (const [, what, thread, value] of metrics.matchAll(
    /^payments_thread_(cpu|gc)_seconds_total\{thread="([^"]+)"\} (\S+)$/gm,
  )) {
    if (what === 'cpu') seconds[thread!] = Number(value);
    else collected[`${thread} gc`] = Number(value);
  }
  const tasks = readdirSync(`/proc/${pid}/task`)
    .map(Number)
    .sort((a, b) => a - b)
    .map((task) => {
      const read = (name: string) => readFileSync(`/proc/${pid}/task/${task}/${name}`, 'latin1');
      return { name: read('comm').trim(), seconds: Number(read('schedstat').split(' ')[0]) / 1e9 };
    });
  const sum = (of: readonly { seconds: number }[]) => of.reduce((total, each) => total + each.seconds, 0);
  const scheduler = tasks.findIndex(({ name }) => name.startsWith('DelayedTask'));
  const helpers = sum(tasks.slice(scheduler + 1, scheduler + 1 + helperThreads));
  const pool = sum(tasks.filter(({ name }) => name.startsWith('libuv-worker')));
  const named = Object.values(seconds).reduce((total, value) => total + value, 0);
  return {
    ...seconds,
    ...collected,
    'V8 helpers': helpers,
    'libuv pool': pool,
    others: Math.max(0, sum(tasks) - named - helpers - pool),
  };
}
