// A small SMTP server for tests. It keeps what it was told, and answers as the test wants.

import { createServer, type Socket } from 'node:net';

export interface Received {
  readonly recipients: readonly string[];
  readonly data: string;
}

export async function startSmtpServer(answer: (line: string) => string | null = () => null) {
  const received: Received[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    let buffer = '';
    let recipients: string[] = [];
    let data: string | null = null;
    const say = (line: string) => void socket.write(`${line}\r\n`);
    const take = (line: string) => {
      if (data !== null) {
        if (line !== '.') {
          data += `${line}\n`;
          return;
        }
        received.push({ recipients, data });
        [recipients, data] = [[], null];
        say(answer('.') ?? '250 taken');
        return;
      }
      const given = answer(line);
      if (given !== null) return say(given);
      if (/^RCPT/i.test(line)) recipients.push(line);
      if (/^DATA/i.test(line)) data = '';
      say(/^DATA/i.test(line) ? '354 go on' : /^QUIT/i.test(line) ? '221 bye' : '250 fine');
    };
    socket.on('data', (chunk) => {
      buffer += chunk.toString();
      const lines = buffer.split('\r\n');
      buffer = lines.pop()!;
      for (const line of lines) take(line);
    });
    say('220 test');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  return {
    url: `smtp://127.0.0.1:${port}`,
    received,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}
