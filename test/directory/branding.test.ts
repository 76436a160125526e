import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkedColour, logoBytesMax, logoOf, logoPathOf } from '../../src/directory/branding.ts';
import { close, newOrganization, withBranding, withName } from '../../src/directory/organization.ts';
import { DirectoryRefusal, type RefusalCode } from '../../src/directory/refusal.ts';

const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.from('pixels')]);
const fresh = newOrganization('org_1', 'Souk', 1_793_491_200_000);
const refuses = (code: RefusalCode | null) => (error: unknown) =>
  error instanceof DirectoryRefusal && error.code === code;

describe('logos', () => {
  const rows: [what: string, file: Buffer, type: string | RefusalCode][] = [
    ['PNG', png, 'image/png'],
    ['JPEG', Buffer.from([0xff, 0xd8, 0xff, 0xe0, 1]), 'image/jpeg'],
    ['WebP', Buffer.from('RIFF\n\x00\x00\x00WEBPVP8 ', 'latin1'), 'image/webp'],
    [
      'a sound, which begins as WebP does',
      Buffer.from('RIFF\n\x00\x00\x00WAVEfmt ', 'latin1'),
      'logo_invalid',
    ],
    ['the largest', Buffer.concat([png], logoBytesMax), 'image/png'],
    ['one that is too large', Buffer.concat([png], logoBytesMax + 1), 'logo_too_large'],
    ['SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'logo_invalid'],
    ['a page', Buffer.from('<script>alert(1)</script>'), 'logo_invalid'],
    ['the start of a PNG behind something else', Buffer.concat([Buffer.from(' '), png]), 'logo_invalid'],
    ['nothing', Buffer.alloc(0), 'logo_invalid'],
  ];
  for (const [what, file, expected] of rows) {
    test(`a logo: ${what}`, () => {
      if (expected.startsWith('logo_')) {
        assert.throws(() => logoOf(file), refuses(expected as RefusalCode));
        return;
      }
      const { type, data } = logoOf(file);
      assert.equal(type, expected);
      assert.deepEqual(Buffer.from(data, 'base64'), file);
    });
  }
});

test('a colour has one form', () => {
  assert.equal(checkedColour(' #0A6E4F '), '#0a6e4f');
  for (const text of ['', 'red', '#fff', '#0a6e4g', '#0a6e4f;}', '0a6e4f']) {
    assert.throws(() => checkedColour(text), refuses('colour_invalid'));
  }
});

test('branding changes in part, and the address of a logo changes with it', () => {
  const first = withBranding(fresh, { logo: logoOf(png) });
  const second = withBranding(first, { colour: '#0a6e4f' });
  assert.deepEqual(second.branding, { colour: '#0a6e4f', logo: logoOf(png) });
  const other = withBranding(second, { logo: logoOf(Buffer.concat([png, png])) });
  assert.match(logoPathOf('org_1', first.branding)!, /^\/logos\/org_1\/[0-9a-f]{16}$/);
  assert.notEqual(logoPathOf('org_1', other.branding), logoPathOf('org_1', first.branding));
  assert.equal(logoPathOf('org_1', fresh.branding), null);
});

test('a name is changed by the same rules as it was given', () => {
  assert.equal(withName(fresh, ' Atlas ').name, 'Atlas');
  assert.throws(() => withName(fresh, '\n'), refuses('name_invalid'));
  for (const act of [() => withName(close(fresh), 'Atlas'), () => withBranding(close(fresh), {})]) {
    assert.throws(act, refuses(null));
  }
});
