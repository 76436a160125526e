// Writes docs/coverage.md: the part of `npm run docs` that comes from the tests.

import { writeFileSync } from 'node:fs';
import { coverageMarkdown } from './coverage.ts';

writeFileSync(new URL('../docs/coverage.md', import.meta.url), coverageMarkdown());
