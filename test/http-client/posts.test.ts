// What is asked right before a request is written: once the connection is up, however long that took.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Posts } from '../../src/http-client/posts.ts';
import { authority, postOptions, withReceiver } from '../webhooks/attempt-harness.ts';

for (const identity of [undefined, authority.issue({ hosts: ['shop.example'] })])
  test(`nothing is written once the right to is lost, ${identity ? 'https' : 'http'}`, async () => {
    await withReceiver(identity ? { identity } : {}, async (receiver) => {
      let mayWrite = true;
      const posts = new Posts({ ...postOptions, mayWrite: () => mayWrite });
      const url = `${identity ? 'https' : 'http'}://shop.example:${receiver.port}/pay`;
      const input = { endpoint: 'we_1', url, headers: '', body: '{}', answerBytesMax: 100 };
      const post = (isIdempotent: boolean) => posts.post({ ...input, isIdempotent });
      assert.equal((await post(true)).failure, null);

      // Over a connection that is kept, and over a new one.
      mayWrite = false;
      for (const isIdempotent of [true, false])
        assert.match((await post(isIdempotent)).failure!, /^not sent/, String(isIdempotent));

      // It is lost while the connection is made.
      mayWrite = true;
      const posting = post(false);
      mayWrite = false;
      assert.match((await posting).failure!, /^not sent/);
      assert.equal(receiver.requests.length, 1);
      posts.connections.close();
    });
  });
