// Questions between two sides: an answer, reports, failures, an end of the other side, and a table of answers that lacks one.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import {
  type Answer,
  type Answers,
  answerQuestion,
  type Question,
  Questions,
} from '../../src/rpc/questions.ts';

interface Sums {
  add: { asks: { readonly numbers: readonly number[] }; answers: number; reports: number };
  forget: { asks: object };
}

function sides(answers: Answers<Sums>, failureOf?: (error: unknown) => unknown) {
  const { port1, port2 } = new MessageChannel();
  const failed: unknown[] = [];
  const questions = new Questions<Sums>((question) => port1.postMessage(question));
  port1.on('message', (answer: Answer) => questions.take(answer));
  port2.on('message', (asked: Question<Sums>) => {
    answerQuestion(answers, asked, (answer) => port2.postMessage(answer), failureOf).catch((error) => {
      failed.push(error.message);
      questions.end(new Error('the other side is gone'));
    });
  });
  return { questions, failed, close: () => port1.close() };
}

const add: NonNullable<Answers<Sums>['add']> = ({ numbers }, report) =>
  numbers.reduce((sum, number) => {
    report(sum + number);
    return sum + number;
  }, 0);

test('each answer goes to its question, and reports come before it', async () => {
  const { questions, close } = sides({ add, forget: () => {} });
  const reports: number[] = [];
  const both = [
    questions.ask('add', { numbers: [1, 2, 3] }, (sum) => reports.push(sum)),
    questions.ask('add', { numbers: [40, 2] }),
  ];
  assert.equal(questions.size, 2);
  assert.deepEqual(await Promise.all(both), [6, 42]);
  assert.deepEqual([reports, questions.size], [[1, 3, 6], 0]);
  assert.equal(await questions.ask('forget', {}), undefined);
  close();
});

test('what the other side throws is a failure, and so is an answer that can not be sent', async () => {
  const failureOf = (error: unknown) => (error as Error).name;
  const broken = (() => () => {}) as unknown as typeof add;
  const { questions, close } = sides({ add: broken }, failureOf);
  await assert.rejects(questions.ask('add', { numbers: [] }), { message: 'DataCloneError' });
  await assert.rejects(questions.ask('forget', {}), { message: 'Error' });
  close();
});

test('a fault of the other side ends it where nobody makes a failure of it', async () => {
  const { questions, failed, close } = sides({});
  await assert.rejects(questions.ask('add', { numbers: [1] }), { message: 'the other side is gone' });
  assert.deepEqual(failed, ['nobody answers add here']);
  close();
});

test('what comes for a question that nobody waits for is dropped', () => {
  const questions = new Questions<Sums>(() => {});
  questions.take({ type: 'answer', question: 7, value: 1 });
  const number = questions.newNumber();
  void questions.askAs(number, 'forget', {});
  assert(questions.has(number) && !questions.has(number + 1));
});
