// A merchant's server for the webhook bench, cheap enough to leave the machine to the service: plain HTTP, or HTTPS
// when it is given a key and a certificate. Every path is an endpoint; `/tar…` never answers, and `/fails…`
// answers 500 with 16 KiB. It counts what is in flight on each path, and for the others reads when the request was sent that caused an event at the end of its idempotency key.
// `node bench/webhook-receiver.ts ANSWER_MS [KEY_FILE CERT_FILE]`, with a channel to its parent.

import { App, SSLApp, us_socket_local_port } from 'uWebSockets.js';
import { timeNow } from './time.ts';

export interface Figures {
  readonly received: number;
  /** How many of them were answered with 500. */
  readonly failed: number;
  /** Connections that were opened. */
  readonly connections: number;
  /** The most requests that one path had in flight. */
  readonly inFlightMax: number;
  /** Milliseconds from when the cause was sent until the event arrived. */
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const [answerMs, keyFile, certFile] = process.argv.slice(2) as [string, string?, string?];
const longAnswer = 'x'.repeat(16 * 1024);
const inFlight = new Map<string, number>();
let latencies: number[] = [];
let inFlightMax = 0;
let received = 0;
let failed = 0;
let connections = 0;

const app = keyFile ? SSLApp({ key_file_name: keyFile, cert_file_name: certFile! }) : App();
app.post('/*', (response, request) => {
  const path = request.getUrl();
  const now = (inFlight.get(path) ?? 0) + 1;
  inFlight.set(path, now);
  inFlightMax = Math.max(inFlightMax, now);
  let open = true;
  const left = () => {
    if (open) inFlight.set(path, inFlight.get(path)! - 1);
    open = false;
  };
  response.onAborted(left);
  if (path.startsWith('/tar')) return;
  let body = '';
  response.onData((chunk, isLast) => {
    body += Buffer.from(chunk).toString();
    if (!isLast) return;
    received++;
    if (path.startsWith('/fails')) {
      failed++;
      left();
      response.cork(() => response.writeStatus('500 Internal Server Error').end(longAnswer));
      return;
    }
    const sentAt = /"idempotency_key":"[\d-]*-([\d.]+)"/.exec(body)?.[1];
    if (sentAt !== undefined) latencies.push(timeNow() - Number(sentAt));
    const answer = () => {
      if (!open) return;
      left();
      response.cork(() => response.end('ok'));
    };
    if (answerMs === '0') answer();
    else setTimeout(answer, Number(answerMs));
  });
});
const countConnection = (_response: unknown, change: unknown) => {
  if (change === 1) connections++;
};
app.filter(countConnection);
app.listen(0, (socket) => {
  process.send!({ port: us_socket_local_port(socket as never) });
});

process.on('message', (wanted: 'figures' | 'received') => {
  if (wanted === 'received') return void process.send!(received);
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0;
  const figures: Figures = { received, failed, connections, inFlightMax, p50Ms: at(0.5), p99Ms: at(0.99) };
  process.send!(figures);
  latencies = [];
  inFlightMax = 0;
  received = 0;
  failed = 0;
  connections = 0;
});
process.on('disconnect', () => process.exit());
