// Processor time of what is measured, from Linux's `/proc`: of a process with all that it started, and of the service's
// threads one by one, as its own metrics tell them, with what the garbage collector took of each. And its memory.

import { readdirSync, readFileSync } from 'node:fs';

/** Seconds by the name of a thread, or of a group of threads. */
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

/** User and system time of a process and of its children; null where the system doesn't tell. */
export function processSeconds(pid: number): number | null {
  const own = timesOf(pid);
  if (own === null) return null;
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => timesOf(Number(name)))
    .filter((times) => times?.parent === pid);
  return children.reduce((sum, times) => sum + times!.seconds, own.seconds);
}

/** V8 makes its helpers when the process starts, right behind the thread that schedules delayed tasks. */
const helperThreads = 4;

/**
 * The service's processor time by thread. Those of JavaScript tell their own, and as `… gc` for how long the collector
 * stopped them; of the others, the helpers of V8 are told apart by their place, and what is left belongs to the pool in
 * which the storage engine commits.
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
    .sort((a, b) => a - b);
  const taskSeconds = (task: number) =>
    Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'latin1').split(' ')[0]) / 1e9;
  const total = tasks.reduce((sum, task) => sum + taskSeconds(task), 0);
  const scheduler = tasks.findIndex((task) =>
    readFileSync(`/proc/${pid}/task/${task}/comm`, 'latin1').startsWith('DelayedTask'),
  );
  const helpers = tasks
    .slice(scheduler + 1, scheduler + 1 + helperThreads)
    .reduce((sum, task) => sum + taskSeconds(task), 0);
  const named = Object.values(seconds).reduce((sum, value) => sum + value, 0);
  const commits = Math.max(0, total - named - helpers);
  return { ...seconds, ...collected, 'V8 helpers': helpers, commits };
}

/** The memory of a process that no file backs, in MiB: without the pages of files that are mapped. */
export function privateMib(pid: number): number {
  const [, kib] = /^RssAnon:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))!;
  return Number(kib) / 1024;
}
