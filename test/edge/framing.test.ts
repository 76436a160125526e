// The first gate, over a raw socket: requests that are ambiguous, too large, too slow or no HTTP, and what a connection can be
// used for after them. A request must arrive within a second here.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { bodyBytesMax, formBytesMax, headerBytesMax } from '../../src/contract/limits.ts';
import { assertDescribed } from '../answers.ts';
import { newOrganization, type Service, startService } from '../service.ts';
import { chunked, type RawAnswer, RawConnection, requestText, sendRaw } from './raw.ts';

let service: Service;
let key: string;

before(async () => {
  service = await startService({
    env: { PAYMENTS_REQUEST_TIMEOUT_MS: '1000', PAYMENTS_CONNECTIONS_PER_ADDRESS_MAX: '5000' },
  });
  ({ key } = await newOrganization(service));
});
after(() => service.stop());

type Header = readonly [name: string, value: string];
const authorized = (...headers: Header[]): Header[] => [['Authorization', `Bearer ${key}`], ...headers];
const get = (path: string, ...headers: Header[]) => requestText(`GET ${path}`, authorized(...headers));
const post = (path: string, body: string, ...headers: Header[]) =>
  requestText(`POST ${path}`, authorized(['Content-Length', String(body.length)], ...headers), body);
const chunkedPost = (body: string) =>
  requestText('POST /v1/customers', authorized(['Transfer-Encoding', 'chunked']), body);

async function assertAlive(): Promise<void> {
  assert.equal((await service.call('/v1/account', { key })).status, 200);
}

/** Sends a request that is refused by the service itself: with an id, an error object, and the end of the connection. */
async function assertRefused(text: string, status: number, message: RegExp): Promise<void> {
  const answer = await sendRaw(service.url, text);
  assert.ok(answer);
  const { error } = JSON.parse(answer.text);
  assert.deepEqual([answer.status, error.code], [status, 'invalid_request']);
  assert.match(error.message, message);
  assert.match(answer.headers.get('request-id') ?? '', /^req_\w{25}$/);
  assert.equal(error.request_id, answer.headers.get('request-id'));
  assert.equal(answer.headers.get('connection'), 'close');
}

for (const line of ['GET /logos/x', 'POST /dashboard/sign-in']) {
  test(`${line} with a Content-Type that has a byte above 127 within it is answered`, async () => {
    const headers: Header[] = [
      ['Content-Type', 'multipart/form-data; a\xe9b'],
      ['Content-Length', '0'],
    ];
    const answer = await sendRaw(service.url, requestText(line, headers));
    assert.equal(answer?.status, line.startsWith('GET') ? 404 : 403);
    await assertAlive();
  });
}

const repeated: readonly (readonly [name: string, first: string, second: string])[] = [
  ['Content-Length', '2', '2'],
  ['Content-Length', '2', '3'],
  ['Host', 'test', 'other'],
  ['Authorization', 'Bearer x', 'Bearer x'],
  ['Idempotency-Key', 'a', 'a'],
  ['Idempotency-Key', 'a', 'b'],
  ['Transfer-Encoding', 'chunked', 'chunked'],
  ['X-Service-Signature', 't=1,v1=a', 't=1,v1=b'],
];
for (const [name, first, second] of repeated) {
  test(`${name} twice (${first}, ${second}) is refused and ends the connection`, async () => {
    const headers: Header[] =
      name === 'Host'
        ? [['Host', second]]
        : [
            [name, first],
            [name.toLowerCase(), second],
          ];
    const body = name === 'Transfer-Encoding' ? chunked('{}') : '{}';
    await assertRefused(requestText('POST /v1/customers', headers, body), 400, /more than once/);
  });
}

test('a repeated header is refused outside of the API, too', async () => {
  await assertRefused(requestText('GET /healthz', [['Host', 'other']]), 400, /more than once/);
});

const unsupported: readonly (readonly [what: string, name: string, value: string])[] = [
  ['another coding', 'Transfer-Encoding', 'gzip'],
  ['a coding on top', 'Transfer-Encoding', 'gzip, chunked'],
  ['no coding', 'Transfer-Encoding', 'identity'],
  ['an empty coding', 'Transfer-Encoding', ''],
  ['a coding that is none', 'Transfer-Encoding', 'xchunked'],
  ['an empty length', 'Content-Length', ''],
  ['a trailer that is announced', 'Trailer', 'X-Sum'],
];
for (const [what, name, value] of unsupported) {
  test(`${name}: ${value} (${what}) is refused and ends the connection`, async () => {
    const text = requestText('POST /v1/customers', authorized([name, value]), chunked('{}'));
    await assertRefused(text, 400, /not supported/);
  });
}

test('headers above 16 KiB are refused, also those of a request without a key; just below they are taken', async () => {
  await assertRefused(get('/v1/account', ['X-Large', 'x'.repeat(headerBytesMax)]), 431, /16384/);
  await assertRefused(
    get('/v1/account', ...Array<Header>(70).fill(['X-Many', 'x'.repeat(300)])),
    431,
    /16384/,
  );
  await assertRefused(requestText(`GET /${'x'.repeat(headerBytesMax)}`, []), 431, /16384/);
  await assertRefused(get(`/v1/account?${'x'.repeat(headerBytesMax)}`), 431, /16384/);
  await assertRefused(requestText(`${'X'.repeat(headerBytesMax)} /v1/account`, []), 431, /16384/);
  // The request line and the headers, without what lies between them.
  const parts = ['GET', '/v1/account', 'Host', 'test', ...authorized(['X-Large', '']).flat()];
  const most = headerBytesMax - parts.join('').length;
  const answer = await sendRaw(service.url, get('/v1/account', ['X-Large', 'x'.repeat(most)]));
  assert.equal(answer?.status, 200);
  await assertRefused(get('/v1/account', ['X-Large', 'x'.repeat(most + 1)]), 431, /16384/);
});

test('a body of 256 KiB is refused by its length, before it is sent', async () => {
  const headers = authorized(['Content-Length', String(bodyBytesMax + 1)]);
  await assertRefused(requestText('POST /v1/customers', headers), 413, /262143/);
  await assertRefused(
    requestText('POST /v1/customers', authorized(['Content-Length', '999999999999'])),
    413,
    /262143/,
  );
});

test('a chunked body of 256 KiB is refused once it is', async () => {
  const head = requestText('POST /v1/customers', authorized(['Transfer-Encoding', 'chunked']));
  await assertRefused(head + chunked('x'.repeat(bodyBytesMax + 1)), 413, /262143/);
  await assertRefused(head + chunked(...Array(65).fill('x'.repeat(4096))), 413, /262143/);
});

test('a body that comes a byte in a chunk is refused long before its end', async () => {
  const head = requestText('POST /v1/customers', authorized(['Transfer-Encoding', 'chunked']));
  await assertRefused(head + '1\r\n \r\n'.repeat(1_000), 400, /small pieces/);
  await assertRefused(head + chunked(...' '.repeat(1_000)), 400, /small pieces/);
});

/** Sends the creation of a customer with this end of its body, and returns whether the customer exists afterwards. */
async function creates(end: string): Promise<boolean> {
  const email = `${randomUUID()}@example.com`;
  const [first, last] = [`{"email":"${email}",`, '"name":"Amina"}'];
  const pieces = `${chunked(first).slice(0, -5)}${last.length.toString(16)}${end.replace('DATA', last)}`;
  const connection = new RawConnection(service.url);
  await connection.send(chunkedPost(pieces));
  await connection.closed();
  assert.doesNotMatch(connection.bytes().toString(), /too long to arrive/);
  const { json } = await service.call(`/v1/customers?email=${email}`, { key });
  return json.data.length === 1;
}

const chunkEnds: readonly (readonly [what: string, end: string, runs: boolean])[] = [
  ['as it should', '\r\nDATA\r\n0\r\n\r\n', true],
  ['with a trailer', '\r\nDATA\r\n0\r\nX-Sum: 1\r\n\r\n', false],
  ['with a trailer that reads like a request', '\r\nDATA\r\n0\r\nX-GET / HTTP/1.1\r\nHost: x\r\n\r\n', false],
  ['with an extension', ';a=b\r\nDATA\r\n0\r\n\r\n', false],
  ['with extensions', ';a=b\r\nDATA\r\n0;a=b\r\n\r\n', false],
  ['with an extension in words', ';name="value"\r\nDATA\r\n0\r\n\r\n', false],
];
for (const [what, end, runs] of chunkEnds) {
  test(`a body in chunks that ends ${what} is ${runs ? 'run' : 'refused at once and has not run'}`, async () => {
    assert.equal(await creates(end), runs);
  });
}

test('a body in chunks is taken in any segments', async () => {
  const body = chunked('{"name":', '"Amina"}');
  const head = chunkedPost('');
  await Promise.all(
    Array.from(body, async (_, at) => {
      const answer = await sendRaw(service.url, head + body.slice(0, at), body.slice(at));
      assert.equal(answer && JSON.parse(answer.text).name, 'Amina', `cut at ${at}`);
    }),
  );
});

test('a form of more than 8 KiB is refused, by its length before it is sent, and in chunks', async () => {
  const form = (...headers: Header[]) => requestText('POST /pay/ch_x', headers);
  await assertRefused(form(['Content-Length', String(formBytesMax + 1)]), 413, /8192/);
  const inChunks = form(['Transfer-Encoding', 'chunked']);
  await assertRefused(inChunks + chunked('x'.repeat(formBytesMax + 1)), 413, /8192/);
  await assertRefused(inChunks + '1\r\nx\r\n'.repeat(1_000), 400, /small pieces/);
});

test('a form is taken in one piece and in chunks', async () => {
  const body = 'x'.repeat(formBytesMax);
  for (const text of [
    requestText('POST /pay/ch_x', [['Content-Length', String(body.length)]], body),
    requestText('POST /pay/ch_x', [['Transfer-Encoding', 'chunked']], chunked(...body.match(/.{1,100}/g)!)),
  ]) {
    // There is no such payment.
    assert.equal((await sendRaw(service.url, text))?.status, 404);
  }
});

test('a visit that goes no further is answered before its form is read', async () => {
  const form = (path: string) => requestText(`POST ${path}`, [['Content-Length', '100']]);
  assert.equal((await sendRaw(service.url, form('/pay/nothing')))?.status, 404);
  assert.equal((await sendRaw(service.url, form('/voucher/ch_x')))?.status, 405);
  const limited = await startService({ env: { PAYMENTS_PAGES_VISITS_PER_MINUTE: '1' } });
  const visit = requestText('GET /pay/ch_x', []);
  assert.equal((await sendRaw(limited.url, visit))?.status, 404);
  assert.equal((await sendRaw(limited.url, form('/pay/ch_x')))?.status, 429);
  await limited.stop();
});

test('a body under 256 KiB is taken, in one piece and in chunks', async () => {
  const body = `{${' '.repeat(bodyBytesMax - 2)}}`;
  for (const text of [
    post('/v1/customers', body),
    chunkedPost(chunked(body)),
    chunkedPost(chunked(...(body.match(/.{1,5000}/g) ?? []))),
  ]) {
    const answer = await sendRaw(service.url, text);
    assert.equal(answer?.status, 200);
  }
});

// Requests that uWebSockets.js answers itself, without an id.

const native: readonly (readonly [what: string, status: number, text: string])[] = [
  ['no Host', 400, 'GET /v1/account HTTP/1.1\r\nAccept: */*\r\n\r\n'],
  ['HTTP/1.0', 505, 'GET /v1/account HTTP/1.0\r\nHost: x\r\n\r\n'],
  ['HTTP/2 without agreement', 505, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['TLS', 505, '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello hello\r\n\r\n'],
  ['two spaces', 505, 'GET  /v1/account HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['a whole address', 505, 'GET http://x/v1/account HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['an asterisk', 505, 'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['no slash', 505, 'GET __proto__ HTTP/1.1\r\nHost: x\r\n\r\n'],
  [
    'both Content-Length and Transfer-Encoding',
    400,
    requestText(
      'POST /v1/customers',
      [
        ['Content-Length', '2'],
        ['Transfer-Encoding', 'chunked'],
      ],
      chunked('{}'),
    ),
  ],
  ['a negative length', 400, requestText('POST /v1/customers', [['Content-Length', '-2']], '{}')],
  ['a length with a plus', 400, requestText('POST /v1/customers', [['Content-Length', '+2']], '{}')],
  ['a hexadecimal length', 400, requestText('POST /v1/customers', [['Content-Length', '0x2']], '{}')],
  ['a list of lengths', 400, requestText('POST /v1/customers', [['Content-Length', '2, 2']], '{}')],
  [
    'a length of 23 digits',
    400,
    requestText('POST /v1/customers', [['Content-Length', '9'.repeat(23)]], '{}'),
  ],
  [
    'a chunk without a size',
    400,
    requestText('POST /v1/customers', [['Transfer-Encoding', 'chunked']], 'zz\r\n{}\r\n0\r\n\r\n'),
  ],
  ['more than 64 KiB of headers', 431, requestText('GET /v1/account', [['X', 'x'.repeat(66_000)]])],
  ['more than 100 headers', 431, requestText('GET /v1/account', Array(120).fill(['X', 'x']))],
];
for (const [what, status, text] of native) {
  test(`${what} is answered ${status} by the server itself, and ends the connection`, async () => {
    const answer = await sendRaw(service.url, text);
    assert.deepEqual([answer?.status, answer?.headers.get('connection')], [status, 'close']);
  });
}

test('header lines that are none get no answer and harm nobody', async () => {
  const lines = ['Foo', 'Foo : bar', 'Foo: bar\r\n  baz', 'Foo: b\x01r', 'Foo: b\x00r', 'Foo: a\nBar: b'];
  const connections = lines.map((line) => {
    const connection = new RawConnection(service.url);
    void connection.send(`GET /v1/account HTTP/1.1\r\nHost: x\r\n${line}\r\n\r\n`);
    return connection;
  });
  await assertAlive();
  for (const connection of connections) connection.end();
});

test('a header line without a name hides those behind it', async () => {
  const lines = ['Host: x', ': x', `Authorization: Bearer ${key}`];
  const answer = await sendRaw(service.url, `GET /v1/account HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  assert.equal(JSON.parse(answer!.text).error.code, 'api_key_missing');
});

// Methods and bodies.

for (const method of ['OPTIONS', 'PUT', 'PATCH', 'TRACE', 'DELETE', 'BREW', 'get']) {
  test(`${method} on an address of the API is an address that does not exist`, async () => {
    const answer = await sendRaw(service.url, requestText(`${method} /v1/account`, authorized()));
    assert.ok(answer);
    assert.deepEqual([answer.status, JSON.parse(answer.text).error.code], [404, 'unrecognized_request_url']);
    assertDescribed(method, '/v1/account', answer);
  });
}

test('a HEAD has no body', async () => {
  const heads: readonly (readonly [path: string, status: number])[] = [
    ['/v1/account', 404],
    ['/healthz', 200],
    ['/openapi.json', 200],
    ['/checkout/cs_nothing', 404],
  ];
  for (const [path, status] of heads) {
    // Uncompressed, so that the body has the length that the header tells.
    const headers = { Authorization: `Bearer ${key}`, 'Accept-Encoding': 'identity' };
    const ask = (method: string) => fetch(service.url + path, { method, headers });
    const response = await ask('HEAD');
    assert.equal(response.status, status, path);
    assert.equal(await response.text(), '');
    const length = Number(response.headers.get('content-length'));
    assert.ok(length > 0);
    if (!path.startsWith('/v1')) assert.equal(length, (await (await ask('GET')).arrayBuffer()).byteLength);
    assert.match(response.headers.get('request-id') ?? '', /^req_/);
  }
});

const bodies: readonly (readonly [what: string, text: () => string, status: number])[] = [
  ['a length of zero', () => requestText('POST /v1/customers', authorized(['Content-Length', '0'])), 200],
  ['a length of 0000', () => requestText('POST /v1/customers', authorized(['Content-Length', '0000'])), 200],
  [
    'a length of 02',
    () => requestText('POST /v1/customers', authorized(['Content-Length', '02']), '{}'),
    200,
  ],
  ['no length', () => requestText('POST /v1/customers', authorized()), 200],
  ['no chunks', () => chunkedPost(chunked()), 200],
  ['a chunk', () => chunkedPost(chunked('{}')), 200],
  ['chunks of a byte', () => chunkedPost(chunked(...'{"name":"Amina"}')), 200],
  ['capital Chunked', () => chunkedPost(chunked('{}')).replace('chunked', 'Chunked'), 200],
  [
    'an empty body of another type',
    () => requestText('POST /v1/customers', authorized(['Content-Type', 'text/plain'])),
    200,
  ],
  ['JSON of another type', () => post('/v1/customers', '{}', ['Content-Type', 'text/plain']), 400],
  [
    'JSON as a form',
    () => post('/v1/customers', '{}', ['Content-Type', 'application/x-www-form-urlencoded']),
    400,
  ],
  ['JSON of a longer type', () => post('/v1/customers', '{}', ['Content-Type', 'application/json-seq']), 400],
  [
    'JSON with a charset',
    () => post('/v1/customers', '{}', ['Content-Type', 'Application/JSON; charset=utf-8']),
    200,
  ],
  [
    'JSON with a charset and spaces',
    () => post('/v1/customers', '{}', ['Content-Type', 'application/json ; charset=utf-8']),
    200,
  ],
  ['JSON of no type', () => post('/v1/customers', '{}'), 200],
  [
    'a body with a GET',
    () => requestText('GET /v1/account', authorized(['Content-Length', '5']), 'hello'),
    200,
  ],
  [
    'a body with a DELETE',
    () => requestText('DELETE /v1/customers/cus_1', authorized(['Content-Length', '7']), '{"a":1}'),
    400,
  ],
];
for (const [what, text, status] of bodies) {
  test(`${what}: ${status}`, async () => {
    const answer = await sendRaw(service.url, text());
    assert.equal(answer?.status, status, answer?.text);
  });
}

test('100-continue is answered when it is asked for', async () => {
  const connection = new RawConnection(service.url);
  const head = requestText(
    'POST /v1/customers',
    authorized(['Content-Length', '2'], ['Expect', '100-continue']),
  );
  await connection.send(head);
  await once(connection.socket, 'data');
  await connection.send('{}');
  const answers = await connection.answers(2);
  connection.end();
  assert.deepEqual([answers[0]?.status, answers.at(-1)?.status], [100, 200]);
});

// Connections.

test('a connection takes one request after another, refused ones with unread bodies among them', async () => {
  const connection = new RawConnection(service.url);
  const texts = [
    get('/v1/account'),
    post('/v1/nothing', 'x'.repeat(10_000)),
    requestText('POST /v1/customers', [['Content-Length', '20000']], 'x'.repeat(20_000)),
    post('/v1/customers', '{'),
    post('/v1/customers', '{"name":"Amina"}'),
    get('/healthz'),
    get('/v1/account'),
  ];
  const answers = await connection.askInTurn(texts);
  connection.end();
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 404, 401, 400, 200, 200, 200],
  );
});

test('a request may come in any pieces', async () => {
  const text = post('/v1/customers', '{"name":"Amina"}');
  const pieces = text.match(/[\s\S]{1,29}/g)!;
  const answer = await sendRaw(service.url, ...pieces);
  assert.equal(JSON.parse(answer!.text).name, 'Amina');
});

test('pipelined requests are answered in order, or the connection ends: answers never mix', async () => {
  const immediate = new RawConnection(service.url);
  await immediate.send(get('/healthz') + get('/v1/nothing') + get('/readyz'));
  const answers = await immediate.answers(3);
  immediate.end();
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 404, 200].slice(0, answers.length),
  );

  const waiting = new RawConnection(service.url);
  const customer = (name: string) => post('/v1/customers', JSON.stringify({ name }));
  await waiting.send(customer('first') + customer('second'));
  const some = await waiting.answers(2);
  waiting.end();
  assert.deepEqual(
    some.map(({ text }) => JSON.parse(text).name),
    ['first', 'second'].slice(0, some.length),
  );
});

test('a client that goes away in the middle of anything leaves nothing behind', async () => {
  const texts = [
    'GET /v1/acc',
    requestText('POST /v1/customers', authorized(['Content-Length', '100']), '{"na'),
    post('/v1/customers', '{}'),
    get('/v1/account'),
    chunkedPost('5\r\n{"na'),
  ];
  await Promise.all(
    texts.flatMap((text) =>
      Array.from({ length: 20 }, async () => {
        const connection = new RawConnection(service.url);
        await once(connection.socket, 'connect');
        await connection.send(text);
        connection.end();
      }),
    ),
  );
  await assertAlive();
});

// Slow senders.

function assertTooSlow(answer: RawAnswer | undefined): void {
  assert.ok(answer);
  assert.equal(answer.status, 400);
  assert.match(JSON.parse(answer.text).error.message, /too long to arrive/);
  assert.match(answer.headers.get('request-id') ?? '', /^req_/);
}

describe('slow senders', { concurrency: true }, () => {
  test('a body that does not arrive is answered after the time for a request, and cut', async () => {
    const head = requestText('POST /v1/customers', authorized(['Content-Length', '100']));
    const halves = [head, `${head}{"name":`, chunkedPost('5\r\n{"na')];
    const started = performance.now();
    for (const answer of await Promise.all(halves.map((text) => sendRaw(service.url, text))))
      assertTooSlow(answer);
    const elapsedMs = performance.now() - started;
    // It was not much later, because after 10 seconds there would be no answer.
    assert.ok(elapsedMs > 900, `${elapsedMs} ms`);
  });

  test('a body that arrives a byte at a time is cut at the same time', async () => {
    const connection = new RawConnection(service.url);
    await connection.send(requestText('POST /v1/customers', authorized(['Content-Length', '1000'])));
    const drip = setInterval(() => connection.socket.write(' '), 50);
    const [answer] = await connection.answers();
    clearInterval(drip);
    connection.end();
    assertTooSlow(answer);
  });

  test('hundreds of stuck senders do not hold up anybody else', async () => {
    const text = requestText(
      'POST /v1/customers',
      authorized(['Content-Length', '100000']),
      'x'.repeat(50_000),
    );
    const stuck = Array.from({ length: 300 }, () => {
      const connection = new RawConnection(service.url);
      void connection.send(text);
      return connection;
    });
    await Promise.all(stuck.map(({ socket }) => once(socket, 'connect')));
    const started = performance.now();
    for (let i = 0; i < 50; i++) await assertAlive();
    assert.ok(performance.now() - started < 5_000);
    let refused = 0;
    for (const connection of stuck) {
      const [answer] = await connection.answers();
      // What has come of so many is more than the share of an organization.
      if (answer?.status === 503) refused++;
      else assertTooSlow(answer);
      connection.end();
    }
    assert.ok(refused > 0 && refused < stuck.length, `${refused} were refused`);
  });
});

test('ten thousand idle connections do not harm the others', async () => {
  const { hostname, port } = new URL(service.url);
  const sockets: Socket[] = [];
  // The test process may be allowed fewer open files.
  let refused = false;
  while (sockets.length < 10_000 && !refused) {
    await Promise.all(
      Array.from({ length: 500 }, async () => {
        // From an address of their own, which may have half of all connections here.
        const socket = connect({ port: Number(port), host: hostname, localAddress: '127.0.0.2' });
        sockets.push(socket);
        socket.on('error', () => {
          refused = true;
        });
        await Promise.race([once(socket, 'connect'), once(socket, 'close')]).catch(() => {});
      }),
    );
  }
  try {
    assert.ok(sockets.filter(({ readyState }) => readyState === 'open').length >= 1_000);
    const started = performance.now();
    for (let i = 0; i < 50; i++) await assertAlive();
    assert.ok(performance.now() - started < 5_000);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
});
