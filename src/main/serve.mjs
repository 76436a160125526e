// @ts-check
// The entry of the service: the command `payments serve`, all of whose threads load sources that
// were stripped of their types once. Without this file, each of the threads would strip its own.

import { stripSources } from '../threads/stripped-sources.mjs';

await stripSources();
await import('./payments.ts');
