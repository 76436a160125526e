// Junk for requests, the same for the same seed: bytes that nobody expects, in every place of a request where bytes can stand.
// A text is Latin-1: a character is a byte.

/** Draws numbers (mulberry32): few lines, and the same everywhere. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** From 0 up to 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  oneOf<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!;
  }

  is(share: number): boolean {
    return this.next() < share;
  }
}

const utf8 = (text: string) => Buffer.from(text).toString('latin1');

const known = [
  '',
  ' ',
  '%',
  '%ff',
  '%00',
  '%E0%A4%A',
  '%c3%28',
  '%2e%2e%2f',
  '..',
  '../../etc/passwd',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '__proto__[x]',
  'metadata[__proto__]',
  'a[b][c]',
  'a[]',
  '[',
  '\0',
  '\u00e9',
  '\u00ff\u00fe',
  '\u00ed\u00a0\u0080',
  utf8('😀'),
  utf8('\u202e'),
  utf8('\u2028'),
  utf8('٠١٢'),
  utf8('İ'),
  '-1',
  '0',
  '1e400',
  '99999999999999999999',
  '-0',
  'NaN',
  'null',
  'true',
  '1',
  'mad',
  'card',
  'cash',
  'live',
  'test',
  'en',
  'ar',
  '2026-01-01',
  '2026-13-45T99:99:99Z',
  '275760-09-13',
  '4242424242424242',
  '9999-99-99',
  'https://a:b@[::1]:99999/\\',
  'http://%zz',
  'javascript:alert(1)',
  'data:,',
  '\'"<>&',
  '=cmd|x',
  ',',
  ';',
  ';=',
  'a=b; a=c',
  '"',
  'q=',
  ';q=0.',
  '*',
];

/** Headers that the service reads. */
const headerNames = [
  'Authorization',
  'Idempotency-Key',
  'X-Service-Version',
  'Accept-Language',
  'Accept-Encoding',
  'Cookie',
  'X-Forwarded-For',
  'Sec-Fetch-Site',
  'Last-Event-ID',
  'X-Service-Signature',
  'Content-Type',
  'User-Agent',
  'Expect',
  'Connection',
  'Upgrade',
  'Range',
];

const contentTypes = [
  'application/json',
  'application/json; charset=\u00ff',
  'application/x-www-form-urlencoded',
  'application/x-www-form-urlencoded; charset=utf-16',
  'application/x-www-form-urlencoded; charset=%ff',
  'multipart/form-data',
  'multipart/form-data; boundary=',
  'multipart/form-data; boundary=""',
  'multipart/form-data; boundary="a\\"',
  'multipart/form-data; boundary=\u00e9',
  'multipart/form-data; a\u00e9b',
  `multipart/form-data; boundary=${'-'.repeat(300)}`,
  'multipart/form-data; boundary=x; boundary=y',
  'multipart/form-data; boundary=x',
  'multipart/form-data;boundary="x"',
  'multipart/form-data; boundary=x\u00e9',
];

export class Junk {
  readonly chance: Chance;
  constructor(chance: Chance) {
    this.chance = chance;
  }

  /** Any bytes. */
  bytes(max: number): string {
    const length = this.chance.is(0.02) ? max : this.chance.below(Math.min(max, 40));
    return String.fromCharCode(...Array.from({ length }, () => this.chance.below(256)));
  }

  text(max = 2_000): string {
    const { chance } = this;
    if (chance.is(0.6)) return chance.oneOf(known);
    if (chance.is(0.1))
      return chance.oneOf(known).padEnd(max, chance.oneOf(['x', '0', '%', '\u00e9', '[', '/', 'a=b&']));
    if (chance.is(0.3)) return chance.oneOf(known) + chance.oneOf(known);
    return this.bytes(max);
  }

  /** Without what would end a header line; now and then with what a parser must refuse. */
  headerValue(max = 2_000): string {
    const value = this.text(max);
    return this.chance.is(0.05) ? value : [...value].filter((each) => each >= ' ').join('');
  }

  segment(): string {
    const value = encodable(this.text(300));
    return this.chance.is(0.8) ? encodeURIComponent(value) : value.replace(/[\s/?#]/g, '_');
  }

  query(names: readonly string[]): string {
    const { chance } = this;
    if (chance.is(0.5)) return '';
    const parts = Array.from({ length: 1 + chance.below(3) }, () => {
      const name = chance.is(0.8) ? chance.oneOf(names) : this.text(100);
      return `${name}=${chance.is(0.9) ? encodeURIComponent(encodable(this.text(300))) : this.text(300)}`;
    });
    return `?${parts.join('&').replace(/[\s#\0]/g, '+')}`;
  }

  /** A value of JSON that is not of the kind that is expected. */
  json(depth = 0): string {
    const { chance } = this;
    const kind = chance.below(depth > 3 ? 5 : 8);
    if (kind === 0)
      return chance.oneOf([
        'null',
        'true',
        '0',
        '-0',
        '1e400',
        '1e-400',
        '-1',
        '12345678901234567890',
        '1.5',
      ]);
    if (kind === 1)
      return chance.oneOf(['"\\ud800"', '"\\udc00\\ud800"', '"\\u0000"', '"__proto__"', '"\\u202e"', '""']);
    if (kind === 2) return `"${'x'.repeat(chance.below(6_000))}"`;
    if (kind <= 4) return JSON.stringify(this.text(300));
    if (kind === 5)
      return `[${Array.from({ length: chance.below(4) }, () => this.json(depth + 1)).join(',')}]`;
    if (kind === 6 && chance.is(0.1)) return '['.repeat(chance.below(20_000));
    return `{${Array.from({ length: chance.below(4) }, () => `${JSON.stringify(this.text(60))}:${this.json(depth + 1)}`).join(',')}}`;
  }

  /** The body of a request of the API: as it should be but for some fields, or not at all. */
  jsonBody(example: object): string {
    const { chance } = this;
    if (chance.is(0.1)) return this.chance.is(0.5) ? this.bytes(3_000) : this.json();
    const fields = Object.entries(example).map(([name, value]) => {
      if (chance.is(0.6)) return `${JSON.stringify(name)}:${JSON.stringify(value)}`;
      return `${JSON.stringify(chance.is(0.9) ? name : this.text(60))}:${this.json()}`;
    });
    if (chance.is(0.2)) fields.push(`${JSON.stringify(this.text(60))}:${this.json()}`);
    if (chance.is(0.1)) fields.push(`"__proto__":${this.json()}`);
    return `{${fields.join(',')}}`;
  }

  /** A form with these fields and some more; the values of the others are kept as they are. */
  form(names: readonly string[], kept: Readonly<Record<string, string>>): string {
    const { chance } = this;
    const fields = Object.entries(kept).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
    const more = chance.is(0.02) ? 2_000 : chance.below(8);
    for (let i = 0; i < more; i++) {
      const name = names.length > 0 && chance.is(0.9) ? chance.oneOf(names) : this.text(60);
      fields.push(
        `${name}=${chance.is(0.5) ? encodeURIComponent(encodable(this.text(300))) : this.text(300)}`,
      );
    }
    return fields.join('&');
  }

  multipart(names: readonly string[], kept: Readonly<Record<string, string>>): string {
    const { chance } = this;
    const parts = Object.entries(kept).map(
      ([name, value]) => `Content-Disposition: form-data; name="${name}"\r\n\r\n${value}`,
    );
    for (let i = chance.below(5); i > 0; i--) {
      const name = names.length > 0 && chance.is(0.8) ? chance.oneOf(names) : this.text(60);
      const file = chance.is(0.4) ? `; filename="${this.text(60)}"\r\nContent-Type: ${this.text(60)}` : '';
      parts.push(`Content-Disposition: form-data; name="${name}"${file}\r\n\r\n${this.bytes(3_000)}`);
    }
    const body = parts.map((part) => `--x\r\n${part}\r\n`).join('');
    return body + (chance.is(0.8) ? '--x--\r\n' : this.bytes(20));
  }

  /** Header lines of any kind, those in `kept` as they are. */
  headers(kept: Readonly<Record<string, string>>): string {
    const { chance } = this;
    const lines = Object.entries(kept).map(([name, value]) => `${name}: ${value}`);
    for (let i = chance.below(4); i > 0; i--) {
      const name = chance.oneOf(headerNames);
      if (Object.hasOwn(kept, name) && chance.is(0.9)) continue;
      const value =
        name === 'Content-Type'
          ? chance.oneOf(contentTypes)
          : this.headerValue(chance.is(0.05) ? 16_000 : 500);
      lines.push(`${name}: ${value}`);
    }
    if (chance.is(0.02)) lines.push(this.text(100));
    return lines.join('\r\n');
  }

  contentType(): string {
    return this.chance.oneOf(contentTypes);
  }
}

/** `encodeURIComponent` throws on half a pair; Latin-1 has none. */
function encodable(text: string): string {
  return text.replace(/[\ud800-\udfff]/g, '_');
}
