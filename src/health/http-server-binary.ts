// The HTTP server is a prebuilt binary. The lock file has the hash of its package as it was
// downloaded. This file has the hash of the binary, which is checked before it is loaded, because
// it may have been changed since.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { errorCode } from '../core/errors.ts';
import { CommandFailure } from '../operator/use-cases/failures.ts';

/** SHA-256 of uWebSockets.js's binary by platform: uws-pack 20.0.8 for Node 22 (ABI 127). */
const digests: Readonly<Record<string, string>> = {
  'linux-x64': '8cabc918bbf9a07323e54f89a33882491080b2eb35df0607f473ccdb1f3c31af',
  'linux-arm64': 'd4c4f8b2c28c5f6544b49e36d91b0beee238a5b90a07904a947f77061c8b814d',
  'darwin-x64': 'afd992dc1ca1e33cdc7ce0c72a60baf236e590a257fcecbbbce7bc1a35451387',
  'darwin-arm64': 'abbeea53d48e21c01808203e9f9835728f2cea720d2e5b154837ee3045b513be',
};

/** The file that uWebSockets.js loads on a platform such as `linux-x64`. */
export function httpServerBinary(platform: string): string {
  const name = `uws_${platform.replace('-', '_')}_${process.versions.modules}.node`;
  return fileURLToPath(new URL(`bin/${name}`, import.meta.resolve('uWebSockets.js')));
}

/** Throws `CommandFailure` unless the binary for the platform has its hash. */
export function checkHttpServerBinary(
  platform = `${process.platform}-${process.arch}`,
  file = httpServerBinary(platform),
): void {
  const expected = digests[platform];
  if (expected === undefined) {
    const known = Object.keys(digests).join(', ');
    throw new CommandFailure(`there is no HTTP server for ${platform}: run the service on one of ${known}`);
  }
  let content: Buffer;
  try {
    content = readFileSync(file);
  } catch (error) {
    const code = errorCode(error);
    throw new CommandFailure(`the HTTP server ${file} can't be read (${code}): run "npm ci" with Node 22`);
  }
  const found = createHash('sha256').update(content).digest('hex');
  if (found === expected) return;
  throw new CommandFailure(
    `the HTTP server ${file} is not the one that this project was built with (its SHA-256 is ${found}, not ` +
      `${expected}): find out who changed it, then run "npm ci"`,
  );
}
