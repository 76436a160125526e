// Runs an expression in one thread of a running service, by way of the inspector that every Node process opens when
// it gets SIGUSR1: so a test can make a thread fail, and the service needs no way in for tests.

import type { Service } from '../service.ts';

/** For the service's environment: the inspector takes a free port. */
export const inspectorEnv = { NODE_OPTIONS: '--inspect-port=127.0.0.1:0' };

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly sessionId: string; readonly message: string };
}

/** Evaluates `expression` in every thread of the service besides the main one. */
export async function evaluateInThreads(service: Service, expression: string): Promise<void> {
  const socket = new WebSocket(await inspectorUrl(service));
  const evaluated = new Set<string>();
  let id = 0;
  const send = (method: string, params: object) => socket.send(JSON.stringify({ id: ++id, method, params }));
  const attached = Promise.withResolvers<void>();
  socket.addEventListener('open', () => send('NodeWorker.enable', { waitForDebuggerOnStart: false }));
  socket.addEventListener('error', () => attached.reject(new Error('the inspector does not answer')));
  socket.addEventListener('message', ({ data }) => {
    const { method, params, id: answered } = JSON.parse(String(data)) as Message;
    if (method === 'NodeWorker.attachedToWorker' && !evaluated.has(params!.sessionId)) {
      const { sessionId } = params!;
      evaluated.add(sessionId);
      const message = JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression } });
      send('NodeWorker.sendMessageToWorker', { sessionId, message });
    }
    // The answer to the first message comes after all threads were attached, the last one after all were sent to.
    if (answered !== undefined && answered === id) attached.resolve();
  });
  await attached.promise;
  socket.close();
}

async function inspectorUrl(service: Service): Promise<string> {
  const find = () => /Debugger listening on (ws:\S+)/.exec(service.output())?.[1];
  if (find() === undefined) service.process.kill('SIGUSR1');
  return service.until(find);
}

/** An expression that is true in the thread of this shard only. */
export function isShard(number: number): string {
  return `process.getBuiltinModule('node:worker_threads').workerData?.dir?.endsWith('shard-${number}')`;
}
