// Ends one thread of a running service and nothing else, from outside of it, as a fault of that thread would: over the
// debugger's protocol, which reaches into every thread. The service itself has no door for it.

import { setTimeout as wait } from 'node:timers/promises';
import type { Service } from '../service.ts';

/** Has a service listen for the debugger, on any free port of loopback. */
export const debuggerEnv = { NODE_OPTIONS: '--inspect=127.0.0.1:0' };

const answerMsMax = 10_000;

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly sessionId: string; readonly workerInfo: { readonly url: string } };
}

/** Throws in the first thread whose entry is `entry`, such as `webhook-thread.ts`, where nothing catches it. */
export async function endThread(service: Service, entry: string): Promise<void> {
  const address = /Debugger listening on (ws:\S+)/.exec(service.output())![1]!;
  const socket = new WebSocket(address);
  const attached = Promise.withResolvers<string>();
  socket.addEventListener('message', ({ data }) => {
    const { method, params } = JSON.parse(data) as Message;
    if (method !== 'NodeWorker.attachedToWorker') return;
    if (params!.workerInfo.url.endsWith(`/${entry}`)) attached.resolve(params!.sessionId);
  });
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', reject);
  });
  let id = 0;
  const send = (method: string, params: object) => socket.send(JSON.stringify({ id: ++id, method, params }));
  send('NodeWorker.enable', { waitForDebuggerOnStart: false });
  const sessionId = await Promise.race([attached.promise, wait(answerMsMax)]);
  if (sessionId === undefined) throw new Error(`no thread runs ${entry}`);
  const expression = 'setImmediate(() => { throw new Error("ended by the test"); })';
  const evaluate = { id: 1, method: 'Runtime.evaluate', params: { expression } };
  send('NodeWorker.sendMessageToWorker', { sessionId, message: JSON.stringify(evaluate) });
  await service.until(() => service.output().includes('ended by the test') || undefined);
  socket.close();
}
