// The container file without a container: its instructions are linted and carried out in a temporary folder in place of the
// image's file system. The result is run as its user, who can write to the data only.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../temporary-folder.ts';

const root = join(import.meta.dirname, '..', '..');
const textOf = (name: string) => readFileSync(join(root, 'config', name), 'utf8');

interface Instruction {
  readonly name: string;
  readonly options: Readonly<Record<string, string>>;
  /** What follows the options. */
  readonly rest: string;
}

const instructions: readonly Instruction[] = textOf('Containerfile')
  .replace(/^#.*\n/gm, '')
  .replace(/\\\n/g, ' ')
  .split('\n')
  .filter((line) => line.trim() !== '')
  .map((line) => {
    const [, name, options, rest] = /^([A-Z]+) +((?:--[a-z-]+=\S+ +)*)(.*)$/.exec(line)!;
    const pairs = [...options!.matchAll(/--([a-z-]+)=(\S+)/g)].map(([, key, value]) => [key!, value!]);
    return { name: name!, options: Object.fromEntries(pairs), rest: rest! };
  });

const every = (name: string) => instructions.filter((instruction) => instruction.name === name);
/** The arguments of an instruction in its exec form. */
const execForm = (name: string): string[] => JSON.parse(every(name).at(-1)!.rest.replace(/^CMD /, ''));
const lastStage = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'));

test('the container file is as such files should be', () => {
  const known = 'FROM WORKDIR COPY RUN ENV USER VOLUME EXPOSE HEALTHCHECK ENTRYPOINT CMD'.split(' ');
  for (const { name } of instructions) assert.ok(known.includes(name), name);
  const images = every('FROM').map(({ rest }) => rest.split(' ')[0]!);
  assert.ok(images.length >= 2, 'what builds is not what runs');
  for (const image of images) assert.match(image, /^[a-z]+:\d+(\.\d+)*-[a-z-]+$/, 'an image has a version');
  const [user, group] = lastStage
    .find(({ name }) => name === 'USER')!
    .rest.split(':')
    .map(Number);
  assert.ok(user! >= 10_000 && group! >= 10_000, 'numbers, so that it can be seen that neither is root');
  const after = lastStage.slice(lastStage.findIndex(({ name }) => name === 'USER'));
  assert.deepEqual(
    after.filter(({ name }) => name === 'RUN' || name === 'COPY'),
    [],
    'the user changes nothing',
  );
  for (const name of ['HEALTHCHECK', 'ENTRYPOINT', 'CMD']) {
    assert.equal(every(name).length, 1);
    assert.ok(execForm(name).length > 0, 'without a shell in between, which would swallow signals');
  }
  for (const { rest } of every('RUN')) assert.doesNotMatch(rest, /\bsudo\b|curl|wget|chmod 777|npm install/);
  for (const { rest } of every('ENV')) assert.doesNotMatch(rest, /(key|secret|password|token)\w*=(?!\/)/i);
});

test('what is built goes by the lock file, and only what is copied is sent to the builder', () => {
  const copied = every('COPY')
    .filter(({ options }) => options.from === undefined)
    .flatMap(({ rest }) => rest.split(' ').slice(0, -1));
  const [first, ...sent] = textOf('Containerfile.dockerignore').trimEnd().split('\n');
  assert.equal(first, '*');
  assert.deepEqual(
    sent,
    copied.map((name) => `!${name}`),
  );
  assert.ok(copied.includes('package-lock.json'));
  assert.match(every('RUN')[0]!.rest, /^npm ci --omit=dev\b/);
  const [port] = every('EXPOSE').map(({ rest }) => Number(rest));
  assert.equal(port, JSON.parse(textOf('default.json')).port);
});

const isRoot = process.getuid?.() === 0;

interface Stage {
  /** What stands for the image's `/`. */
  readonly dir: string;
  workdir: string;
  readonly env: Record<string, string>;
}

/** A path of the image as it lies on this machine. */
const within = ({ dir, workdir }: Stage, path: string) =>
  join(dir, path.startsWith('/') ? path : join(workdir, path));

function run(stage: Stage, command: string, context: TestContext): boolean {
  // Whoever runs the tests may not give files away.
  const owned = isRoot ? command : command.replaceAll(/-[og] 10001 /g, '');
  const here = owned.replaceAll(/(?<= )\/(?=app\b|data\b)/g, `${stage.dir}/`);
  const env = { ...process.env, npm_config_prefer_offline: 'true' };
  const done = spawnSync('sh', ['-c', here], { cwd: within(stage, '.'), env, encoding: 'utf8' });
  if (/ENOTFOUND|ECONNREFUSED|EAI_AGAIN|ETIMEDOUT/.test(done.stderr)) {
    context.skip('there is no way to the packages');
    return false;
  }
  assert.equal(done.status, 0, `${command}\n${done.stdout}${done.stderr}`);
  return true;
}

function copy(from: (path: string) => string, to: Stage, rest: string): void {
  const paths = rest.split(' ');
  const target = within(to, paths.at(-1)!);
  for (const path of paths.slice(0, -1)) {
    const source = from(path);
    // A folder's content is copied, a file goes into a folder.
    const isFolder = statSync(source).isDirectory();
    cpSync(source, isFolder ? target : join(target, basename(path)), {
      recursive: true,
      verbatimSymlinks: true,
    });
  }
}

/** Carries out the instructions that make images; returns the last one, or null when packages can't be had. */
function build(context: TestContext): Stage | null {
  const dir = temporaryFolder();
  chmodSync(dir, 0o755);
  const stages = new Map<string, Stage>();
  let stage: Stage | null = null;
  for (const { name, options, rest } of instructions) {
    if (name === 'FROM') {
      const [, alias = String(stages.size)] = rest.split(' AS ');
      stage = { dir: join(dir, alias), workdir: '/', env: {} };
      mkdirSync(stage.dir);
      stages.set(alias, stage);
    }
    if (name === 'WORKDIR') {
      stage!.workdir = rest;
      mkdirSync(within(stage!, rest), { recursive: true });
    }
    if (name === 'ENV') {
      const [key, value] = rest.split(/=(.*)/);
      stage!.env[key!] = value!;
    }
    if (name === 'RUN' && !run(stage!, rest, context)) return null;
    if (name === 'COPY') {
      const source = options.from === undefined ? null : stages.get(options.from)!;
      copy((path) => (source === null ? join(root, path) : within(source, path)), stage!, rest);
    }
  }
  return stage;
}

/** Every file of the image with its time of change, but for the data. */
function contentsOf({ dir }: Stage): string[] {
  return readdirSync(join(dir, 'app'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return `${path} ${statSync(path).mtimeMs}`;
    })
    .sort();
}

test('what the container file builds runs as its user, is healthy, writes into its data alone, and stops', {
  timeout: 600_000,
}, async (context) => {
  const image = build(context);
  if (image === null) return;
  const [uid, gid] = every('USER')[0]!.rest.split(':').map(Number);
  const as = isRoot ? { uid: uid!, gid: gid! } : {};
  const key = join(image.dir, 'secrets-key');
  writeFileSync(key, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });
  if (isRoot) chownSync(key, uid!, gid!);
  const here = Object.entries(image.env).map(([name, value]) => [
    name,
    value.replaceAll(/(?<=^|:)\/(?=app\b|data\b)/g, `${image.dir}/`),
  ]);
  // No home, and no other variable of this machine.
  const env = { ...Object.fromEntries(here), PAYMENTS_SECRETS_KEY_FILE: key, PAYMENTS_PORT: '0' };
  const start = (args: readonly string[]): ChildProcess =>
    spawn(args[0]!, args.slice(1), {
      cwd: within(image, '.'),
      env,
      ...as,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  const before = contentsOf(image);
  const health = async () => {
    const child = start(execForm('HEALTHCHECK'));
    child.stdout!.resume();
    return (await once(child, 'exit'))[0];
  };
  assert.equal(await health(), 1, 'nothing runs yet');
  const service = start([...execForm('ENTRYPOINT'), ...execForm('CMD')]);
  context.after(() => service.kill('SIGKILL'));
  let output = '';
  const listening = Promise.withResolvers<void>();
  for (const stream of [service.stdout!, service.stderr!]) {
    stream.on('data', (chunk) => {
      output += chunk;
      if (output.includes('"listening on ')) listening.resolve();
    });
  }
  const ended = once(service, 'exit');
  await Promise.race([listening.promise, ended.then(() => assert.fail(output))]);
  if (isRoot) assert.equal(statSync(join(image.dir, 'data', 'operator.sock')).uid, uid);
  assert.equal(await health(), 0);
  const url = /listening on (http:[^"\s]+)/.exec(output)![1]!;
  for (const page of ['/', '/docs', '/docs/quick-start', '/docs/changelog']) {
    assert.equal((await fetch(url + page)).status, 200, page);
  }
  service.kill('SIGTERM');
  assert.deepEqual(await ended, [0, null], output);
  assert.deepEqual(contentsOf(image), before);
  assert.ok(readdirSync(join(image.dir, 'data')).includes('format.json'));
});
