// Ends one thread of a running service, as a fault of that thread would. It uses Node's inspector, which reaches every thread,
// so the service needs no code for tests.

import type { Service } from '../service.ts';

/** For the service's environment: the inspector takes a free port of loopback. */
export const inspectorEnv = { NODE_OPTIONS: '--inspect=127.0.0.1:0' };

/** What a thread does a moment later, once it has said that it was told: each is a way in which one can fail. */
export const endings = {
  throws: `() => { throw new Error('broken by a test'); }`,
  'rejects a promise': `async () => { throw new Error('broken by a test'); }`,
  'ends without a word': '() => process.exit(9)',
} as const;

interface ThreadChoice {
  /** The file that the thread was started with, such as `shard-thread.ts`. */
  readonly entry: string;
  /** The shard's number, where there are several. */
  readonly shard?: number;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly sessionId: string };
}

/** Settles when the chosen thread has been told to end. */
export async function endThread(
  service: Service,
  { entry, shard = 0 }: ThreadChoice,
  how: keyof typeof endings = 'throws',
): Promise<void> {
  const threads = `process.getBuiltinModule('node:worker_threads')`;
  const isShard = `!/^shard (?!${shard}$)/.test(${threads}.threadName)`;
  const isChosen = `process.argv.at(-1)?.endsWith('/${entry}') && ${isShard}`;
  const told = await evaluateInThreads(service, `if (${isChosen}) { setTimeout(${endings[how]}); 'told' }`);
  if (told === 0) throw new Error(`no thread runs ${entry} ${shard}`);
}

/**
 * Evaluates `expression` in every thread besides the main one, and returns how many said `told`.
 * Settles when each of them has answered: closing the inspector any earlier may take the question back. A thread that
 * is started meanwhile, such as one that takes the place of the one that was told, is not asked.
 */
async function evaluateInThreads(service: Service, expression: string): Promise<number> {
  const socket = new WebSocket(/Debugger listening on (ws:\S+)/.exec(service.output())![1]!);
  const message = JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression } });
  const waiting = new Set<string>();
  let listed = false;
  const finished = Promise.withResolvers<void>();
  let id = 0;
  let told = 0;
  const send = (method: string, params: object) => socket.send(JSON.stringify({ id: ++id, method, params }));
  socket.addEventListener('open', () => send('NodeWorker.enable', { waitForDebuggerOnStart: false }));
  socket.addEventListener('close', () => finished.reject(new Error('the inspector is gone')));
  socket.addEventListener('error', () => finished.reject(new Error('the inspector does not answer')));
  socket.addEventListener('message', ({ data }) => {
    const { method, params, id: answered } = JSON.parse(String(data)) as Message;
    const sessionId = params?.sessionId ?? '';
    if (method === 'NodeWorker.attachedToWorker' && !listed) {
      waiting.add(sessionId);
      send('NodeWorker.sendMessageToWorker', { sessionId, message });
    }
    // Every thread that there is was attached by the time that the first message is answered.
    if (answered === 1) listed = true;
    const ended = method === 'NodeWorker.detachedFromWorker';
    const answer = method === 'NodeWorker.receivedMessageFromWorker';
    if ((ended || answer) && waiting.delete(sessionId) && data.includes('told')) told++;
    if (listed && waiting.size === 0) finished.resolve();
  });
  try {
    await finished.promise;
  } finally {
    socket.close();
  }
  return told;
}
