// Writes docs/postman.json: the part of `npm run docs` that a converter of the development dependencies makes.

import { writeFileSync } from 'node:fs';
import { postmanCollection } from './postman.ts';

const collection = await postmanCollection('https://payments.example');
writeFileSync(new URL('../docs/postman.json', import.meta.url), `${JSON.stringify(collection, null, 2)}\n`);
