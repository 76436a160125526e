// A small SMTP server for tests, with TLS and authentication where a test wants them. It keeps what it was told, and answers as the
// test wants.

import { createServer, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import type { Identity } from '../webhooks/certificates.ts';

interface Received {
  readonly recipients: readonly string[];
  readonly data: string;
  /** The name and the password that were given, as the client encodes them; null without any. */
  readonly auth: string | null;
  readonly encrypted: boolean;
}

interface Tls extends Identity {
  /** From the first byte, or after STARTTLS. */
  readonly from: 'start' | 'starttls';
}

interface ServerOptions {
  readonly tls?: Tls;
  /** What is offered after EHLO. */
  readonly offers?: readonly string[];
}

export async function startSmtpServer(
  answer: (line: string) => string | null = () => null,
  { tls, offers = [] }: ServerOptions = {},
) {
  const received: Received[] = [];
  /** Every line that was told, commands and data. */
  const lines: string[] = [];
  const sockets = new Set<Socket>();
  const secured = (socket: Socket): TLSSocket => {
    const secureContext = createSecureContext(tls);
    return new TLSSocket(socket, { isServer: true, secureContext }).on('error', () => {});
  };
  const server = createServer((plain) => {
    sockets.add(plain);
    plain.on('error', () => {});
    let recipients: string[] = [];
    let data: string | null = null;
    let auth: string | null = null;
    let socket: Socket;
    const say = (line: string) => void socket.write(`${line}\r\n`);
    const useSocket = (next: Socket) => {
      socket = next;
      let buffer = '';
      next.on('data', (chunk) => {
        buffer += chunk.toString();
        const taken = buffer.split('\r\n');
        buffer = taken.pop()!;
        for (const line of taken) take(line);
      });
    };
    const greet = () => {
      const isEncrypted = socket instanceof TLSSocket;
      const all = ['test', ...offers, ...(tls !== undefined && !isEncrypted ? ['STARTTLS'] : [])];
      for (const [i, each] of all.entries()) say(`250${i === all.length - 1 ? ' ' : '-'}${each}`);
    };
    const take = (line: string) => {
      lines.push(line);
      if (data !== null) {
        if (line !== '.') {
          data += `${line}\n`;
          return;
        }
        received.push({ recipients, data, auth, encrypted: socket instanceof TLSSocket });
        [recipients, data] = [[], null];
        say(answer('.') ?? '250 taken');
        return;
      }
      const given = answer(line);
      if (given !== null) return say(given);
      if (/^EHLO/i.test(line)) return greet();
      if (/^STARTTLS/i.test(line)) {
        say('220 go on');
        plain.removeAllListeners('data');
        return useSocket(secured(plain));
      }
      if (/^AUTH/i.test(line)) {
        auth = line.split(' ').at(-1)!;
        return say('235 welcome');
      }
      if (/^RCPT/i.test(line)) recipients.push(line);
      if (/^DATA/i.test(line)) data = '';
      say(/^DATA/i.test(line) ? '354 go on' : /^QUIT/i.test(line) ? '221 bye' : '250 fine');
    };
    useSocket(tls?.from === 'start' ? secured(plain) : plain);
    say('220 test');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  return {
    url: `${tls?.from === 'start' ? 'smtps' : 'smtp'}://127.0.0.1:${port}`,
    port,
    received,
    lines,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}
