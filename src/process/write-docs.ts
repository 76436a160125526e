// The command that writes the pages of docs/ that are derived from the contract: `npm run docs`. A test compares them
// with what this writes into another folder, named as the argument.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errorsPageMarkdown } from '../contract/errors/page.ts';
import { openapiDocument } from '../contract/openapi/document.ts';

/** Stands for the address of a service, which each installation has its own of. */
const baseUrl = 'https://payments.example';

const folder = process.argv[2] ?? fileURLToPath(new URL('../../docs', import.meta.url));
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'openapi.json'), `${JSON.stringify(openapiDocument(baseUrl), null, 2)}\n`);
writeFileSync(join(folder, 'errors.md'), errorsPageMarkdown());
