// The first start of a data folder, also one that ended before anybody had seen the keys.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Directory } from '../../src/directory/directory.ts';
import { greet } from '../../src/main/first-start.ts';
import { directoryIn, folderOfDirectory } from '../directory/directories.ts';
import { createManualClock } from '../manual-clock.ts';

const url = 'http://127.0.0.1:8080';

async function newDirectory(): Promise<Directory> {
  return directoryIn(await folderOfDirectory(), createManualClock(1_793_491_200_000).now);
}

async function greetedOf(directory: Directory): Promise<string> {
  let text = '';
  const write = (more: string) => {
    text += more;
  };
  await greet({ directory, url, production: false, write });
  return text;
}

test('keys that nobody has seen are made again, once', async () => {
  const directory = await newDirectory();
  // The process ended here, before it had made the owner and printed anything.
  const { organization } = await directory.createOrganization('Sandbox', ['test']);
  const text = await greetedOf(directory);
  const secret = /KEY=(svc_sk_test_\w+)/.exec(text)![1]!;
  assert.equal(directory.key(secret).org, organization.id);
  assert.match(text, /PUBLISHABLE_KEY=svc_pk_test_\w+/);
  assert.equal(directory.members.all().length, 1);
  assert.equal(await greetedOf(directory), `Listening on ${url}\n`);
  await directory.closeStore();
});

test('an organization of somebody else gets no keys', async () => {
  const directory = await newDirectory();
  const { organization } = await directory.createOrganization('Souk', ['test']);
  const before = directory.keysOf(organization.id).length;
  assert.equal(await greetedOf(directory), `Listening on ${url}\n`);
  assert.equal(directory.keysOf(organization.id).length, before);
  await directory.closeStore();
});
