// The digests of the HTTP server's binaries: there is one for every supported platform of the package, and any other file is
// refused.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkHttpServerBinary, httpServerBinary } from '../../src/health/http-server-binary.ts';
import { temporaryFolder } from '../temporary-folder.ts';

for (const platform of ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64']) {
  test(`the binary for ${platform} is the one that the project was built with`, () => {
    checkHttpServerBinary(platform);
  });

  test(`a binary for ${platform} with one bit changed is refused, with both digests`, () => {
    const content = readFileSync(httpServerBinary(platform));
    content[content.length >> 1]! ^= 1;
    const file = join(temporaryFolder(), 'uws.node');
    writeFileSync(file, content);
    assert.throws(() => checkHttpServerBinary(platform, file), {
      name: 'CommandFailure',
      message: /uws\.node is not the one .*\(its SHA-256 is [0-9a-f]{64}, not [0-9a-f]{64}\): .*"npm ci"$/,
    });
  });
}

test('a missing binary and a platform without one are refused with what to do', () => {
  const file = join(temporaryFolder(), 'uws.node');
  assert.throws(() => checkHttpServerBinary('linux-x64', file), {
    message: /can't be read \(ENOENT\): run "npm ci"/,
  });
  assert.throws(() => checkHttpServerBinary('win32-x64'), { message: /one of linux-x64, / });
});

test('the package of the HTTP server is the one that the digests are of', () => {
  const manifest = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'));
  assert.equal(manifest.dependencies['uWebSockets.js'], 'npm:uws-pack@20.0.8');
});
