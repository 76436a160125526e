// @ts-check
// The parent of the service: passes signals on, and starts the service again after a crash, with
// growing waits, unless whoever started this process does so. The service says `stopping` when it
// was told to stop, and is not started again then. Plain JavaScript, because any Node runs it.

import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { commandAt } from '../operator/cli/command-place.mjs';
import { exitCodes } from '../operator/cli/exit-codes.mjs';

/** @typedef {number | null} Code */
/** @typedef {NodeJS.Signals | null} Signal */

/** @type {readonly Code[]} */
const orderlyCodes = [exitCodes.done, exitCodes.failed, exitCodes.usage];
/**
 * The service has handlers for these, but for its first moments. It has one for SIGHUP, too, which
 * asks it to read its files again: another start does that as well.
 * @type {readonly Signal[]}
 */
const stopSignals = ['SIGTERM', 'SIGINT', 'SIGQUIT'];

const firstWaitMs = 100;
const waitMsMax = 30_000;
/** A service that has run for so long begins again with the shortest wait. */
const soundMs = 60_000;

/** How long to wait before each start: not at all after the first crash, then longer with each. */
export class GrowingWaits {
  #crashes = 0;

  /**
   * The service has crashed after `ranMs`. Returns the milliseconds to wait.
   * @param {number} ranMs
   */
  next(ranMs) {
    if (ranMs >= soundMs) this.#crashes = 0;
    const crashes = this.#crashes++;
    return crashes === 0 ? 0 : Math.min(waitMsMax, firstWaitMs * 2 ** (crashes - 1));
  }
}

/**
 * Whether these arguments of the command run the service.
 * @param {readonly string[]} args
 */
export function isService(args) {
  return args[commandAt(args)] === 'serve';
}

/**
 * Whether whoever started this process starts the service again: systemd says so with its socket,
 * and in a container the first process is the container.
 * @param {NodeJS.ProcessEnv} env
 * @param {number} pid
 */
export function isKeptByOthers(env, pid) {
  return Boolean(env.NOTIFY_SOCKET) || pid === 1;
}

/**
 * The arguments for a start after a crash: what was accepted for the first is accepted again.
 * @param {readonly string[]} args
 */
export function argumentsAgain(args) {
  return args.filter((arg) => arg !== '--accept-loss');
}

/**
 * Whether a process that has ended like this has crashed: it was neither refused nor stopped.
 * @param {Code} code
 * @param {Signal} signal
 */
export function isCrash(code, signal) {
  return signal === null ? !orderlyCodes.includes(code) : !stopSignals.includes(signal);
}

/**
 * @typedef {object} Kept
 * @property {string} node The Node to run.
 * @property {readonly string[]} nodeArgs Its own arguments, and the program.
 * @property {readonly string[]} args
 * @property {boolean} isStartedAgain Whether it is started again after a crash.
 * @property {Pick<GrowingWaits, 'next'>} [waits]
 */

/**
 * Runs the program, and sets this process's exit code when that has ended for good.
 * @param {Kept} kept
 */
export function keepRunning({ node, nodeArgs, args, isStartedAgain, waits = new GrowingWaits() }) {
  let isTold = false;
  /** @type {import('node:child_process').ChildProcess | null} */
  let child = null;
  /** @type {NodeJS.Timeout | undefined} Set while the next start waits. */
  let timer;

  /** @param {readonly string[]} withArgs */
  const start = (withArgs) => {
    const isFirst = timer === undefined;
    timer = undefined;
    const startedAt = performance.now();
    // The channel closes when this process is killed, which tells the program to end.
    const started = spawn(node, [...nodeArgs, ...withArgs], {
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    });
    child = started;
    started.on('message', (message) => {
      if (message === 'stopping') isTold = true;
    });
    started.on('exit', (code, signal) => ended(code, signal, performance.now() - startedAt));
    started.on('error', (error) => {
      console.error(`payments: ${node} can't be run: ${error.message}. Run "npm ci" again if it stays so`);
      // One that runs says itself how it ends. One that ran before may only have met a machine
      // without memory.
      if (started.pid === undefined) ended(isFirst ? exitCodes.failed : exitCodes.crashed, null, 0);
    });
  };

  /**
   * @param {Code} code
   * @param {Signal} signal
   * @param {number} ranMs
   */
  const ended = (code, signal, ranMs) => {
    child = null;
    process.exitCode = code ?? 128 + (constants.signals[signal ?? 'SIGKILL'] ?? 0);
    if (isTold || !isStartedAgain || !isCrash(code, signal)) return;
    const waitMs = waits.next(ranMs);
    const how = signal === null ? `with code ${code}` : `by ${signal}`;
    const when = waitMs === 0 ? 'at once' : `in ${waitMs / 1000} s`;
    console.error(`payments: the service has ended ${how} and is started again ${when}`);
    timer = setTimeout(start, waitMs, argumentsAgain(args));
  };

  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(signal, () => {
      if (signal !== 'SIGHUP') {
        isTold = true;
        // While the next start waits, nothing runs that would have to stop.
        if (timer !== undefined) process.exitCode = exitCodes.done;
        clearTimeout(timer);
      }
      child?.kill(signal);
    });
  }
  start(args);
}
