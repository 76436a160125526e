// `payments completion`: what the shells themselves offer after they have read it.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../temporary-folder.ts';
import { runCommandLine } from './command-line.ts';

type Complete = (script: string, words: readonly string[]) => string;
const run = (shell: string, ...args: readonly string[]) => execFileSync(shell, args, { encoding: 'utf8' });

/** What a shell offers for the last of some words. */
const shells: Readonly<Record<string, Complete>> = {
  bash: (script, words) =>
    run(
      'bash',
      '-c',
      `source ${script}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _payments; printf '%s\\n' "\${COMPREPLY[@]}"`,
      'bash',
      ...words,
    ),
  // Only zsh's own line editor calls these two; the test stands in for it.
  zsh: (script, words) =>
    run(
      'zsh',
      '-fc',
      `compdef() { }; compadd() { print -l -- "\${@[2,-1]}" }; _files() { print README.md }; source ${script}; words=("$@"); CURRENT=$#; _payments`,
      'zsh',
      ...words,
    ),
  fish: (script, words) =>
    run('fish', '--no-config', '-c', `source ${script}; complete -C "${words.join(' ')}"`),
};

const cases: readonly (readonly [line: string, offered: readonly string[], not: readonly string[]])[] = [
  ['payments ', ['org', 'wal', 'completion', 'status'], ['list', 'create']],
  ['payments org ', ['create', 'list', 'show'], ['roll', 'org']],
  ['payments --data-dir . key roll --', ['--overlap', '--json', '--data-dir'], ['--mode']],
  ['payments network set org_1 --mode ', ['test', 'live'], ['--mode', 'both']],
  ['payments completion ', ['bash', 'zsh', 'fish'], ['org']],
  ['payments verify --from README', ['README.md'], ['--json']],
];

for (const [shell, complete] of Object.entries(shells)) {
  const skip = spawnSync(shell, ['--version']).status === 0 ? false : `needs ${shell}`;
  test(`${shell} completes commands, options, choices and files`, { skip }, async () => {
    const { code, out } = await runCommandLine(['completion', shell], {});
    assert.equal(code, 0);
    const script = join(temporaryFolder(), `payments.${shell}`);
    writeFileSync(script, out);
    for (const [line, offered, not] of cases) {
      const lines = complete(script, line.split(' ')).split('\n');
      const words = lines.map((each) => each.split('\t')[0]);
      for (const word of offered) assert.ok(words.includes(word), `${line}: ${word} of ${words.join(' ')}`);
      for (const word of not) assert.ok(!words.includes(word), `${line}: not ${word}`);
    }
  });
}

test('another shell is refused with the ones there are', async () => {
  const { code, error } = await runCommandLine(['completion', 'tcsh'], {});
  assert.equal(code, 2);
  assert.match(error, /tcsh.*Allowed choices are bash, zsh, fish/);
});
