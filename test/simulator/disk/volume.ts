// The simulated disk: folders, files, and the environments of the storage library, with what a power cut leaves of them.
//
// Everything has a history: the state that is on disk for certain, then the states that were written since and are not
// synced. The last one is what the machine's memory shows. A sync leaves the last one only. A power cut leaves any one of
// them, chosen for each folder and file apart: so unsynced writes are lost, and writes to different files are reordered. A
// plain file may be torn besides. A process that is killed loses nothing that was written.

import type { Random } from '../kernel/random.ts';
import { type Contents, emptyContents, firstBytes, pagesOf } from './contents.ts';

/** What hits a disk operation, as the service sees it. */
export type DiskFault = 'io-error' | 'full';

/** The machine or the process ends in the middle of an operation: whatever calls the disk meanwhile gets this. */
export class MachineDown extends Error {
  override name = 'MachineDown';
}

export class Folder {
  history: ReadonlyMap<string, Node>[] = [new Map()];

  get entries(): ReadonlyMap<string, Node> {
    return this.history.at(-1)!;
  }

  change(change: (entries: Map<string, Node>) => void): void {
    const entries = new Map(this.entries);
    change(entries);
    this.history.push(entries);
  }
}

/** A plain file. */
export class PlainFile {
  history: Buffer[] = [Buffer.alloc(0)];

  get bytes(): Buffer {
    return this.history.at(-1)!;
  }
}

/** The file of an environment. */
export class EnvironmentFile {
  history: Contents[] = [emptyContents];
  /** The length of the file, which may be longer than what is used. */
  size = 0;
  /** Handles that are open. */
  handles = 0;
  /** A commit has failed: the library refuses everything until all handles are closed. */
  isPoisoned = false;
  /** Another process has opened it while the newest commit was made: to the library there is none. */
  isBehind = false;
  #before: Contents = emptyContents;

  get contents(): Contents {
    return this.history.at(-1)!;
  }

  /** What a transaction begins from. */
  get base(): Contents {
    return this.isBehind ? this.#before : this.contents;
  }

  /** A transaction is written; not synced yet. */
  write(contents: Contents): void {
    this.#before = this.contents;
    this.isBehind = false;
    this.history.push(contents);
    this.size = Math.max(this.size, pagesOf(contents) * 4096);
  }

  /** What someone who looks at the bytes of the file finds: two header pages, of an environment without any page. */
  read(position: number, length: number): Buffer {
    const bytes = Buffer.alloc(length);
    firstBytes(this.contents).copy(bytes, 0, position, position + length);
    return bytes;
  }
}

export type Node = Folder | PlainFile | EnvironmentFile;

/** What the machine’s memory shows of it now, on another disk, all of it synced. */
export function copyOf(node: Node): Node {
  if (node instanceof Folder) {
    const copy = new Folder();
    copy.history = [new Map([...node.entries].map(([name, child]) => [name, copyOf(child)]))];
    return copy;
  }
  if (node instanceof PlainFile) {
    const copy = new PlainFile();
    copy.history = [node.bytes];
    return copy;
  }
  const copy = new EnvironmentFile();
  copy.history = [node.contents];
  copy.size = node.size;
  return copy;
}

export class Volume {
  root = new Folder();
  /** Nothing more can be written. */
  isFull = false;
  /** So little can be written that whoever looks takes it for full. */
  isLow = false;

  get hasRoom(): boolean {
    return !this.isFull && !this.isLow;
  }

  find(path: string): Node | undefined {
    let node: Node | undefined = this.root;
    for (const name of namesIn(path)) {
      if (!(node instanceof Folder)) return undefined;
      node = node.entries.get(name);
    }
    return node;
  }

  /** The folder that `path` lies in, and its name there. */
  parent(path: string): { readonly folder: Folder; readonly name: string } | undefined {
    const names = namesIn(path);
    const name = names.pop();
    const folder = this.find(`/${names.join('/')}`);
    return name !== undefined && folder instanceof Folder ? { folder, name } : undefined;
  }

  /** What would not survive a power cut of what lies at a path: its name in its folder, or something in it. */
  unsyncedAt(path: string): string | null {
    const { folder, name } = this.parent(path)!;
    return unsyncedIn(folder, name, path);
  }

  put(path: string, node: Node): void {
    const place = this.parent(path);
    if (place === undefined) throw Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' });
    place.folder.change((entries) => entries.set(place.name, node));
  }

  remove(path: string): void {
    const place = this.parent(path);
    place?.folder.change((entries) => entries.delete(place.name));
  }

  /** Every environment and its path. */
  environments(): { readonly path: string; readonly file: EnvironmentFile }[] {
    const found: { path: string; file: EnvironmentFile }[] = [];
    const visit = (path: string, node: Node): void => {
      if (node instanceof EnvironmentFile) found.push({ path, file: node });
      else if (node instanceof Folder)
        for (const [name, child] of node.entries) visit(`${path}/${name}`, child);
    };
    visit('', this.root);
    return found;
  }

  /** The process ends: nothing is open any more. */
  release(): void {
    for (const { file } of this.environments()) {
      file.handles = 0;
      file.isPoisoned = false;
    }
  }

  /** The power fails: of each folder and file one of its unsynced states is left. `onLost` hears of those that lose something. */
  cutPower(random: Random, onLost: (path: string) => void): number {
    let lost = 0;
    const settle = <T>(path: string, node: { history: T[] }): T => {
      const at = random.below(node.history.length);
      if (at < node.history.length - 1) {
        lost++;
        onLost(path);
      }
      const left = node.history[at]!;
      node.history = [left];
      return left;
    };
    const visit = (path: string, node: Node): void => {
      if (node instanceof Folder)
        for (const [name, child] of settle<ReadonlyMap<string, Node>>(path, node))
          visit(`${path}/${name}`, child);
      else if (node instanceof EnvironmentFile) settle<Contents>(path, node);
      else {
        const { history } = node;
        const bytes = settle<Buffer>(path, node);
        const before = history[history.indexOf(bytes) - 1];
        // What is on disk for certain is not torn.
        if (before !== undefined && random.chance(0.5)) {
          const cut = random.below(bytes.length + 1);
          // Where a file was overwritten, what comes behind is as it was.
          const rest = before.length === bytes.length ? before.subarray(cut) : Buffer.alloc(0);
          node.history = [Buffer.concat([bytes.subarray(0, cut), rest])];
        }
      }
    };
    visit('', this.root);
    this.release();
    return lost;
  }
}

function namesIn(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}

function unsyncedIn(folder: Folder, name: string, path: string): string | null {
  const [durable] = folder.history;
  const node = folder.history.at(-1)!.get(name);
  if (node === undefined || durable!.get(name) !== node) return path;
  if (!(node instanceof Folder)) return node.history.length === 1 ? null : path;
  for (const each of node.history.at(-1)!.keys()) {
    const unsynced = unsyncedIn(node, each, `${path}/${each}`);
    if (unsynced !== null) return unsynced;
  }
  return null;
}
