// Nodes whose links go by certificates, each a process, and nodes that are set up wrongly among them.

import assert from 'node:assert/strict';
import { copyFileSync, rmSync } from 'node:fs';
import { test } from 'node:test';
import { freePort } from '../free-port.ts';
import { paymentsWith } from '../main/payments-command.ts';
import { leftOut, startServers } from '../postgresql/servers.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { clusterCommand, startNode } from './nodes.ts';

test('nodes with certificates run partitions for each other, and for nobody without one', {
  skip: leftOut,
}, async (context) => {
  const folder = temporaryFolder();
  const certify = async (node: string) => {
    const { code, out, error } = await paymentsWith(
      {},
      'cluster',
      'certificate',
      node,
      '--to',
      folder,
      '--json',
    );
    assert.equal(code, 0, error);
    const { certificate, key, authority } = JSON.parse(out);
    return {
      PAYMENTS_CLUSTER_CERT_FILE: certificate,
      PAYMENTS_CLUSTER_KEY_FILE: key,
      PAYMENTS_CLUSTER_CA_FILE: authority,
    };
  };
  const [ofA, ofB] = [await certify('a'), await certify('b')];
  const servers = await startServers(context, 1);
  const cluster = clusterCommand(servers);
  const start = async (name: string, env: Readonly<Record<string, string>>, secretsKeyOf?: string) =>
    startNode(context, {
      url: servers.url,
      name,
      env: { PAYMENTS_CLUSTER_LINK: `127.0.0.1:${await freePort()}`, PAYMENTS_SHARDS: '2', ...env },
      ...(secretsKeyOf !== undefined && { secretsKeyOf }),
    });
  const a = await start('a', ofA);
  await a.serving;
  const b = await start('b', ofB, a.dataDir);
  await a.says(/partition \d runs on node b after/);
  assert.match(a.output(), /links go by the certificate in [^"]*node-a\.pem, which is good until/);

  // One by the key is told apart by name, and asked for nothing.
  const c = await start('c', {}, a.dataDir);
  await a.says(
    /node c runs nothing for this one: its links go by secrets key, and those here by certificate/,
  );
  const { out } = await cluster('status');
  assert.match(out, /^NODES THAT LINK BY DIFFERENT THINGS DO NOT LINK: set PAYMENTS_CLUSTER_CERT_FILE/m);
  assert.match(out, /^b +stands by .* certificate /m);
  assert.match(out, /^c +stands by .* secrets key /m);
  assert.match(
    (await cluster('move', '0', 'c')).error,
    /node c links by secrets key, and node a by certificate/,
  );
  await c.stop();

  // One with the certificate of another node does not start.
  const d = await start('d', ofB, a.dataDir);
  await d.says(/PAYMENTS_CLUSTER_CERT_FILE names [^"]*node-b\.pem, which is not that of node d/);
  await assert.rejects(d.serving, /ended with code 1/);

  // A renewed certificate is taken at a SIGHUP, on the node that serves and on one that stands by.
  for (const [node, files] of [
    [a, ofA],
    [b, ofB],
  ] as const) {
    const kept = { certificate: files.PAYMENTS_CLUSTER_CERT_FILE, key: files.PAYMENTS_CLUSTER_KEY_FILE };
    for (const file of Object.values(kept)) {
      copyFileSync(file, `${file}.old`);
      rmSync(file);
    }
    await certify(node.name);
    node.process.kill('SIGHUP');
    await node.says(/new links get the certificate in [^"]*, which is good until/);
  }
  await b.stop();
  const again = await start('b', ofB, a.dataDir);
  await again.says(/node a has the lease, and may have this node run partitions/);
});
