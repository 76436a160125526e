// The secret keys of age with which encrypted backups and archives are opened, in a file as age-keygen writes it.

import { readFileSync } from 'node:fs';
import { DataFolderError } from '../data-folder/data-folder.ts';

export function identitiesIn(file: string): string[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  const identities = lines.map((line) => line.trim()).filter((line) => line.startsWith('AGE-SECRET-KEY-'));
  if (identities.length > 0) return identities;
  throw new DataFolderError(
    `${file} holds no secret key of age: it has lines that begin with AGE-SECRET-KEY-`,
  );
}
