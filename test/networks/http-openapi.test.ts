// The document of the contract with integrators, as it is published.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { httpContractDocument } from '../../src/networks/http-openapi.ts';

test('the copy in docs/ is what is generated', () => {
  const copy = readFileSync(new URL('../../docs/networks/http-openapi.json', import.meta.url), 'utf8');
  assert.deepEqual(
    JSON.parse(copy),
    JSON.parse(JSON.stringify(httpContractDocument())),
    'run `npm run docs`',
  );
});
