// What a thread shows other nodes is read again while an operator renews the files, one after the other.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import type { Config } from '../../src/config/config-schema.ts';
import { certifyNode } from '../../src/operator/use-cases/certify-node.ts';
import { ownProof } from '../../src/threads/link-proof.ts';
import { temporaryFolder } from '../temporary-folder.ts';

test('a certificate that is renewed before its key is shown with that key only', (context) => {
  const folder = temporaryFolder(context);
  const [old, renewed] = ['old', 'renewed'].map((name) => certifyNode(join(folder, name), 'b', new Date()));
  const files = { certFile: join(folder, 'cert'), keyFile: join(folder, 'key'), caFile: join(folder, 'ca') };
  const write = (what: keyof typeof files, from: string) => copyFileSync(from, files[what]);
  write('certFile', old!.certificate);
  write('keyFile', old!.key);
  write('caFile', old!.authority);
  const told: string[] = [];
  const logger = {
    info: (text: string) => told.push(text),
    error: (_: object, text: string) => told.push(text),
  };
  const config = { cluster: files } as Config;
  const proof = ownProof(config, randomBytes(32), logger as never, new Registry());
  const shown = proof.now.certificate!.fingerprint256;
  write('certFile', renewed!.certificate);
  proof.reread(config);
  assert.equal(proof.now.certificate!.fingerprint256, shown);
  write('keyFile', renewed!.key);
  proof.reread(config);
  assert.notEqual(proof.now.certificate!.fingerprint256, shown);
  assert.equal(told.length, 3);
  assert.match(told[0]!, /cert, which is good until /);
  assert.match(told[1]!, /can not be used, and the one that was read before is/);
  assert.match(told[2]!, /cert, which is good until /);
});
