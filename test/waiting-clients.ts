// Clients that connect while this thread takes nothing: the system has their connections, and they wait to be taken.

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** Returns when they are connected and have sent the request. Resolves with what each was told until its connection ended. */
export function waitingClients(port: number, count: number, request: string): Promise<readonly string[]> {
  const connected = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const source = `
    const { parentPort, workerData } = require('node:worker_threads');
    const { port, count, request, connected } = workerData;
    let open = 0;
    Promise.all(Array.from({ length: count }, () => new Promise((resolve) => {
      let told = '';
      const socket = require('node:net').connect(port, '127.0.0.1', () => socket.write(request, () => {
        if (++open === count) Atomics.notify(connected, 0, Atomics.store(connected, 0, 1));
      }));
      socket.on('data', (bytes) => { told += bytes; });
      socket.on('error', ({ code }) => { told += code; });
      socket.on('close', () => resolve(told));
    }))).then((all) => parentPort.postMessage(all));`;
  const worker = new Worker(source, { eval: true, workerData: { port, count, request, connected } });
  const told = once(worker, 'message').then(([all]) => all as readonly string[]);
  Atomics.wait(connected, 0, 0);
  return told;
}
