// The programs of the webhooks guide, as they stand there: each is started where its language is installed, gets deliveries that the
// service's own code has signed, and others that it must refuse.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { openapiDocument } from '../../src/contract/openapi/document.ts';
import { signatureHeader, signatureHeaderName } from '../../src/crypto/signed-message.ts';
import { freePort } from '../free-port.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const guide = readFileSync(join(import.meta.dirname, '../../docs/guide/webhooks.md'), 'utf8');
const secret = 'svc_whsec_0123456789ABCDEFGHIJabcdefghij';
const rolledSecret = 'svc_whsec_zyxwvutsrqponmlkjihgfedcba98765';

interface Language {
  readonly fence: string;
  readonly file: string;
  /** Prints its version: it is installed when that works. */
  readonly version: readonly string[];
  readonly start: (file: string, port: number) => readonly string[];
}

const languages: Readonly<Record<string, Language>> = {
  Node: {
    fence: 'js',
    file: 'webhooks.mjs',
    version: [process.execPath, '--version'],
    start: (file) => [process.execPath, file],
  },
  Python: {
    fence: 'python',
    file: 'webhooks.py',
    version: ['python3', '--version'],
    start: (file) => ['python3', file],
  },
  PHP: {
    fence: 'php',
    file: 'webhooks.php',
    version: ['php', '--version'],
    start: (file, port) => ['php', '-S', `127.0.0.1:${port}`, file],
  },
  Go: {
    fence: 'go',
    file: 'webhooks.go',
    version: ['go', 'version'],
    start: (file) => ['go', 'run', file],
  },
};

/** As long as the service waits for an answer. */
const answerMsMax = 10_000;

const isInstalled = ([command, ...args]: readonly string[]) =>
  spawnSync(command!, args, { stdio: 'ignore' }).status === 0;

/** The answer's status; the program may still be starting. */
async function deliver(url: string, body: string, header: string | null, program: ChildProcess) {
  for (;;) {
    assert.equal(program.exitCode, null, 'the program has ended');
    try {
      const headers: Record<string, string> = header === null ? {} : { [signatureHeaderName]: header };
      const signal = AbortSignal.timeout(answerMsMax);
      const answer = await fetch(url, { method: 'POST', headers, body, signal });
      return answer.status;
    } catch (error) {
      if (error instanceof DOMException) throw error;
      await wait(50);
    }
  }
}

/** Begins a delivery and goes away; anybody can. */
async function breakOff(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  socket.write('POST /webhooks HTTP/1.1\r\nHost: shop\r\nContent-Length: 9\r\n\r\n{');
  await wait(100);
  socket.resetAndDestroy();
  await wait(100);
}

/** Connects and says nothing; anybody can. */
async function stayIdle(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

/** A delivery of an event, with a text that JSON could write in another way. */
function eventBody(id: string): string {
  const { webhooks } = openapiDocument('https://payments.example') as {
    webhooks: Record<string, { post: { requestBody: { content: Record<string, { example: object }> } } }>;
  };
  const { example } = webhooks['payment_intent.succeeded']!.post.requestBody.content['application/json']!;
  return JSON.stringify({ ...example, id, note: 'خلاص — café 🧾 1.0' }, null, 1);
}

for (const [name, { fence, file, version, start }] of Object.entries(languages)) {
  const skip = isInstalled(version) ? false : `left out: ${name} is not installed`;
  test(`the guide's program in ${name} takes what is signed, and nothing else`, { skip }, async (context) => {
    const program = new RegExp(`^\`\`\`${fence}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(guide)![1]!;
    const path = join(temporaryFolder(), file);
    writeFileSync(path, program);
    const port = await freePort();
    const [command, ...args] = start(path, port);
    const env = { ...process.env, PORT: String(port), WEBHOOK_SECRET: secret };
    // In a group of its own, because `go run` starts the program as a child.
    const child = spawn(command!, args, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    context.after(() => process.kill(-child.pid!, 'SIGKILL'));
    let said = '';
    child.stdout.on('data', (text) => (said += text));
    child.stderr.on('data', (text) => (said += text));
    const url = `http://127.0.0.1:${port}/webhooks`;
    const send = (body: string, header: string | null) => deliver(url, body, header, child);

    const body = eventBody('evt_1');
    const now = Math.floor(Date.now() / 1000);
    const signed = signatureHeader({ secrets: [secret], timestampSeconds: now, body });
    assert.equal(await send(body, signed), 204, said);
    assert.equal(await send(body, signed), 204, 'the same event again');
    const rolled = eventBody('evt_2');
    const both = { secrets: [rolledSecret, secret], timestampSeconds: now, body: rolled };
    assert.equal(await send(rolled, signatureHeader(both)), 204, 'one of two signatures is right');

    const refused: Readonly<Record<string, [body: string, header: string | null]>> = {
      'no signature': [body, null],
      'another body': [body.replace('25000', '99000'), signed],
      'another secret': [body, signatureHeader({ secrets: [rolledSecret], timestampSeconds: now, body })],
      'older than five minutes': [
        body,
        signatureHeader({ secrets: [secret], timestampSeconds: now - 400, body }),
      ],
      'another time': [body, signed.replace(/t=\d+/, `t=${now - 1}`)],
      'no time': [body, signed.replace(/t=\d+,/, '')],
      nonsense: [body, 't=,v1=zz,v1,=,'],
    };
    for (const [what, [sent, header]] of Object.entries(refused)) {
      assert.equal(await send(sent, header), 400, what);
    }
    await breakOff(port);
    const idle = await stayIdle(port);
    assert.equal(await send(body, signed), 204, said);
    idle.destroy();
    assert.match(said, /payment_intent\.succeeded pi_/);
  });
}
