// The checks of `payments doctor` while no service runs: the machine, and the data folder as a
// start would find it. The folder is locked meanwhile, so that no service can start on it.

import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { checkOtherFiles } from '../config/config.ts';
import type { Config } from '../config/config-schema.ts';
import type { Environment } from '../config/settings.ts';
import { shardCountOf, sizedFor } from '../config/sizing.ts';
import { folderIdOf, lookAtDataFolder, withDirectory } from '../data-folder/data-folder.ts';
import { DataFolderError } from '../data-folder/data-folder-error.ts';
import { freeBytesIn } from '../data-folder/disk-space.ts';
import { checkFolder, DirectoryBehind } from '../data-folder/folder-check.ts';
import { whileStopped, withClearErrors } from '../data-folder/folder-command.ts';
import { serviceOf } from '../data-folder/remote-stores.ts';
import { openSecretsKeys, secretsKeyFileOf } from '../data-folder/secrets-key.ts';
import { CommandFailure } from '../operator/use-cases/failures.ts';
import type { Check } from '../operator/use-cases/services.ts';
import { certificateChecks } from './certificate-checks.ts';
import { describeFolder, diskCheck, postgresqlChecks } from './doctor.ts';
import { checked, examineMachine } from './machine-checks.ts';

export async function examineStopped(config: Config, environment: Environment): Promise<readonly Check[]> {
  const { dataDir } = config;
  // A folder that does not exist yet will be on the disk of its parent.
  let place = dataDir;
  while (!existsSync(place)) place = dirname(place);
  let connectionsMax = config.connections.max;
  const settings = await check('settings', () => {
    const sized = sizedForMachine(config);
    checkOtherFiles(sized);
    secretsKeyFileOf(sized, environment);
    connectionsMax = sized.connections.max;
    return 'a start can use them';
  });
  const folder = await check('folder', () =>
    folderIdOf(dataDir) === null
      ? `there is none at ${dataDir}: the first start makes it`
      : openOnce(config, environment),
  );
  const known = folder.ok && folderIdOf(dataDir) !== null ? serviceOf(lookAtDataFolder(dataDir)) : null;
  return [
    settings,
    folder,
    diskCheck(freeBytesIn(place), []),
    ...certificateChecks(config),
    ...(await postgresqlChecks(config, known)),
    ...(await examineMachine(place, connectionsMax)),
  ];
}

/** A step of a start: its result in words, or why the start would fail. */
async function check(name: string, run: () => string | Promise<string>): Promise<Check> {
  try {
    return checked(name, null, await withClearErrors(async () => run()));
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    return checked(name, error.message, '');
  }
}

function sizedForMachine(config: Config): Config {
  return sizedFor(config, shardCountOf(config, availableParallelism()));
}

/** Opens the folder and its directory with a start's checks, and closes them again. */
async function openOnce(config: Config, environment: Environment): Promise<string> {
  return whileStopped(config.dataDir, (folder) =>
    withDirectory(folder, async (directory) => {
      const damage: string[] = [];
      const onDamage = (message: string) => void damage.push(message);
      const check = { folder, directory, acceptLoss: false, isOffline: true, warn: () => {}, onDamage };
      await checkFolder(check).catch((error) => {
        if (!(error instanceof DirectoryBehind)) throw error;
      });
      if (damage.length > 0) throw new DataFolderError(damage.join('; '));
      if (directory.keyCheckValue !== null) await openSecretsKeys(config, environment, directory);
      return describeFolder(folder);
    }),
  );
}
