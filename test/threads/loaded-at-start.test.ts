// What the service and each of its threads load when they start: packages that are large and seldom needed wait for what needs
// them, because each thread that loads one pays for it with time and memory.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';

const src = join(import.meta.dirname, '../../src');

/** By the files that start, which are loaded later or in part. */
const later = new Set([
  'marked',
  'html-entities',
  'nodemailer',
  'prom-client',
  'age-encryption',
  // What checks and compiles a schema is `typebox/schema`: with these come 150 files more.
  'typebox/compile',
  'typebox/value',
]);

/** What a file imports when it is loaded: neither types, nor what it imports while it runs. */
const staticImport = /^(?:import|export)\s+(?!type\s)(?:[^';]*\sfrom\s+)?'([^']+)'/gm;

/** The packages that come with a file, each with the file that imports it. */
function packagesOf(entry: string): Map<string, string> {
  const packages = new Map<string, string>();
  const seen = new Set<string>();
  const queue = [join(src, entry)];
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    for (const [, to] of readFileSync(file, 'utf8').matchAll(staticImport)) {
      if (/\.(ts|mjs)$/.test(to!)) queue.push(join(dirname(file), to!));
      else packages.set(to!, relative(src, file));
    }
  }
  return packages;
}

const threads = globSync('threads/*-{thread,process}.ts', { cwd: src });
const entries = ['main/payments.ts', 'main/main.ts', ...threads];

for (const entry of entries)
  test(`${entry} does not load what it seldom needs`, () => {
    const packages = packagesOf(entry);
    assert.ok(packages.size > 0);
    assert.deepEqual(
      [...packages].filter(([name]) => later.has(name)),
      [],
    );
  });
