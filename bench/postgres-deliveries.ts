// The delivery worker of the comparison with PostgreSQL: it takes deliveries from the outbox and posts them with undici, at most
// five in flight to an endpoint, signed as the service signs. One statement records the attempts that have ended since
// the last and leases as many deliveries as may go out for them, of all endpoints together, so each commit serves many
// deliveries. A process of its own: `node bench/postgres-deliveries.ts CONNECTION_STRING CA_FILE`.

import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { Agent, request } from 'undici';
import { signatureHeader, signatureHeaderName } from '../src/crypto/signed-message.ts';

const [connectionString, caFile] = process.argv.slice(2) as [string, string];
const inFlightMax = 5;
/** Deliveries that become due are looked for so often when there are none. */
const idleMs = 5;
const timeoutMs = 10_000;
const ca = readFileSync(caFile);

const client = new pg.Client({ connectionString });
await client.connect();
// Tables that grow from nothing have no statistics yet, by which the planner would find out that its indexes are faster.
await client.query('SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off');
const exchange = `
  WITH ended AS (
    UPDATE deliveries SET status = e.status, delivered = CASE WHEN e.status BETWEEN 200 AND 299 THEN now() END,
      due = now() + interval '5 seconds'
    FROM unnest($1::bigint[], $2::int[]) AS e (id, status) WHERE deliveries.id = e.id),
  waiting AS (
    SELECT next.id FROM unnest($3::text[], $4::int[]) AS free (endpoint, places), LATERAL (
      SELECT id FROM deliveries
      WHERE endpoint = free.endpoint AND delivered IS NULL AND due <= now()
      ORDER BY id LIMIT free.places FOR UPDATE SKIP LOCKED) AS next),
  leased AS (
    UPDATE deliveries SET due = now() + interval '60 seconds', attempts = attempts + 1
    FROM waiting WHERE deliveries.id = waiting.id RETURNING deliveries.id, endpoint, event)
  SELECT leased.id, leased.endpoint, events.body FROM leased JOIN events ON events.id = leased.event ORDER BY leased.id`;

interface Endpoint {
  readonly url: string;
  readonly secret: string;
  readonly agent: Agent;
  places: number;
}
const endpoints = new Map<string, Endpoint>();

async function learnEndpoints(): Promise<void> {
  for (const { id, url, secret } of (await client.query('SELECT * FROM endpoints')).rows) {
    if (endpoints.has(id)) continue;
    const agent = new Agent({ connections: inFlightMax, connect: { ca } });
    endpoints.set(id, { url, secret, agent, places: inFlightMax });
  }
}

interface Leased {
  readonly id: string;
  readonly endpoint: string;
  readonly body: string;
}

let ended: { id: string; status: number }[] = [];
let anyEnded = Promise.withResolvers<void>();

async function attempt({ id, endpoint: name, body }: Leased): Promise<void> {
  const endpoint = endpoints.get(name)!;
  endpoint.places--;
  const timestampSeconds = Math.floor(Date.now() / 1_000);
  const signature = signatureHeader({ secrets: [endpoint.secret], timestampSeconds, body });
  const headers = { 'content-type': 'application/json', [signatureHeaderName]: signature };
  const options = { dispatcher: endpoint.agent, headersTimeout: timeoutMs, bodyTimeout: timeoutMs };
  const status = await request(endpoint.url, { ...options, method: 'POST', headers, body }).then(
    async (response) => {
      await response.body.dump();
      return response.statusCode;
    },
    () => 0,
  );
  endpoint.places++;
  ended.push({ id, status });
  anyEnded.resolve();
}

for (let learnedAt = 0; ; ) {
  if (performance.now() > learnedAt + 1_000) {
    await learnEndpoints();
    learnedAt = performance.now();
  }
  if (ended.length === 0 && [...endpoints.values()].every(({ places }) => places === 0) && endpoints.size > 0)
    await anyEnded.promise;
  const free = [...endpoints].filter(([, { places }]) => places > 0);
  const taken = ended;
  ended = [];
  anyEnded = Promise.withResolvers();
  const { rows } = await client.query<Leased>({
    name: 'exchange',
    text: exchange,
    values: [
      taken.map(({ id }) => id),
      taken.map(({ status }) => status),
      free.map(([id]) => id),
      free.map(([, { places }]) => places),
    ],
  });
  for (const leased of rows) attempt(leased);
  if (rows.length === 0) await Promise.race([wait(idleMs), anyEnded.promise]);
}
