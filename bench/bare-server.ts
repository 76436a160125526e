// The bare server: what uWebSockets.js alone does on this machine. It reads the body and answers as many bytes of JSON
// as the path says (`/600`), and does nothing else. A process of its own: `node bench/bare-server.ts PORT`.

import * as uws from 'uWebSockets.js';

const answers = new Map<string, string>();

function answerOf(size: string): string {
  let answer = answers.get(size);
  if (answer === undefined) {
    answer = `{"padding":"${'x'.repeat(Math.max(0, Number(size) - '{"padding":""}'.length))}"}`;
    answers.set(size, answer);
  }
  return answer;
}

uws
  .App()
  .get('/*', (response, request) => {
    response.writeHeader('Content-Type', 'application/json').end(answerOf(request.getUrl().slice(1)));
  })
  .post('/*', (response, request) => {
    const answer = answerOf(request.getUrl().slice(1));
    response.onAborted(() => {});
    response.onData((_chunk, isLast) => {
      if (!isLast) return;
      response.cork(() => response.writeHeader('Content-Type', 'application/json').end(answer));
    });
  })
  .listen('127.0.0.1', Number(process.argv[2]), (socket) => {
    if (!socket) throw new Error(`cannot listen on port ${process.argv[2]}`);
  });
