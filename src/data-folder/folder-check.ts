// Checks that the parts of a data folder belong together: each is in its own place, and all are
// from one moment. The shards store how far the directory has come, and it is noted how far the
// shards have (sequence-notes.ts), so a part from an older backup is behind what is known about it.
// A start on parts that don't belong together would forget payments or make revoked keys work
// again, so it is refused, unless the operator accepts the loss.

import type { Directory } from '../directory/directory.ts';
import { ForeignPart } from '../disk/identity.ts';
import { organizationsIn } from '../domain/indexes.ts';
import { JournalDamaged } from '../journal/journal.ts';
import { isMirror } from '../journal/open-journal.ts';
import { type InspectedJournal, inspectJournal } from '../journal/stopped-journal.ts';
import { directoryRevisionKey, readRevision } from '../shard/metadata.ts';
import { type DataFolder, journalOf, shardDirsOf } from './data-folder.ts';
import { DataFolderError } from './data-folder-error.ts';
import { type Ends, type NotedEnd, readEnds } from './sequence-notes.ts';

interface FolderCheck {
  readonly folder: DataFolder;
  readonly directory: Directory;
  /** Accept parts that are older than the rest. */
  readonly acceptLoss: boolean;
  /** No service is started: a mirror was not brought up to date with PostgreSQL. */
  readonly isOffline?: boolean;
  /** The shards whose files this process has checked before, while it stood by. */
  readonly checked?: ReadonlySet<number>;
  /** Called with each loss that is accepted. */
  readonly warn: (message: string) => void;
  /** Hears why a shard would stay down after a start. Then its log is read as a start would. */
  readonly onDamage?: (message: string) => void;
}

/** What a shard's journal has about itself and about the directory. */
interface ShardFindings {
  readonly number: number;
  readonly checkpoint: number;
  readonly logEnd: number;
  /** What the log and the checkpoint together come to. */
  readonly end: NotedEnd;
  /** The log has another batch than the one that was noted. */
  readonly isOther: boolean;
  readonly directoryRevision: number;
  readonly isWhole: boolean;
  readonly organizations: ReadonlySet<string>;
}

/** The directory of a mirror lacks what PostgreSQL has. Everything else was checked. */
export class DirectoryBehind extends DataFolderError {}

const namedMax = 5;

interface CheckedFolder {
  /** The shards whose files were found whole: they can be opened without another check. */
  readonly whole: Set<number>;
  /** How far each shard has come; of a damaged shard, what was noted. */
  readonly ends: Ends;
}

/** Rejects with `DataFolderError` when a part is misplaced, or older and that is not accepted. */
export async function checkFolder(check: FolderCheck): Promise<CheckedFolder> {
  const { folder, directory, acceptLoss, isOffline = false, warn } = check;
  const accept = (loss: string) => {
    if (acceptLoss) return warn(`${loss}: this was accepted`);
    throw new DataFolderError(
      `${loss}: restore all of ${folder.path} from one backup, or give up what is missing with "payments serve --accept-loss", once`,
    );
  };
  // Only the node with the lease keeps its directory up to date.
  const isKept = !isOffline || !shardDirsOf(folder).some(isMirror);
  const acceptOfDirectory = (loss: string) => {
    if (isKept) return accept(loss);
    throw new DirectoryBehind(`${loss}: PostgreSQL has it, and the folder of the node that had the lease`);
  };
  let revision = 0;
  const organizations = new Set<string>();
  const whole = new Set<number>();
  const ends = notedEnds(check);
  for (const [number, noted] of ends.entries()) {
    const findings = await inspectShard(check, number, noted);
    if (findings === null) continue;
    if (findings.isWhole) whole.add(number);
    checkAge(folder, findings, noted, accept);
    ends[number] = findings.end;
    revision = Math.max(revision, findings.directoryRevision);
    for (const org of findings.organizations) organizations.add(org);
  }
  if (directory.revision < revision) {
    acceptOfDirectory(
      `${folder.directory} is older than the rest of ${folder.path}: it ends at change ${directory.revision} and ${revision} was noted`,
    );
    await directory.store.skipTo(revision);
  }
  for (const { id } of directory.organizations()) organizations.delete(id);
  if (organizations.size === 0) return { whole, ends };
  const named = [...organizations].slice(0, namedMax).join(', ');
  const more = organizations.size > namedMax ? ` and ${organizations.size - namedMax} more` : '';
  acceptOfDirectory(`${folder.directory} does not know ${named}${more}, of whom there are payments`);
  await directory.restoreOrganizations(organizations);
  return { whole, ends };
}

function notedEnds({ folder, warn }: FolderCheck): (NotedEnd | null)[] {
  const noted = readEnds(folder);
  if (noted !== null) return [...noted];
  warn(
    `what was noted in ${folder.path} of its shards can't be read, so an older shard would not be noticed now`,
  );
  return Array.from({ length: folder.shards }, () => null);
}

/** Null when the shard is damaged. Then it stays down at the start, and the others go on. */
async function inspectShard(
  check: FolderCheck,
  number: number,
  noted: NotedEnd | null,
): Promise<ShardFindings | null> {
  const { folder, acceptLoss, checked, warn, onDamage } = check;
  const look = async (journal: InspectedJournal): Promise<ShardFindings> => {
    if (onDamage !== undefined) await journal.readLog();
    const { checkpoint, logEnd, isWhole, organizationsInLog } = journal;
    if (acceptLoss) {
      const missing = journal.acceptMissingSegment();
      if (missing !== null) warn(`${missing} is missing, the newest segment of the log: this was accepted`);
    } else {
      journal.refuseMissingSegment();
    }
    journal.refuseDamagedEnd();
    const organizations = organizationsIn((name) => checkpoint.listAfter(name));
    if (acceptLoss || onDamage !== undefined) for (const org of organizationsInLog()) organizations.add(org);
    const directoryRevision = readRevision(checkpoint.getMetadata(directoryRevisionKey));
    const { sequence: notedAt = 0, checksum: expected = null } = noted ?? {};
    const found = expected === null ? undefined : journal.checksumAt(notedAt);
    const isOther = found !== undefined && found !== expected;
    const { sequence } = checkpoint;
    if (acceptLoss && logEnd < sequence) await journal.acceptShortLog();
    const last = Math.max(logEnd, sequence);
    const end = { sequence: last, checksum: journal.checksumAt(last) ?? null };
    return { number, checkpoint: sequence, logEnd, end, isOther, directoryRevision, isWhole, organizations };
  };
  const isChecked = checked?.has(number) ?? false;
  try {
    return await inspectJournal({ ...journalOf(folder, number), isChecked }, look);
  } catch (error) {
    if (error instanceof ForeignPart) throw new DataFolderError(error.message);
    if (!(error instanceof JournalDamaged)) throw error;
    onDamage?.(`shard ${number} would stay down: ${error.message}`);
    return null;
  }
}

function checkAge(
  { path, shardDir }: DataFolder,
  { number, checkpoint, logEnd, end, isOther }: ShardFindings,
  noted: NotedEnd | null,
  accept: (loss: string) => void,
): void {
  const dir = shardDir(number);
  if (logEnd < checkpoint)
    accept(`${dir}/log is older than ${dir}/state: it ends at ${logEnd} instead of ${checkpoint}`);
  if (noted === null) return;
  if (end.sequence < noted.sequence)
    accept(
      `${dir} is older than the rest of ${path}: it ends at ${end.sequence} and ${noted.sequence} was noted`,
    );
  else if (isOther)
    accept(
      `${dir} is not the one that was last used in ${path}: its entry ${noted.sequence} is not the one that was noted`,
    );
}
