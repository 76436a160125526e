// The same work as most would build it: Fastify in front of PostgreSQL. Each command is one transaction of prepared
// statements: the idempotency key, the rows that change, their events and the deliveries of these in the outbox, and the
// stored response; a retrieve, a list and a replay are one query each. The limit is counted in this process and written each
// second, as the service does. Fastify runs in this process, with its schemas compiled and its log off. A process of its own:
// `node bench/postgres-server.ts PORT CONNECTION_STRING`.

import { randomBytes } from 'node:crypto';
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import pg from 'pg';
import {
  type ChargeRow,
  type Creation,
  digest,
  type Event,
  eventText,
  type IntentRow,
  newId,
  presentCharge,
  presentIntent,
} from './postgres-objects.ts';

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
    id text PRIMARY KEY, organization text NOT NULL, amount int NOT NULL, amount_received int NOT NULL DEFAULT 0,
    currency text NOT NULL, status text NOT NULL, latest_charge text, next_action jsonb,
    payment_method_types text[] NOT NULL, metadata jsonb NOT NULL, created timestamptz NOT NULL DEFAULT now());
  CREATE INDEX ON payment_intents (organization, id);
  CREATE INDEX ON payment_intents (organization, status, id);
  CREATE TABLE charges (
    id text PRIMARY KEY, organization text NOT NULL, payment_intent text NOT NULL, amount int NOT NULL, status text NOT NULL,
    created timestamptz NOT NULL DEFAULT now());
  CREATE INDEX ON charges (organization, id);
  CREATE INDEX ON charges (organization, payment_intent, id);
  CREATE TABLE endpoints (id text PRIMARY KEY, organization text NOT NULL, url text NOT NULL, secret text NOT NULL);
  CREATE INDEX ON endpoints (organization);
  CREATE TABLE events (
    id text PRIMARY KEY, organization text NOT NULL, type text NOT NULL, body text NOT NULL);
  CREATE INDEX ON events (organization, id);
  CREATE TABLE deliveries (
    id bigserial PRIMARY KEY, event text NOT NULL, endpoint text NOT NULL, attempts int NOT NULL DEFAULT 0,
    due timestamptz NOT NULL DEFAULT now(), delivered timestamptz, status int);
  CREATE INDEX waiting ON deliveries (endpoint, id) WHERE delivered IS NULL;
`);

const statements = {
  takeKey: `INSERT INTO idempotency_keys VALUES ($1, $2, $3, NULL, NULL, now()) ON CONFLICT DO NOTHING`,
  knownKey: 'SELECT fingerprint, status, response FROM idempotency_keys WHERE organization = $1 AND key = $2',
  keepResponse:
    'UPDATE idempotency_keys SET status = 200, response = $3 WHERE organization = $1 AND key = $2',
  createIntent: `INSERT INTO payment_intents
    (id, organization, amount, currency, status, payment_method_types, metadata)
    VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING *`,
  lockIntent: 'SELECT * FROM payment_intents WHERE organization = $1 AND id = $2 FOR UPDATE',
  awaitPayment: `UPDATE payment_intents SET status = 'requires_action', latest_charge = $2, next_action = $3
    WHERE id = $1 RETURNING *`,
  succeed: `UPDATE payment_intents SET status = 'succeeded', amount_received = amount, next_action = NULL
    WHERE id = $1 RETURNING *`,
  createCharge: `INSERT INTO charges VALUES ($1, $2, $3, $4, 'pending')`,
  lockCharge: 'SELECT * FROM charges WHERE organization = $1 AND id = $2 FOR UPDATE',
  settleCharge: `UPDATE charges SET status = 'succeeded' WHERE id = $1 RETURNING *`,
  createEvents: `WITH happened AS (
      INSERT INTO events SELECT id, $1, type, body FROM unnest($2::text[], $3::text[], $4::text[]) AS e (id, type, body)
      RETURNING id)
    INSERT INTO deliveries (event, endpoint)
    SELECT happened.id, endpoints.id FROM happened, endpoints WHERE endpoints.organization = $1 ORDER BY happened.id`,
  createEndpoint: 'INSERT INTO endpoints VALUES ($1, $2, $3, $4)',
  storeTokens: 'UPDATE limits SET tokens = $2, at = now() WHERE organization = $1',
  retrieve: 'SELECT * FROM payment_intents WHERE organization = $1 AND id = $2',
  list: 'SELECT * FROM payment_intents WHERE organization = $1 ORDER BY id DESC LIMIT $2',
} as const;

type Querying = Pick<pg.PoolClient, 'query'>;
const run = (on: Querying, name: keyof typeof statements, values: unknown[]) =>
  on.query({ name, text: statements[name], values });
const shared = pool as unknown as Querying;

/** Organizations by the digest of their key, and what is left of their limits. */
const organizations = new Map<string, string>();
const tokens = new Map<string, number>();
setInterval(() => {
  for (const [organization, left] of tokens) run(shared, 'storeTokens', [organization, left]);
}, 1_000);

async function organizationOf({ headers }: FastifyRequest): Promise<string | null> {
  const text = digest(headers.authorization?.replace(/^Bearer /, '') ?? '');
  const cached = organizations.get(text);
  if (cached !== undefined) return cached;
  const { rows } = await pool.query('SELECT organization FROM api_keys WHERE digest = $1', [text]);
  if (rows.length > 0) organizations.set(text, rows[0].organization);
  return rows[0]?.organization ?? null;
}

interface Decided {
  readonly answer: object;
  readonly events: readonly Event[];
}

/** What a command does within its transaction; null: it is refused. */
type Decide = (client: pg.PoolClient, organization: string) => Promise<Decided | null>;

/** Runs a command once for its idempotency key, and stores what it answers with all that it changes. */
async function command(
  organization: string,
  request: FastifyRequest,
  decide: Decide,
): Promise<[number, string]> {
  const left = (tokens.get(organization) ?? 1e12) - 1;
  if (left < 0) return [429, '{"error":{}}'];
  tokens.set(organization, left);
  const key = String(request.headers['idempotency-key']);
  const fingerprint = digest(JSON.stringify([request.url, request.body]));
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const taken = await run(client, 'takeKey', [organization, key, fingerprint]);
    if (taken.rowCount === 0) {
      const { rows } = await run(client, 'knownKey', [organization, key]);
      await client.query('ROLLBACK');
      const same = rows[0]?.fingerprint === fingerprint && rows[0].response !== null;
      return same ? [rows[0].status, rows[0].response] : [409, '{"error":{}}'];
    }
    const decided = await decide(client, organization);
    if (decided === null) {
      await client.query('ROLLBACK');
      return [400, '{"error":{}}'];
    }
    const events = decided.events.map((event) => ({ ...event, id: newId('evt') }));
    const cause = { id: newId('req'), idempotency_key: key };
    await run(client, 'createEvents', [
      organization,
      events.map(({ id }) => id),
      events.map(({ type }) => type),
      events.map((event) => eventText(event, organization, cause)),
    ]);
    const text = JSON.stringify(decided.answer);
    await run(client, 'keepResponse', [organization, key, text]);
    await client.query('COMMIT');
    return [200, text];
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}

const create =
  (body: Creation): Decide =>
  async (client, organization) => {
    const { amount, currency, payment_method_types: methods, metadata } = body;
    const values = [
      newId('pi'),
      organization,
      amount,
      currency,
      'requires_payment_method',
      methods,
      metadata,
    ];
    const { rows } = await run(client, 'createIntent', values);
    const answer = presentIntent(rows[0] as IntentRow);
    return { answer, events: [{ type: 'payment_intent.created', object: answer }] };
  };

const confirm =
  (id: string, returnUrl: string): Decide =>
  async (client, organization) => {
    const intent = (await run(client, 'lockIntent', [organization, id])).rows[0] as IntentRow | undefined;
    if (intent?.status !== 'requires_payment_method') return null;
    const charge = newId('ch');
    await run(client, 'createCharge', [charge, organization, id, intent.amount]);
    const action = {
      type: 'redirect_to_url',
      redirect_to_url: { url: `http://127.0.0.1:${port}/pay/${charge}`, return_url: returnUrl },
    };
    const { rows } = await run(client, 'awaitPayment', [id, charge, action]);
    const answer = presentIntent(rows[0] as IntentRow);
    return { answer, events: [{ type: 'payment_intent.requires_action', object: answer }] };
  };

const complete =
  (id: string): Decide =>
  async (client, organization) => {
    const pending = (await run(client, 'lockCharge', [organization, id])).rows[0] as ChargeRow | undefined;
    if (pending?.status !== 'pending') return null;
    const locked = await run(client, 'lockIntent', [organization, pending.payment_intent]);
    const settled = await run(client, 'settleCharge', [id]);
    const { rows } = await run(client, 'succeed', [pending.payment_intent]);
    const charge = presentCharge(settled.rows[0] as ChargeRow);
    const processing = { ...presentIntent(locked.rows[0] as IntentRow), status: 'processing' };
    return {
      answer: charge,
      events: [
        { type: 'payment_intent.processing', object: { ...processing, next_action: null } },
        { type: 'charge.succeeded', object: charge },
        { type: 'payment_intent.succeeded', object: presentIntent(rows[0] as IntentRow) },
      ],
    };
  };

const app = fastify({ logger: false });

/** A route for merchants: the answer's status and text, or an object. */
type Answer = [status: number, text: string] | object;
const merchants =
  (answerTo: (organization: string, request: FastifyRequest) => Promise<Answer>) =>
  async (request: FastifyRequest, reply: FastifyReply) => {
    const organization = await organizationOf(request);
    if (organization === null) return reply.code(401).send({ error: {} });
    const answer = await answerTo(organization, request);
    if (!Array.isArray(answer)) return answer;
    return reply.code(answer[0]).type('application/json').send(answer[1]);
  };
const bodyOf = (properties: object, required: readonly string[] = []) => ({
  schema: { body: { type: 'object', additionalProperties: false, required, properties } },
});
const creation = {
  amount: { type: 'integer', minimum: 100, maximum: 99_999_999 },
  currency: { const: 'mad' },
  payment_method_types: { type: 'array', items: { enum: ['card', 'cash'] }, default: ['card'] },
  metadata: { type: 'object', additionalProperties: { type: 'string' }, default: {} },
};
const confirmation = { payment_method_type: { enum: ['card', 'cash'] }, return_url: { type: 'string' } };
const idOf = (request: FastifyRequest) => (request.params as { id: string }).id;

app.get('/key', async () => {
  const key = `svc_sk_test_${randomBytes(24).toString('hex')}`;
  const organization = newId('org');
  await pool.query('INSERT INTO limits VALUES ($1, 1e12, now())', [organization]);
  await pool.query('INSERT INTO api_keys VALUES ($1, $2)', [digest(key), organization]);
  return key;
});
app.get('/waiting', async () => {
  const { rows } = await pool.query('SELECT count(*)::int AS count FROM deliveries WHERE delivered IS NULL');
  return rows[0].count;
});
app.get('/bytes', async () => {
  const { rows } = await pool.query('SELECT pg_database_size(current_database())::float8 AS bytes');
  return rows[0].bytes;
});
app.post(
  '/v1/webhook_endpoints',
  merchants(async (organization, { body }) => {
    const { url } = body as { url: string };
    const id = newId('we');
    await run(shared, 'createEndpoint', [
      id,
      organization,
      url,
      `svc_whsec_${randomBytes(24).toString('hex')}`,
    ]);
    return { id, url };
  }),
);
app.post(
  '/v1/payment_intents',
  bodyOf(creation, ['amount', 'currency']),
  merchants((organization, request) => command(organization, request, create(request.body as Creation))),
);
app.post(
  '/v1/payment_intents/:id/confirm',
  bodyOf(confirmation, ['return_url']),
  merchants((organization, request) => {
    const { return_url: returnUrl } = request.body as { return_url: string };
    return command(organization, request, confirm(idOf(request), returnUrl));
  }),
);
app.post(
  '/v1/test_helpers/charges/:id/complete',
  bodyOf({}),
  merchants((organization, request) => command(organization, request, complete(idOf(request)))),
);
app.get(
  '/v1/payment_intents/:id',
  merchants(async (organization, request) => {
    const { rows } = await run(shared, 'retrieve', [organization, idOf(request)]);
    return rows.length === 0 ? [404, '{"error":{}}'] : presentIntent(rows[0]);
  }),
);
app.get(
  '/v1/payment_intents',
  merchants(async (organization, { query }) => {
    const limit = Number((query as { limit?: string }).limit ?? 10);
    const { rows } = await run(shared, 'list', [organization, limit + 1]);
    const data = rows.slice(0, limit).map(presentIntent);
    return { object: 'list', url: '/v1/payment_intents', has_more: rows.length > limit, data };
  }),
);
await app.listen({ host: '127.0.0.1', port: Number(port) });
