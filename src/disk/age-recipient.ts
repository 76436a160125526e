// For whom backups are encrypted. Apart from the files that are encrypted: most threads read and
// write files that are not, and the library has a megabyte of sources. It is loaded for the first
// recipient, of which most services have none.

import { createRequire } from 'node:module';
import type * as Age from 'age-encryption';

const require = createRequire(import.meta.url);

/** Throws an error of one line if a recipient is not valid. */
export function checkRecipient(recipient: string): void {
  const { Encrypter }: typeof Age = require('age-encryption');
  new Encrypter().addRecipient(recipient);
}
