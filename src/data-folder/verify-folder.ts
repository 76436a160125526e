// `payments verify` checks that everything in a data folder matches, while no service runs on it:
// the parts of the folder, the directory, and each shard (verify-shard.ts). It only reads. A
// restored folder is checked in the same way, before a service starts on it.

import type { Directory } from '../directory/directory.ts';
import { ForeignPart } from '../disk/identity.ts';
import { JournalDamaged } from '../journal/journal.ts';
import { readStoppedJournal } from '../journal/stopped-journal.ts';
import type { Finding, ReportProgress, Verification } from '../operator/results/folder-results.ts';
import { type DataFolder, journalOf, openDirectory, shardNumbers } from './data-folder.ts';
import { DataFolderError } from './data-folder-error.ts';
import { checkFolder, DirectoryBehind } from './folder-check.ts';
import { whileStopped, withClearErrors } from './folder-command.ts';
import { type Subject, verifyShard } from './verify-shard.ts';

/** Further findings are counted but not listed. */
const listedMax = 1_000;

const restore = 'restore the data folder from a backup that verifies';

/** What to do about a finding. */
const advice: Readonly<Record<Subject | 'folder', string>> = {
  record: `look the payment up at its network and in the merchant's books, and correct it there; or ${restore}`,
  event: 'the merchant may not know of this change: compare with their books',
  total: 'the payments are sound, and the sums that the dashboard shows of a day are not',
  index: 'the records are sound: "payments export" and "payments import" make a folder with a right index',
  response:
    'a retry with such a key is refused with api_error and not run again until 24 hours after its first use',
  damage: restore,
  place: restore,
  folder: restore,
};

/** Throws `CommandFailure`, one clear line, when the folder can't be checked. */
export function verifyDataFolder(dataDir: string, onProgress: ReportProgress): Promise<Verification> {
  return withClearErrors(() => whileStopped(dataDir, (folder) => verifyFolder(folder, onProgress)));
}

/** Verifies a folder that this process has locked. */
export async function verifyFolder(folder: DataFolder, onProgress: ReportProgress): Promise<Verification> {
  const findings: Finding[] = [];
  let unlisted = 0;
  const onFinding = (finding: Finding) => {
    if (findings.length < listedMax) findings.push(finding);
    else unlisted++;
  };
  const total = { records: 0, events: 0, responses: 0 };
  const directory = await verifyDirectory(folder, onFinding);
  try {
    for (const number of shardNumbers(folder)) {
      const verified = await verifyOne(folder, number, directory, onFinding, onProgress);
      total.records += verified.records;
      total.events += verified.events;
      total.responses += verified.responses;
    }
  } finally {
    await directory?.closeStore();
  }
  return { folder: folder.path, id: folder.id, shards: folder.shards, ...total, findings, unlisted };
}

/**
 * Opens the directory, if it can be read; the parts of the folder must belong together. Null where
 * it need not know every organization.
 */
async function verifyDirectory(
  folder: DataFolder,
  onFinding: (finding: Finding) => void,
): Promise<Directory | null> {
  const wrong = (check: string, message: string) =>
    onFinding({ shard: null, object: null, check, what: message, advice: advice.folder });
  let directory: Directory | null = null;
  try {
    directory = openDirectory(folder);
    await checkFolder({ folder, directory, acceptLoss: false, isOffline: true, warn: () => {} });
  } catch (error) {
    if (error instanceof DirectoryBehind) {
      await directory?.closeStore();
      return null;
    }
    if (error instanceof JournalDamaged) wrong('directory.readable', error.message);
    else if (error instanceof DataFolderError) wrong('folder.parts', error.message);
    else throw error;
  }
  return directory;
}

async function verifyOne(
  folder: DataFolder,
  number: number,
  directory: Directory | null,
  onFinding: (finding: Finding) => void,
  onProgress: ReportProgress,
) {
  const { shards } = folder;
  const known = new Set(directory?.organizations().map(({ id }) => id));
  try {
    return await readStoppedJournal(journalOf(folder, number), (journal) =>
      verifyShard({
        journal,
        number,
        shards,
        knowsOrganization: (org) => directory === null || known.has(org),
        onFinding: ({ subject, ...found }) => onFinding({ ...found, shard: number, advice: advice[subject] }),
        onProgress: (what, done, all) => onProgress(`shard ${number + 1} of ${shards}: ${what}`, done, all),
      }),
    );
  } catch (error) {
    if (!(error instanceof JournalDamaged)) throw error;
    const check = error instanceof ForeignPart ? 'shard.place' : 'shard.readable';
    onFinding({ shard: number, object: null, check, what: error.message, advice: advice.damage });
    return { records: 0, events: 0, responses: 0 };
  }
}
