// Stands in for `node:fs` in the sources: the same functions, as far as they are used, on the simulated disk. Every call is
// an operation in the middle of which the process may end.

import { diskError, systemError, theMachine } from './machine.ts';
import { EnvironmentFile, Folder, type Node, PlainFile } from './volume.ts';

// What is not below is not used on the data folder by what the simulator runs.
export * from 'node:fs';

interface Descriptor {
  readonly path: string;
  readonly node: Node;
  position: number;
}

const firstDescriptor = 1000;
const descriptors = new Map<number, Descriptor>();
let lastDescriptor = firstDescriptor;

function nodeAt(path: string): Node {
  const node = theMachine().volume.find(path);
  if (node === undefined) throw systemError('ENOENT', path);
  return node;
}

function described(descriptor: number): Descriptor {
  const found = descriptors.get(descriptor);
  if (found === undefined) throw systemError('EBADF', String(descriptor));
  return found;
}

function refuseFull(): void {
  if (theMachine().volume.isFull) throw Object.assign(diskError('full'), { code: 'ENOSPC' });
}

export function existsSync(path: string): boolean {
  theMachine().step();
  return theMachine().volume.find(path) !== undefined;
}

export function mkdirSync(path: string, options: { recursive?: boolean } = {}): void {
  theMachine().step();
  const { volume } = theMachine();
  if (volume.find(path) instanceof Folder) {
    if (options.recursive) return;
    throw systemError('EEXIST', path);
  }
  const parent = path.slice(0, path.lastIndexOf('/'));
  if (options.recursive && parent !== '' && volume.find(parent) === undefined) mkdirSync(parent, options);
  refuseFull();
  volume.put(path, new Folder());
}

export function openSync(path: string, flags = 'r'): number {
  const machine = theMachine();
  machine.step();
  let node = machine.volume.find(path);
  if (flags === 'w') {
    refuseFull();
    if (node instanceof PlainFile) node.history.push(Buffer.alloc(0));
    else {
      node = new PlainFile();
      machine.volume.put(path, node);
    }
  }
  if (node === undefined) throw systemError('ENOENT', path);
  const descriptor = ++lastDescriptor;
  descriptors.set(descriptor, { path, node, position: 0 });
  return descriptor;
}

export function closeSync(descriptor: number): void {
  descriptors.delete(descriptor);
}

export function fsyncSync(descriptor: number): void {
  theMachine().step();
  theMachine().sync(described(descriptor).node);
}

export function fstatSync(descriptor: number): { readonly size: number } {
  theMachine().step();
  return { size: sizeOf(described(descriptor).node) };
}

function sizeOf(node: Node): number {
  if (node instanceof EnvironmentFile) return Math.max(node.size, 2 * 4096);
  return node instanceof PlainFile ? node.bytes.length : 4096;
}

export function readSync(
  descriptor: number,
  bytes: Buffer,
  offset: number,
  length: number,
  position: number,
): number {
  theMachine().step();
  const { node } = described(descriptor);
  if (node instanceof EnvironmentFile) return node.read(position, length).copy(bytes, offset);
  if (!(node instanceof PlainFile)) throw systemError('EISDIR', String(descriptor));
  return node.bytes.copy(bytes, offset, position, position + length);
}

/** With a position, bytes that are there are overwritten, which takes no room. */
export function writeSync(
  descriptor: number,
  content: Uint8Array | string,
  offset = 0,
  length = content.length - offset,
  position: number | null = null,
): number {
  const bytes = Buffer.from(content as string).subarray(offset, offset + length);
  if (position !== null) return overwrite(described(descriptor), bytes, position);
  theMachine().step();
  refuseFull();
  const open = described(descriptor);
  const { node } = open;
  if (!(node instanceof PlainFile)) throw systemError('EBADF', open.path);
  node.history.push(Buffer.concat([node.bytes.subarray(0, open.position), bytes]));
  open.position += bytes.length;
  return bytes.length;
}

function overwrite({ node, path }: Descriptor, bytes: Buffer, position: number): number {
  theMachine().step();
  if (!(node instanceof PlainFile)) throw systemError('EBADF', path);
  const written = Buffer.from(node.bytes);
  bytes.copy(written, position);
  node.history.push(written);
  return bytes.length;
}

interface Entry {
  readonly name: string;
  readonly parentPath: string;
  isFile(): boolean;
  isDirectory(): boolean;
}

export function readdirSync(path: string): string[];
export function readdirSync(path: string, options: { recursive?: boolean; withFileTypes: true }): Entry[];
export function readdirSync(
  path: string,
  options: { recursive?: boolean; withFileTypes?: true } = {},
): string[] | Entry[] {
  theMachine().step();
  const node = nodeAt(path);
  if (!(node instanceof Folder)) throw systemError('ENOTDIR', path);
  if (options.withFileTypes !== true) return [...node.entries.keys()];
  return [...node.entries].flatMap(([name, child]) => {
    const isFolder = child instanceof Folder;
    const entry = { name, parentPath: path, isFile: () => !isFolder, isDirectory: () => isFolder };
    const below =
      isFolder && options.recursive
        ? readdirSync(`${path}/${name}`, { recursive: true, withFileTypes: true })
        : [];
    return [entry, ...below];
  });
}

export function renameSync(from: string, to: string): void {
  theMachine().step();
  const { volume } = theMachine();
  const node = nodeAt(from);
  const [source, target] = [volume.parent(from)!, volume.parent(to)];
  if (target === undefined) throw systemError('ENOENT', to);
  if (source.folder !== target.folder) {
    volume.put(to, node);
    volume.remove(from);
    return;
  }
  source.folder.change((entries) => {
    entries.delete(source.name);
    entries.set(target.name, node);
  });
}

export function rmSync(path: string, options: { force?: boolean; recursive?: boolean } = {}): void {
  theMachine().step();
  const { volume } = theMachine();
  const node = volume.find(path);
  if (node === undefined) {
    if (options.force) return;
    throw systemError('ENOENT', path);
  }
  if (node instanceof Folder) {
    if (!options.recursive) throw systemError('EISDIR', path);
    for (const name of node.entries.keys()) rmSync(`${path}/${name}`, options);
  }
  theMachine().step();
  volume.remove(path);
}

export function statSync(path: string, options: { throwIfNoEntry?: boolean } = {}) {
  theMachine().step();
  const node = theMachine().volume.find(path);
  if (node === undefined) {
    if (options.throwIfNoEntry === false) return undefined;
    throw systemError('ENOENT', path);
  }
  const size = sizeOf(node);
  return {
    size,
    blocks: Math.ceil(size / 512),
    mtimeMs: theMachine().simulation.nowMs,
    mode: 0o700,
    dev: 1,
    ino: 1,
    uid: process.geteuid?.(),
    isDirectory: () => node instanceof Folder,
  };
}

export function statfsSync(_path: string): { readonly bavail: number; readonly bsize: number } {
  theMachine().step();
  return { bavail: theMachine().volume.hasRoom ? 1_000_000 : 0, bsize: 4096 };
}

export function accessSync(path: string): void {
  theMachine().step();
  nodeAt(path);
}

export function chmodSync(): void {}

export function readFileSync(path: string): Buffer;
export function readFileSync(path: string, encoding: 'utf8'): string;
export function readFileSync(path: string, encoding?: 'utf8'): string | Buffer {
  theMachine().step();
  const node = nodeAt(path);
  if (!(node instanceof PlainFile)) throw systemError('EISDIR', path);
  return encoding === undefined ? Buffer.from(node.bytes) : node.bytes.toString(encoding);
}

export async function* createReadStream(
  path: string,
  { highWaterMark }: { highWaterMark: number },
): AsyncGenerator<Buffer> {
  const descriptor = openSync(path);
  for (let position = 0; ; position += highWaterMark) {
    await theMachine().simulation.wait(theMachine().writeMs());
    const bytes = Buffer.alloc(Math.max(0, Math.min(highWaterMark, fstatSync(descriptor).size - position)));
    if (bytes.length === 0) break;
    readSync(descriptor, bytes, 0, bytes.length, position);
    yield bytes;
  }
  closeSync(descriptor);
}

export function writeFileSync(
  path: string,
  content: string | Uint8Array,
  options: { flush?: boolean } = {},
): void {
  const descriptor = openSync(path, 'w');
  writeSync(descriptor, content);
  if (options.flush) fsyncSync(descriptor);
  closeSync(descriptor);
}
