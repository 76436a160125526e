// The `payments` command as a process of its own, on a data folder, and the shell blocks of a page of the documents.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';

const root = join(import.meta.dirname, '../..');
const entry = join(root, 'src/main/payments.ts');

/** For a shell that runs blocks of the documents: `npx payments` takes a quarter of the time that it takes by npm. */
export const pathOfShell = `${join(import.meta.dirname, 'bin')}:${process.env.PATH}`;

const endedAfterMs = 300_000;

type Variables = Readonly<Record<string, string>>;

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly error: string;
}

/** Runs a command line until it ends. */
export function payments(...args: readonly string[]): Promise<Ended> {
  return paymentsWith({ PAYMENTS_LOG_LEVEL: 'silent' }, ...args);
}

/** The same with more environment variables, and with a log. */
export function paymentsWith(variables: Variables, ...args: readonly string[]): Promise<Ended> {
  return run(process.execPath, [entry, ...args], variables);
}

/** A block of a page of the documents that is fenced by three backquotes. */
interface Block {
  /** The heading that it is below, with its number signs. */
  readonly heading: string;
  /** `sh` for commands, `text` for anything else. */
  readonly language: string;
  readonly text: string;
}

/** All blocks of a page. */
export function blocksOf(page: string): Block[] {
  const text = readFileSync(join(root, page), 'utf8');
  const found: Block[] = [];
  let heading = '';
  for (const [, title, language, block] of text.matchAll(/^(#+ .+)$|^```(.*)\n([\s\S]*?)^```$/gm)) {
    if (title !== undefined) heading = title;
    else found.push({ heading, language: language!, text: block! });
  }
  return found;
}

/** Runs the block of commands below a heading of a page as a user who pastes it. */
export function pasteBlock(page: string, heading: string, variables: Variables): Promise<Ended> {
  const block = blocksOf(page).find((each) => each.heading === heading && each.language === 'sh');
  return run('bash', ['-euo', 'pipefail', '-c', block!.text], { PATH: pathOfShell, ...variables });
}

async function run(program: string, args: readonly string[], variables: Variables): Promise<Ended> {
  const child = spawn(program, args, {
    cwd: root,
    env: { ...process.env, NODE_ENV: 'test', ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A start that is not refused would run on.
    timeout: endedAfterMs,
    killSignal: 'SIGKILL',
  });
  const [out, error, [code]] = await Promise.all([
    textOf(child.stdout),
    textOf(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  return { code, out, error };
}
