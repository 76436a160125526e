// Files of backups and archives: they come back as they were written, encrypted or not, and whatever was done to one shows.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { type Block, digestOfFile, readArchiveFile, writeArchiveFile } from '../../src/disk/archive-file.ts';
import { partOf, tagOf } from '../../src/disk/identity.ts';
import { JournalDamaged } from '../../src/journal/journal.ts';
import { encodeBatch } from '../../src/journal/log/codec.ts';
import {
  entriesOf,
  FiledLogReader,
  followFiles,
  logFilesIn,
  type Sequenced,
  writeLogFile,
} from '../../src/journal/log-files.ts';
import { identity, turnAt } from '../journal/journal-fixtures.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const part = partOf(identity, 'log');
const pace = async () => {};
const plain = { recipients: [], pace };
const filed = { type: 'batch', ...plain } as const;
const blocks: Block[] = Array.from({ length: 20 }, (_, i) => ({
  type: i % 3 === 0 ? 'rows' : 'batch',
  bytes: Buffer.alloc(i * 10_000, i + 1),
}));

async function read(
  path: string,
  options: { identities?: readonly string[]; sha256?: string } = {},
): Promise<Block[]> {
  const found: Block[] = [];
  for await (const { type, bytes } of readArchiveFile(path, part, { identities: [], ...options }))
    found.push({ type, bytes: Buffer.from(bytes) });
  return found;
}

function write(context: TestContext, recipients: readonly string[] = []) {
  return writeArchiveFile(temporaryFolder(context), () => 'some.log', part, blocks, { recipients, pace });
}

test('a file comes back as it was written', async (context) => {
  const { path, bytes, sha256 } = await write(context);
  assert.equal(readFileSync(path).length, bytes);
  assert.equal(await digestOfFile(path, pace), sha256);
  assert.deepEqual(await read(path, { sha256 }), blocks);
});

test('an encrypted file opens for each of its recipients and shows nothing to others', async (context) => {
  const [first, second, other] = await Promise.all([1, 2, 3].map(() => generateX25519Identity()));
  const recipients = await Promise.all([first!, second!].map((each) => identityToRecipient(each)));
  const { path, sha256 } = await write(context, recipients);
  assert.match(path, /some\.log\.age$/);
  assert.equal(readFileSync(path).indexOf(Buffer.alloc(100, 5)), -1);
  for (const key of [first!, second!])
    assert.deepEqual(await read(path, { identities: [key], sha256 }), blocks);
  await assert.rejects(read(path, { identities: [other!] }), {
    name: 'JournalDamaged',
    message: /can't be decrypted/,
  });
  await assert.rejects(read(path), { message: /is encrypted: name the file with its age identity/ });
});

test('a file that was changed anywhere, cut short or made longer is refused, with its place', async (context) => {
  const { path } = await write(context);
  const sound = readFileSync(path);
  for (let at = 0; at < sound.length; at += Math.floor(sound.length / 40)) {
    const changed = Buffer.from(sound);
    changed[at]! ^= 1;
    writeFileSync(path, changed);
    await assert.rejects(read(path), (error: Error) => error.message.includes(path), `changed at ${at}`);
    writeFileSync(path, sound.subarray(0, at));
    await assert.rejects(read(path), /some\.log is damaged at byte \d+: it is cut short/, `cut at ${at}`);
  }
  writeFileSync(path, Buffer.concat([sound, Buffer.of(0)]));
  await assert.rejects(read(path), /it goes on after its end/);
  writeFileSync(path, sound);
  await assert.rejects(
    read(path, { sha256: '0'.repeat(64) }),
    /its SHA-256 is [0-9a-f]{64} instead of 0{64}/,
  );
});

test('an encrypted file that was changed is refused, with its place', async (context) => {
  const key = await generateX25519Identity();
  const { path } = await write(context, [await identityToRecipient(key)]);
  const bytes = readFileSync(path);
  bytes[bytes.length - 1_000]! ^= 1;
  writeFileSync(path, bytes);
  await assert.rejects(
    read(path, { identities: [key] }),
    /is damaged at byte \d+: it can't be decrypted from here on/,
  );
});

test('a file of another part is told', async (context) => {
  const { path } = await write(context);
  const other = readArchiveFile(path, partOf(identity, 'state'), { identities: [] });
  await assert.rejects(other.next(), { name: 'ForeignPart' });
});

test('a file that could not be written to its end does not get its name', async (context) => {
  const folder = temporaryFolder(context);
  const failing = (function* () {
    yield blocks[1]!;
    throw new Error('no more');
  })();
  await assert.rejects(
    writeArchiveFile(folder, () => 'some.log', part, failing, plain),
    /no more/,
  );
  assert(!existsSync(`${folder}/some.log`));
});

/** Batches of three entries each, as they lie in the log. */
async function* batches(first: number, count: number): AsyncGenerator<Sequenced> {
  for (let i = 0; i < count; i++) {
    const firstSequence = first + 3 * i;
    const { bytes } = encodeBatch(turnAt(firstSequence, 3), tagOf(identity), 1);
    yield { firstSequence, lastSequence: firstSequence + 2, bytes };
  }
}

async function sequencesIn(folder: string, after: number, neededAfter = after): Promise<number[]> {
  const found: number[] = [];
  const source = { files: logFilesIn(folder), part, identities: [] };
  for await (const batch of followFiles(source, tagOf(identity), after, neededAfter))
    found.push(...entriesOf(batch, after).map(({ sequence }) => sequence));
  return found;
}

test('the log goes on from file to file, and what two of them hold counts once', async (context) => {
  const folder = temporaryFolder(context);
  for (const [first, count] of [
    [1, 2],
    [4, 2],
    [10, 1],
  ] as const)
    await writeLogFile(folder, part, batches(first, count), filed);
  assert.deepEqual(
    readdirSync(folder).sort(),
    ['1-6', '4-9', '10-12'].map(
      (range) =>
        `${range
          .split('-')
          .map((each) => each.padStart(16, '0'))
          .join('-')}.log`,
    ),
  );
  assert.deepEqual(await sequencesIn(folder, 0), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  assert.deepEqual(await sequencesIn(folder, 7), [8, 9, 10, 11, 12]);
});

test('a file of the log has a size, and the next one goes on where it ends', async (context) => {
  const folder = temporaryFolder(context);
  const source = batches(1, 4);
  let files = 0;
  while ((await writeLogFile(folder, part, source, { ...filed, bytesMax: 1 })) !== null) files++;
  assert.equal(files, 4);
  assert.deepEqual(await sequencesIn(folder, 0), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
});

test('what is missing between two files is told, unless it is held elsewhere', async (context) => {
  const folder = temporaryFolder(context);
  await writeLogFile(folder, part, batches(1, 1), filed);
  await writeLogFile(folder, part, batches(7, 1), filed);
  await assert.rejects(sequencesIn(folder, 0), /goes on at sequence 7: 4 to 6 are in no file/);
  assert.deepEqual(await sequencesIn(folder, 0, 6), [1, 2, 3, 7, 8, 9]);
});

test('a batch that is shorter than its header is damage, wherever it was cut', async (context) => {
  for (const length of [0, 39, 40, 69, 70, 77]) {
    const folder = temporaryFolder(context);
    const bytes = encodeBatch(turnAt(1, 3), tagOf(identity), 1).bytes.subarray(0, length);
    const source = async function* () {
      yield { firstSequence: 1, lastSequence: 3, bytes };
    };
    await writeLogFile(folder, part, source(), filed);
    const defect = `it has ${length} bytes, fewer than its header`;
    await assert.rejects(sequencesIn(folder, 0), (error) => {
      assert(error instanceof JournalDamaged);
      return error.message.endsWith(`is damaged at sequence 1: ${defect}`);
    });
    const found = [];
    for await (const each of new FiledLogReader('log', identity, logFilesIn(folder), []).read())
      found.push('defect' in each ? each.defect : each);
    assert.deepEqual(found, [`the batch after 0: ${defect}`]);
  }
});
