// Checks that the parts of a data folder belong together: each is in its own place, and all are from one moment. The shards and
// the directory store how far the others have come, so a part from an older backup is behind what is stored about it. A start on
// parts that don't belong together would forget payments or make revoked keys work again, so it is refused, unless the operator
// accepts the loss.

import type { Directory } from '../directory/directory.ts';
import { indexRowsOf, organizationsIn } from '../domain/indexes.ts';
import { ForeignPart } from '../journal/identity.ts';
import { type InspectedJournal, inspectJournal } from '../journal/inspect-journal.ts';
import { JournalDamaged } from '../journal/journal.ts';
import { directoryRevisionKey, readRevision } from '../shard/small-values.ts';
import { type DataFolder, DataFolderError } from './data-folder.ts';

export interface FolderCheck {
  readonly folder: DataFolder;
  readonly directory: Directory;
  /** Accept parts that are older than the rest. */
  readonly acceptLoss: boolean;
  /** Called with each loss that is accepted. */
  readonly warn: (message: string) => void;
  /** Called with what is damaged of a shard: it would stay down after a start, and the others go on. */
  readonly onDamage?: (message: string) => void;
}

/** What a shard's journal has about itself and about the directory. */
interface ShardFindings {
  readonly number: number;
  readonly checkpoint: number;
  readonly logEnd: number;
  readonly directoryRevision: number;
  readonly isWhole: boolean;
  readonly organizations: ReadonlySet<string>;
}

const namedMax = 5;

/**
 * Settles with the shards whose files were found whole: they can be opened without another check. Rejects with
 * `DataFolderError` when a part does not belong where it lies, or is older than the rest and that is not accepted.
 */
export async function checkFolder(check: FolderCheck): Promise<Set<number>> {
  const { folder, directory, acceptLoss, warn } = check;
  const accept = (loss: string) => {
    if (acceptLoss) return warn(`${loss}: this was accepted`);
    throw new DataFolderError(
      `${loss}: restore all of ${folder.path} from one backup, or give up what is missing with "payments serve --accept-loss", once`,
    );
  };
  let revision = 0;
  const organizations = new Set<string>();
  const whole = new Set<number>();
  for (let number = 0; number < folder.shards; number++) {
    const findings = await inspectShard(check, number);
    if (findings === null) continue;
    if (findings.isWhole) whole.add(number);
    await checkAge(check, findings, accept);
    revision = Math.max(revision, findings.directoryRevision);
    for (const org of findings.organizations) organizations.add(org);
  }
  if (directory.revision < revision) {
    accept(
      `${folder.directory} is older than the rest of ${folder.path}: it ends at change ${directory.revision} and ${revision} was noted`,
    );
    await directory.skipTo(revision);
  }
  for (const { id } of directory.organizations()) organizations.delete(id);
  if (organizations.size === 0) return whole;
  const named = [...organizations].slice(0, namedMax).join(', ');
  const more = organizations.size > namedMax ? ` and ${organizations.size - namedMax} more` : '';
  accept(`${folder.directory} does not know ${named}${more}, of whom there are payments`);
  await directory.restoreOrganizations(organizations);
  return whole;
}

/** Null when the shard is damaged. Then it stays down at the start, and the others go on. */
async function inspectShard(check: FolderCheck, number: number): Promise<ShardFindings | null> {
  const { folder, acceptLoss, warn, onDamage = () => {} } = check;
  const look = (journal: InspectedJournal): ShardFindings => {
    const { checkpoint, logEnd, isWhole, organizationsInLog } = journal;
    if (acceptLoss) {
      const missing = journal.acceptMissingSegment();
      if (missing !== null) warn(`${missing} is missing, the newest segment of the log: this was accepted`);
    } else {
      journal.refuseMissingSegment();
    }
    const organizations = organizationsIn((name) => checkpoint.listAfter(name));
    if (acceptLoss) for (const org of organizationsInLog()) organizations.add(org);
    const directoryRevision = readRevision(checkpoint.getSmallValue(directoryRevisionKey));
    const { sequence } = checkpoint;
    return { number, checkpoint: sequence, logEnd, directoryRevision, isWhole, organizations };
  };
  const [dir, identity] = [folder.shardDir(number), folder.shardIdentity(number)];
  try {
    return await inspectJournal({ dir, identity, indexRowsOf }, look);
  } catch (error) {
    if (error instanceof ForeignPart) throw new DataFolderError(error.message);
    if (!(error instanceof JournalDamaged)) throw error;
    onDamage(`shard ${number} would stay down: ${error.message}`);
    return null;
  }
}

async function checkAge(
  { folder, directory }: FolderCheck,
  { number, checkpoint, logEnd }: ShardFindings,
  accept: (loss: string) => void,
): Promise<void> {
  const { path, generation } = folder;
  const dir = folder.shardDir(number);
  if (logEnd < checkpoint)
    accept(`${dir}/log is older than ${dir}/state: it ends at ${logEnd} instead of ${checkpoint}`);
  const end = Math.max(logEnd, checkpoint);
  const noted = directory.notedSequence(generation, number);
  if (end >= noted) return;
  accept(`${dir} is older than the rest of ${path}: it ends at ${end} and ${noted} was noted`);
  await directory.noteSequence(generation, number, end);
}
