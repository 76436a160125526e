// The hash of CMI's messages against values made by hand, with
// `printf '%s' 'TEXT' | openssl dgst -sha512 -binary | base64 -w0`, where TEXT is the text of the row.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import {
  bytesOf,
  type Field,
  hashOf,
  isSigned,
  signedFields,
  sortKey,
} from '../../../src/networks/cmi/hash.ts';

const signed = (fields: Record<string, string>): Field[] =>
  Object.entries(fields).map(([name, value]) => [bytesOf(name), bytesOf(value)]);

interface Row {
  readonly title: string;
  readonly fields: Record<string, string>;
  readonly key: string;
  readonly text: string;
  readonly hash: string;
}

const rows: readonly Row[] = [
  {
    title: 'values in the order of the names, numbers as numbers, then the key',
    fields: { item10: 'ten', item9: 'nine' },
    key: 'secret',
    text: 'nine|ten|secret',
    hash: 'Hp5MsIxhkfyYcufS6EJxcFz7O521o5Ih87l7YEHIWJZjr06snvzxY0iDjtzuW7Wh/WIgmKnuDnwrPSZ21uHs+w==',
  },
  {
    title: 'a bar and a backslash are escaped, in the key as well',
    fields: { a: 'a|b', b: 'c\\d' },
    key: 'k|e\\y',
    text: 'a\\|b|c\\\\d|k\\|e\\\\y',
    hash: '5dCYKsXMRSBm5HoLq82TQF1L9cl3+tDR8lt1E8bOMeFLDI6hYTl6FzaqhFkTncTVeA8uaoMui1GSQiw2dGUzsg==',
  },
  {
    title: 'an empty value is there',
    fields: { b: 'x', a: '', c: '' },
    key: 'secret',
    text: '|x||secret',
    hash: 'xekD1ZnbGheDm11kV78MBQwMC9LizFe2IMPZ8fYR2Ou//AwNJOvYsBRnl6dkcEtFhkl7dFkTmMzRPHXgpbC0iw==',
  },
  {
    title: 'Arabic text is UTF-8',
    fields: { BillToName: 'محمد', oid: '100.00' },
    key: 'secret',
    text: 'محمد|100.00|secret',
    hash: 'CKgh7trQ1Mjuh4Cqfg9AhNGBW5EYCHQAeYZTUmuHju2eemgHuY0AEuQ8//g2X/apBSADm/Or9SktwluA4LitzQ==',
  },
  {
    title: 'capitals make no difference, and the hash and the encoding are left out',
    fields: { oid: '4', HASH: 'h', Encoding: 'UTF-8', amount: '1', callbackUrl: '2', ClientId: '3' },
    key: 'secret',
    text: '1|2|3|4|secret',
    hash: 'Gb6Y9WFFfIc7MMu6qL7lDg2VPWYvDXc23tygtw4Wt9P/6Ff5HVZ+Tyk3oW58b1hHglS6a1shxm3VKE0Q0HLncg==',
  },
];

for (const { title, fields, key, text, hash } of rows) {
  test(`hash: ${title}`, () => {
    assert.equal(createHash('sha512').update(text).digest('base64'), hash);
    assert.equal(hashOf(signed(fields), key).toString('base64'), hash);
    assert(isSigned(signedFields(signed(fields)), hash, key));
  });
}

test('a hash of another key, of other values, a shortened one and none are not accepted', () => {
  const fields = signedFields(signed({ oid: 'ch_1', amount: '100.00' }));
  const hash = hashOf(fields, 'secret').toString('base64');
  assert(!isSigned(fields, hash, 'another'));
  assert(!isSigned(signedFields(signed({ oid: 'ch_1', amount: '1.00' })), hash, 'secret'));
  assert(!isSigned(fields, hash.slice(0, 40), 'secret'));
  assert(!isSigned(fields, '', 'secret'));
});

test('names are in the order of natcasesort', () => {
  // As PHP sorts them: php -r '$n = [...]; natcasesort($n); echo join(" ", $n);'
  const sorted = 'ACQBIN acqStan amount BillToName callbackUrl clientid eci Ecom_A EXTRA.X failUrl';
  const numbered = 'item item1 item2 item10 item010b item11 itemA item_ md mdStatus MDX _charset_';
  const signs = 'A a0 ab az a_ a{ a~';
  for (const names of [sorted.split(' '), numbered.split(' '), signs.split(' ')])
    assert.deepEqual(
      signedFields(names.map((name) => [name, ''] as const).reverse()).map(([name]) => name),
      names,
    );
  assert.equal(sortKey('okUrl'), sortKey('OKURL'));
  const alike = ['okUrl', 'OKURL', 'okurl'].map((name) => [name, name] as const);
  assert.deepEqual(signedFields(alike), alike, 'names that are alike stay in their order');
});
