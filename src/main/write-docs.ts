// `npm run docs` writes the pages of docs/ that are derived from the contract and the settings. A
// test compares them with those that this command writes into another folder, its argument.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { settingsPageMarkdown } from '../config/settings-page.ts';
import { errorsPageMarkdown } from '../contract/errors/page.ts';
import { openapiDocument } from '../contract/openapi/document.ts';
import { httpContractDocument } from '../networks/http-openapi.ts';

/** An example of the address of an installation. */
const baseUrl = 'https://payments.example';

const pathOf = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const folder = process.argv[2] ?? pathOf('docs');
mkdirSync(join(folder, 'networks'), { recursive: true });
writeFileSync(join(folder, 'openapi.json'), `${JSON.stringify(openapiDocument(baseUrl), null, 2)}\n`);
writeFileSync(join(folder, 'errors.md'), errorsPageMarkdown());
writeFileSync(join(folder, 'settings.md'), settingsPageMarkdown(pathOf('config')));
const contract = `${JSON.stringify(httpContractDocument(), null, 2)}\n`;
writeFileSync(join(folder, 'networks', 'http-openapi.json'), contract);
