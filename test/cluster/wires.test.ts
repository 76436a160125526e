// Wires between threads of other nodes: who gets one, and that the two ends meet, in whichever order they come.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { WireEnds, Wiring } from '../../src/cluster/wires.ts';

test('a wire has one end that is offered, to the process that the other one waits at', () => {
  const wiring = new Wiring(7);
  assert.equal(wiring.between('p', 'q'), null);
  wiring.together('q', 'p');
  wiring.together('q', 'r');
  wiring.together('q', 'p');
  const [first, second] = wiring.between('q', 'p')!;
  assert.deepEqual([first.offeredTo, second.offeredTo], [null, 'q']);
  assert.deepEqual([first.offeredBy, second.offeredBy], ['p', null]);
  assert.equal(first.wire, second.wire);
  assert.match(first.wire, /^7\./);
  const [, other] = wiring.between('p', 'q')!;
  assert.notEqual(other.wire, first.wire);
  assert.equal(other.offeredTo, null);
  assert.deepEqual([wiring.apart('p', 'q'), wiring.apart('p', 'q')], [true, false]);
  assert.equal(wiring.between('p', 'q'), null);
  wiring.together('q', 'p');
  assert.notEqual(wiring.between('r', 'q'), null);
  wiring.gone('r');
  assert.deepEqual([wiring.between('r', 'q'), wiring.between('p', 'q') === null], [null, false]);
});

test('threads of one process need no link between them', () => {
  const [first, second] = new Wiring(7).between('p', 'p')!;
  assert.deepEqual([first.offeredTo, second.offeredTo], [null, null]);
  assert.deepEqual([first.offeredBy, second.offeredBy], [null, null]);
});

/** Where ends meet, with a link to process `q` alone. */
function withEnds(context: TestContext) {
  const opened: [wire: string, port: MessagePort][] = [];
  const apart: string[] = [];
  const unmet: string[] = [];
  const timers: { readonly delayMs: number; readonly run: () => void }[] = [];
  const ends = new WireEnds({
    linkTo: (process) => (process === 'q' ? { open: (wire, port) => void opened.push([wire, port]) } : null),
    onApart: (process) => apart.push(process),
    onUnmet: (process) => unmet.push(process),
    timers: {
      after: (delayMs, run) => {
        timers.push({ delayMs, run });
        return () => {};
      },
    },
    unmetMsMax: 10_000,
  });
  /** So many milliseconds pass. */
  const pass = (ms: number) => {
    for (const timer of timers.splice(0))
      if (timer.delayMs <= ms) timer.run();
      else timers.push({ ...timer, delayMs: timer.delayMs - ms });
  };
  const given: MessagePort[] = [];
  const give = (port: MessagePort) => void given.push(port);
  context.after(() => {
    for (const port of given) port.close();
    for (const [, port] of opened) port.close();
  });
  return { ends, opened, apart, unmet, given, give, pass };
}

/** Resolves when the other end is closed. */
function closing(port: MessagePort): Promise<unknown> {
  port.ref();
  return once(port, 'close');
}

async function assertJoined(one: MessagePort | undefined, other: MessagePort | undefined): Promise<void> {
  one?.postMessage('from one');
  assert.deepEqual(await once(other!, 'message'), ['from one']);
}

test('two threads of this node meet', async (context) => {
  const { ends, given, give } = withEnds(context);
  ends.take({ wire: '7.1', offeredTo: null, offeredBy: null }, give);
  assert.equal(given.length, 0);
  ends.take({ wire: '7.1', offeredTo: null, offeredBy: null }, give);
  await assertJoined(given[0], given[1]);
});

test('an end is offered to another node over the link, at once', async (context) => {
  const { ends, opened, given, give } = withEnds(context);
  ends.take({ wire: '7.1', offeredTo: 'q', offeredBy: null }, give);
  const [[wire, port] = []] = opened;
  assert.equal(wire, '7.1');
  await assertJoined(given[0], port);
});

for (const comes of ['before', 'after'] as const)
  test(`what is offered ${comes} it is wanted is given to the thread`, async (context) => {
    const { ends, given, give } = withEnds(context);
    const { port1, port2 } = new MessageChannel();
    const steps = [
      () => ends.offered('7.1', port1),
      () => ends.take({ wire: '7.1', offeredTo: null, offeredBy: null }, give),
    ];
    for (const step of comes === 'before' ? steps : steps.reverse()) step();
    await assertJoined(given[0], port2);
  });

test('without a link to the other node it is told that they are apart', (context) => {
  const { ends, apart, given, give } = withEnds(context);
  ends.take({ wire: '7.1', offeredTo: 'r', offeredBy: null }, give);
  assert.deepEqual([apart, given], [['r'], []]);
});

for (const [how, over] of [
  ['for too long', (bench: ReturnType<typeof withEnds>) => bench.pass(10_000)],
  ['until the node runs nothing any more', ({ ends }: ReturnType<typeof withEnds>) => ends.end()],
] as const)
  test(`what waits ${how} is let go`, async (context) => {
    const bench = withEnds(context);
    const { port1, port2 } = new MessageChannel();
    bench.ends.offered('7.1', port1);
    bench.ends.take({ wire: '7.2', offeredTo: null, offeredBy: null }, bench.give);
    const closed = closing(port2);
    over(bench);
    await closed;
    // What comes for it now waits for another one.
    bench.ends.take({ wire: '7.2', offeredTo: null, offeredBy: null }, bench.give);
    assert.equal(bench.given.length, 0);
  });

test('a thread that waits in vain is told of, by the process that should have offered the other end', (context) => {
  const { ends, unmet, given, give, pass } = withEnds(context);
  ends.take({ wire: '7.1', offeredTo: null, offeredBy: 'o' }, give);
  pass(9_999);
  assert.deepEqual(unmet, []);
  pass(1);
  assert.deepEqual([unmet, given], [['o'], []]);
  // Whoever ends waits for nothing.
  ends.take({ wire: '7.2', offeredTo: null, offeredBy: 'o' }, give);
  ends.end();
  pass(10_000);
  assert.deepEqual(unmet, ['o']);
});

test('an end waits as long as the link may be silent over which the other one is told', async (context) => {
  const { ends, given, give, pass } = withEnds(context);
  const { port1, port2 } = new MessageChannel();
  ends.offered('7.1', port1);
  pass(9_999);
  ends.take({ wire: '7.1', offeredTo: null, offeredBy: null }, give);
  pass(1);
  await assertJoined(given[0], port2);
});

test('of two that are offered by one name the second is closed, and so is the first', async (context) => {
  const { ends } = withEnds(context);
  const channels = [new MessageChannel(), new MessageChannel()];
  const closed = channels.map(({ port2 }) => closing(port2));
  for (const { port1 } of channels) ends.offered('7.1', port1);
  await Promise.all(closed);
});
