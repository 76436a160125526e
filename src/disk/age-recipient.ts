// For whom backups are encrypted. Apart from the files that are encrypted: most threads read and
// write files that are not, and the library has a megabyte of sources.

import { Encrypter } from 'age-encryption';

/** Throws an error of one line if a recipient is not valid. */
export function checkRecipient(recipient: string): void {
  new Encrypter().addRecipient(recipient);
}
