// The same work as most would build it: Fastify in front of PostgreSQL. A create is one transaction of prepared
// statements: the idempotency key, the payment intent, its event in the outbox, the count of the rate limit, and the
// stored response; a retrieve, a list and a replay are one query each. The row of the limit is locked until its transaction is on
// disk, so creates of one organization wait for each other; under `/limits_in_memory` they are counted in this process and
// written each second instead, as the service does. Fastify runs in this process, with its schemas
// compiled and its log off. A process of its own: `node bench/postgres-server.ts PORT CONNECTION_STRING`.

import { createHash, randomBytes } from 'node:crypto';
import fastify from 'fastify';
import pg from 'pg';

const [port, connectionString] = process.argv.slice(2) as [string, string];
const connectionsMax = 20;
const pool = new pg.Pool({ connectionString, max: connectionsMax });

await pool.query(`
  CREATE TABLE api_keys (digest text PRIMARY KEY, organization text NOT NULL);
  CREATE TABLE limits (organization text PRIMARY KEY, tokens double precision NOT NULL, at timestamptz NOT NULL);
  CREATE TABLE idempotency_keys (
    organization text, key text, fingerprint text NOT NULL, status int, response text, created timestamptz NOT NULL,
    PRIMARY KEY (organization, key));
  CREATE TABLE payment_intents (
    id text PRIMARY KEY, organization text NOT NULL, amount int NOT NULL, currency text NOT NULL, status text NOT NULL,
    payment_method_types text[] NOT NULL, metadata jsonb NOT NULL, created timestamptz NOT NULL);
  CREATE INDEX ON payment_intents (organization, id);
  CREATE INDEX ON payment_intents (organization, status, id);
  CREATE TABLE events (
    id text PRIMARY KEY, organization text NOT NULL, type text NOT NULL, body text NOT NULL, delivered boolean NOT NULL);
  CREATE INDEX ON events (organization, id);
`);

const key = `svc_sk_test_${randomBytes(24).toString('hex')}`;
const digest = (text: string) => createHash('sha256').update(text).digest('hex');
await pool.query('INSERT INTO api_keys VALUES ($1, $2)', [digest(key), 'org_1']);
await pool.query("INSERT INTO limits VALUES ('org_1', 1e12, now())");

const statements = {
  takeKey: `INSERT INTO idempotency_keys VALUES ($1, $2, $3, NULL, NULL, now()) ON CONFLICT DO NOTHING`,
  knownKey: 'SELECT fingerprint, status, response FROM idempotency_keys WHERE organization = $1 AND key = $2',
  keepResponse:
    'UPDATE idempotency_keys SET status = 200, response = $3 WHERE organization = $1 AND key = $2',
  createIntent: 'INSERT INTO payment_intents VALUES ($1, $2, $3, $4, $5, $6, $7, now())',
  createEvent: 'INSERT INTO events VALUES ($1, $2, $3, $4, false)',
  // The last of the transaction, so that the row of the organization is locked as shortly as can be.
  spend: `UPDATE limits SET tokens = least(1e12, tokens + extract(epoch FROM now() - at) * 1e6) - 1, at = now()
    WHERE organization = $1 AND tokens >= 1`,
  storeTokens: 'UPDATE limits SET tokens = $2, at = now() WHERE organization = $1',
  retrieve: 'SELECT * FROM payment_intents WHERE organization = $1 AND id = $2',
  list: 'SELECT * FROM payment_intents WHERE organization = $1 ORDER BY id DESC LIMIT $2',
} as const;

type Querying = Pick<pg.PoolClient, 'query'>;
const run = (on: Querying, name: keyof typeof statements, values: unknown[]) =>
  on.query({ name, text: statements[name], values });

const organizations = new Map<string, string>();

async function organizationOf(authorization: string | undefined): Promise<string | null> {
  const text = digest(authorization?.replace(/^Bearer /, '') ?? '');
  const cached = organizations.get(text);
  if (cached !== undefined) return cached;
  const { rows } = await pool.query('SELECT organization FROM api_keys WHERE digest = $1', [text]);
  if (rows.length > 0) organizations.set(text, rows[0].organization);
  return rows[0]?.organization ?? null;
}

interface Creation {
  readonly amount: number;
  readonly currency: string;
  readonly payment_method_types: string[];
  readonly metadata: Record<string, string>;
}

/** What is left of the limit, where it is counted in memory. */
let tokens = 1e12;
setInterval(() => run(pool as unknown as Querying, 'storeTokens', ['org_1', tokens]), 1_000);

let count = 0;
const newId = (prefix: string) =>
  `${prefix}_${Date.now().toString(36)}${(count++).toString(36).padStart(8, '0')}${randomBytes(8).toString('hex')}`;

function present(
  id: string,
  created: number,
  { amount, currency, payment_method_types, metadata }: Creation,
) {
  return {
    id,
    object: 'payment_intent',
    amount,
    amount_received: 0,
    currency,
    status: 'requires_payment_method',
    latest_charge: null,
    metadata,
    livemode: false,
    payment_method_types,
    last_payment_error: null,
    created,
    customer: null,
    description: null,
    next_action: null,
    canceled_at: null,
    cancellation_reason: null,
    checkout_session: null,
  };
}

async function create(
  organization: string,
  idempotencyKey: string,
  body: Creation,
  limits: 'in_memory' | 'in_transaction',
): Promise<[number, string]> {
  const isCounted = limits === 'in_memory';
  if (isCounted && --tokens < 0) return [429, '{"error":{}}'];
  const fingerprint = digest(JSON.stringify(body));
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const taken = await run(client, 'takeKey', [organization, idempotencyKey, fingerprint]);
    if (taken.rowCount === 0) {
      const { rows } = await run(client, 'knownKey', [organization, idempotencyKey]);
      await client.query('ROLLBACK');
      const same = rows[0]?.fingerprint === fingerprint && rows[0].response !== null;
      return same ? [rows[0].status, rows[0].response] : [409, '{"error":{}}'];
    }
    const id = newId('pi');
    const created = Math.floor(Date.now() / 1000);
    const intent = JSON.stringify(present(id, created, body));
    const { amount, currency, payment_method_types: methods, metadata } = body;
    await run(client, 'createIntent', [
      id,
      organization,
      amount,
      currency,
      'requires_payment_method',
      methods,
      metadata,
    ]);
    await run(client, 'createEvent', [newId('evt'), organization, 'payment_intent.created', intent]);
    await run(client, 'keepResponse', [organization, idempotencyKey, intent]);
    const spent = isCounted ? null : await run(client, 'spend', [organization]);
    if (spent?.rowCount === 0) {
      await client.query('ROLLBACK');
      return [429, '{"error":{}}'];
    }
    await client.query('COMMIT');
    return [200, intent];
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}

interface Row extends Creation {
  readonly id: string;
  readonly created: Date;
}
const presentRow = (row: Row) => present(row.id, Math.floor(row.created.getTime() / 1000), row);

const app = fastify({ logger: false });
const bodySchema = {
  type: 'object',
  required: ['amount', 'currency'],
  additionalProperties: false,
  properties: {
    amount: { type: 'integer', minimum: 100, maximum: 99_999_999 },
    currency: { const: 'mad' },
    payment_method_types: { type: 'array', items: { enum: ['card', 'cash'] }, default: ['card'] },
    metadata: { type: 'object', additionalProperties: { type: 'string' }, default: {} },
  },
};
app.get('/key', async () => key);
for (const [path, limits] of [
  ['/v1/payment_intents', 'in_transaction'],
  ['/limits_in_memory/v1/payment_intents', 'in_memory'],
] as const) {
  app.post<{ Body: Creation }>(path, { schema: { body: bodySchema } }, async (request, reply) => {
    const organization = await organizationOf(request.headers.authorization);
    if (organization === null) return reply.code(401).send({ error: {} });
    const idempotencyKey = String(request.headers['idempotency-key']);
    const [status, text] = await create(organization, idempotencyKey, request.body, limits);
    return reply.code(status).type('application/json').send(text);
  });
}
app.get<{ Params: { id: string } }>('/v1/payment_intents/:id', async (request, reply) => {
  const organization = await organizationOf(request.headers.authorization);
  if (organization === null) return reply.code(401).send({ error: {} });
  const { rows } = await run(pool as unknown as Querying, 'retrieve', [organization, request.params.id]);
  return rows.length === 0 ? reply.code(404).send({ error: {} }) : presentRow(rows[0]);
});
app.get<{ Querystring: { limit?: string } }>('/v1/payment_intents', async (request, reply) => {
  const organization = await organizationOf(request.headers.authorization);
  if (organization === null) return reply.code(401).send({ error: {} });
  const limit = Number(request.query.limit ?? 10);
  const { rows } = await run(pool as unknown as Querying, 'list', [organization, limit + 1]);
  return {
    object: 'list',
    url: '/v1/payment_intents',
    has_more: rows.length > limit,
    data: rows.slice(0, limit).map(presentRow),
  };
});
await app.listen({ host: '127.0.0.1', port: Number(port) });
