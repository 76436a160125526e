// The request logs of several nodes as one: real logs in folders of their own, of nodes that answer, are away, and come back.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LoggedRequest } from '../../src/contract/routes/logged-request.ts';
import { answersOfAll, isPlaceInAll, type LogOfNode } from '../../src/request-logs/all-nodes.ts';
import type { Gap } from '../../src/request-logs/logged-request.ts';
import {
  type AskLog,
  answerLogQuestions,
  type LogOfNodeQuestions,
  type LogQuestions,
} from '../../src/request-logs/query.ts';
import { type Answers, answerQuestion, Questions } from '../../src/rpc/questions.ts';
import { answeredRequest, newLogs, shop, startMs, writeAll } from './written-log.ts';

const filter = {};

function asking(answers: Answers<LogQuestions>): Questions<LogQuestions>['ask'] {
  const questions = new Questions<LogQuestions>(
    (asked) => void answerQuestion(answers, asked, (answer) => questions.take(answer), String),
  );
  return questions.ask.bind(questions);
}

function askingNode(answers: Answers<LogOfNodeQuestions>): Questions<LogOfNodeQuestions>['ask'] {
  const questions = new Questions<LogOfNodeQuestions>(
    (asked) => void answerQuestion(answers, asked, (answer) => questions.take(answer), String),
  );
  return questions.ask.bind(questions);
}

interface TestedNode extends LogOfNode {
  isAway: boolean;
  /** Writes a request that was answered so many milliseconds after the start. */
  put(atMs: number): string;
}

function nodeNamed(node: string): TestedNode {
  const { folder, logs } = newLogs();
  const ask = askingNode(answerLogQuestions(folder, async () => {}));
  const made: TestedNode = {
    node,
    isAway: false,
    put(atMs) {
      const entry = answeredRequest({ answeredAtMs: startMs + atMs });
      writeAll(logs, shop, [entry]);
      return entry.requestId;
    },
    ask: (async (name, asks) => (made.isAway ? null : ask(name, asks))) as AskLog,
  };
  return made;
}

/** Three nodes; whoever asks is on the first. */
function threeNodes() {
  const [a, b, c] = [nodeNamed('a'), nodeNamed('b'), nodeNamed('c=1, in Fès')];
  const others: TestedNode[] = [b, c];
  const ask = asking(answersOfAll(a, () => others));
  return { a, b, c, others, ask };
}

const idsOf = (found: readonly (LoggedRequest | Gap)[]) =>
  found.map((entry) => ('request' in entry ? entry.request : 'gap'));

test('pages of any size hold every request once, newest first, and end', async () => {
  const { a, b, c, ask } = threeNodes();
  const nodes = [a, b, c, b, b, b, a, c, c, a, b, a, a, a, a, b, c];
  const written = nodes.map((node, i) => node.put(i * 10));
  for (let limit = 1; limit <= written.length + 1; limit++) {
    const found: string[] = [];
    let before: string | null = null;
    do {
      const page: LogQuestions['search']['answers'] = await ask('search', {
        scope: shop,
        filter,
        limit,
        before,
      });
      assert.deepEqual(page.unanswered, []);
      assert(page.found.length <= limit);
      assert(page.older === null || isPlaceInAll(page.older), `${page.older}`);
      found.push(...idsOf(page.found));
      before = page.older;
    } while (before !== null);
    assert.deepEqual(found, written.toReversed(), `${limit} on a page`);
  }
});

test('what comes while pages are read is on none of the older ones', async () => {
  const { a, b, ask } = threeNodes();
  const [first, second] = [a.put(0), b.put(10)];
  const page = await ask('search', { scope: shop, filter, limit: 1, before: null });
  assert.deepEqual(idsOf(page.found), [second]);
  a.put(20);
  const next = await ask('search', { scope: shop, filter, limit: 5, before: page.older });
  assert.deepEqual(idsOf(next.found), [first]);
  assert.equal(next.older, null);
});

test('what one node has not looked at yet is waited for, so that nothing comes out of its order', async () => {
  const [a, b] = [nodeNamed('a'), nodeNamed('b')];
  const [oldest, middle, newest] = [a.put(0), b.put(10), a.put(20)];
  // Node a looks at one entry in each search.
  const hesitant: LogOfNode = {
    node: 'a',
    ask: (async (name: string, asks: LogOfNodeQuestions['search']['asks']) =>
      a.ask(name as 'search', { ...asks, limit: 1 })) as AskLog,
  };
  const ask = asking(answersOfAll(hesitant, () => [b]));
  const first = await ask('search', { scope: shop, filter, limit: 5, before: null });
  assert.deepEqual(idsOf(first.found), [newest, middle]);
  const second = await ask('search', { scope: shop, filter, limit: 5, before: first.older });
  assert.deepEqual(idsOf(second.found), [oldest]);
});

test('a node that does not answer is named, and what it took follows when it is back', async () => {
  const { a, b, ask } = threeNodes();
  const [ofA, ofB] = [a.put(0), b.put(10)];
  b.isAway = true;
  const without = await ask('search', { scope: shop, filter, limit: 5, before: null });
  assert.deepEqual([idsOf(without.found), without.unanswered], [[ofA], ['b']]);
  // It can't be gone on to.
  assert.equal(without.older, null);
  assert.deepEqual(await ask('find', { scope: shop, request: ofB }), { entry: null, unanswered: ['b'] });
  assert.equal((await ask('find', { scope: shop, request: ofA })).entry?.request, ofA);
  b.isAway = false;
  const found = await ask('find', { scope: shop, request: ofB });
  assert.equal(found.entry?.request, ofB);
  const nobodys = await ask('find', { scope: shop, request: answeredRequest().requestId });
  assert.deepEqual(nobodys, { entry: null, unanswered: [] });
  const whole = await ask('search', { scope: shop, filter, limit: 5, before: null });
  assert.deepEqual(idsOf(whole.found), [ofB, ofA]);
});

test('a node that is away for one page is gone on with where it was', async () => {
  const { a, b, ask } = threeNodes();
  const written = [a, b, a, b, a].map((node, i) => node.put(i * 10));
  const page = async (limit: number, before: string | null) => {
    const { found, older } = await ask('search', { scope: shop, filter, limit, before });
    return [idsOf(found), older] as const;
  };
  const [first, afterFirst] = await page(2, null);
  b.isAway = true;
  const [second, afterSecond] = await page(1, afterFirst);
  b.isAway = false;
  const [third] = await page(5, afterSecond);
  assert.deepEqual(
    [first, second, third],
    [[written[4], written[3]], [written[2]], [written[1], written[0]]],
  );
});

test('those who follow get what any node takes, in its order, also of one that comes later', async () => {
  const { a, b, c, others, ask } = threeNodes();
  others.pop();
  a.put(0);
  c.put(5);
  let after = await ask('newest', { scope: shop });
  const news = async () => {
    const { found, newest } = await ask('after', { scope: shop, filter, limit: 5, after });
    after = newest;
    return idsOf(found);
  };
  assert.deepEqual(await news(), []);
  const second = b.put(20);
  const first = a.put(10);
  assert.deepEqual(await news(), [first, second]);
  b.isAway = true;
  const missed = b.put(30);
  assert.deepEqual(await news(), []);
  b.isAway = false;
  // What node c took before it was there is not new.
  others.push(c);
  assert.deepEqual(await news(), [missed]);
  const third = c.put(40);
  assert.deepEqual(await news(), [third]);
  assert(isPlaceInAll(after), after);
});

test('of a node that is not one of several a place is told as it is, and goes on when it is', async () => {
  const { a, b } = threeNodes();
  const others: TestedNode[] = [];
  const alone = asking(answersOfAll({ ...a, node: '' }, () => []));
  const ask = asking(answersOfAll(a, () => others));
  const [first, second] = [a.put(0), a.put(10)];
  const page = await alone('search', { scope: shop, filter, limit: 1, before: null });
  assert.match(page.older!, /^\d+-\d+$/);
  const newest = await alone('newest', { scope: shop });
  assert.match(newest, /^\d+-\d+$/);
  others.push(b);
  const ofB = b.put(5);
  const next = await ask('search', { scope: shop, filter, limit: 5, before: page.older });
  assert.deepEqual(idsOf(next.found), [ofB, first]);
  const third = a.put(30);
  const after = await ask('after', { scope: shop, filter, limit: 5, after: newest });
  assert.deepEqual(idsOf(after.found), [third]);
  assert(!idsOf(after.found).includes(second));
  // A place of other nodes, or of none, is none of this one.
  for (const forged of ['00000000=1-2', '00000000=1-2,11111111=1-3'])
    assert.deepEqual(await alone('after', { scope: shop, filter, limit: 5, after: forged }), {
      found: [],
      newest: await alone('newest', { scope: shop }),
    });
});

test('clocks that were set keep no page from going on', async () => {
  const { a, b, ask } = threeNodes();
  // Each node goes on with times before what it has looked at last.
  const written = [a.put(2_000), a.put(0), b.put(2_500), b.put(100)].reverse();
  a.put(5_000);
  b.put(5_100);
  const found: string[] = [];
  let before: string | null = null;
  let pages = 0;
  do {
    const page: LogQuestions['search']['answers'] = await ask('search', {
      scope: shop,
      filter,
      limit: 1,
      before,
    });
    found.push(...idsOf(page.found));
    before = page.older;
  } while (before !== null && ++pages < 20);
  assert.equal(new Set(found).size, 6);
  assert.equal(found.length, 6);
  assert.deepEqual(found.slice(2).sort(), written.toSorted());
});

test('what is no place is not taken for one', () => {
  for (const text of [
    '',
    '1-',
    '0f2ab3c4',
    '0f2ab3c4=1',
    '0f2ab3c4=1-2,',
    ',',
    'a=1-2',
    '=1-2',
    '0f2ab3c4=1-2-3',
  ])
    assert.equal(isPlaceInAll(text), false, text);
  for (const text of ['0-0', '1764115200000-12', '0f2ab3c4=1-2', '0f2ab3c4=1-2,9ad01277=0-0'])
    assert(isPlaceInAll(text), text);
});
