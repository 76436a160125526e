// Rolls the key that seals signing secrets, members' authenticator apps, credentials of networks,
// and mails that wait, while no service runs. The new key is added to the key file before anything
// is sealed with it, and the old keys are removed from the file when nothing needs them any more.
// So when the process is killed, the keys in the file open everything, and the command can be run
// again.

import type { Config } from '../config/config-schema.ts';
import type { Environment } from '../config/settings.ts';
import { elementAt } from '../core/assert.ts';
import { idOfKey, newSecretsKey, SecretBox } from '../crypto/secret-box.ts';
import type { Directory } from '../directory/directory.ts';
import { totpOwner } from '../directory/members.ts';
import { endpointIndex } from '../domain/indexes.ts';
import type { WebhookEndpointRecord } from '../domain/record.ts';
import { openJournal } from '../journal/open-journal.ts';
import { type EncodedRecord, encodeRecord } from '../journal/stopped-journal.ts';
import { MailOutbox } from '../mail/outbox.ts';
import { mapSealed, ownerOfSetting } from '../networks/connectors.ts';
import type { SecretsKeyRolled } from '../operator/results/folder-results.ts';
import { type DataFolder, journalOf, noteLayouts, shardNumbers, withDirectory } from './data-folder.ts';
import { checkFolder } from './folder-check.ts';
import { commandWhileStopped, warn } from './folder-command.ts';
import { refuseMirror } from './mirrored-directory.ts';
import { completeCheckpoint } from './reshard.ts';
import { openSecretsKeys, putKeyCheckValue, secretsKeyFileOf, writeKeyFile } from './secrets-key.ts';

/** Carries out `payments secrets roll-key`. Throws `CommandFailure`. */
export function rollSecretsKey(config: Config, environment: Environment): Promise<SecretsKeyRolled> {
  return commandWhileStopped(config.dataDir, 'secrets.roll', {}, async (folder) => {
    await refuseMirror(folder, 'command');
    return withDirectory(folder, (directory) => rollIn(folder, directory, config, environment));
  });
}

async function rollIn(
  folder: DataFolder,
  directory: Directory,
  config: Config,
  environment: Environment,
): Promise<SecretsKeyRolled> {
  await checkFolder({ folder, directory, acceptLoss: false, warn });
  noteLayouts(folder);
  const file = secretsKeyFileOf(config, environment);
  const old = await openSecretsKeys(config, environment, directory);
  const keys = [newSecretsKey(), ...old];
  // Earlier backups need the old keys.
  const kept = `${file}.${idOfKey(elementAt(old, 0))}`;
  writeKeyFile(kept, old);
  writeKeyFile(file, keys);
  const box = new SecretBox(keys);
  let secrets = 0;
  for (const number of shardNumbers(folder)) secrets += await reseal(folder, number, box);
  secrets += await resealApps(directory, box);
  secrets += await resealConnectors(directory, box);
  secrets += await new MailOutbox(directory.store, box).reseal();
  await putKeyCheckValue(directory, keys);
  writeKeyFile(file, keys.slice(0, 1));
  return { key: box.keyId, secrets, file, kept };
}

/** Reseals the secrets of the members' authenticator apps. Returns how many there are. */
async function resealApps({ members }: Directory, box: SecretBox): Promise<number> {
  let secrets = 0;
  for (const { id, totp } of members.all()) {
    if (totp === null) continue;
    const sealed = box.seal(box.open(totp.sealed, totpOwner(id)), totpOwner(id));
    await members.change(id, (member) => ({ ...member, totp: { ...totp, sealed } }));
    secrets++;
  }
  return secrets;
}

/** The same for the credentials of payment networks. */
async function resealConnectors(directory: Directory, box: SecretBox): Promise<number> {
  let secrets = 0;
  for (const { id, connectors } of directory.organizations()) {
    const before = secrets;
    const resealed = mapSealed(connectors, (sealed, mode, connector, setting) => {
      secrets++;
      const owner = ownerOfSetting(id, mode, connector, setting);
      return box.seal(box.open(sealed, owner), owner);
    });
    if (secrets === before) continue;
    await directory.changeOrganization(id, (organization) => ({ ...organization, connectors: resealed }));
  }
  return secrets;
}

/** The same for the signing secrets of a shard. */
async function reseal(folder: DataFolder, number: number, box: SecretBox): Promise<number> {
  const journal = await openJournal(journalOf(folder, number));
  try {
    const { checkpoint } = journal;
    // After this the log's records, which have the old seals, are not replayed again.
    await completeCheckpoint(journal);
    const records: EncodedRecord[] = [];
    let secrets = 0;
    for (const id of checkpoint.scan(endpointIndex, { descending: false })) {
      const endpoint = checkpoint.get(id) as WebhookEndpointRecord;
      const resealed = endpoint.secrets.map(({ sealed, expires_at_ms }) => ({
        sealed: box.seal(box.open(sealed, endpoint), endpoint),
        expires_at_ms,
      }));
      records.push(encodeRecord({ ...endpoint, secrets: resealed }));
      secrets += resealed.length;
    }
    await checkpoint.write({ records, sequence: checkpoint.sequence, idempotencyRecords: [] });
    return secrets;
  } finally {
    await journal.close();
  }
}
