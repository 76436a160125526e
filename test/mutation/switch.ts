// The switches of the instrumented sources, one a file: which of its mutants is on, and which were come upon since it was asked last.

export interface Place {
  /** Path below the root. */
  readonly file: string;
  readonly id: number;
}

/** The ids of mutants by file. */
export type Met = Readonly<Record<string, readonly number[]>>;

interface Switch {
  on: number;
  readonly met: Uint8Array;
}

const switches = new Map<string, Switch>();
const none = -1;
let active: Place | null = process.env.MUTANT === undefined ? null : JSON.parse(process.env.MUTANT);

function switchOf(file: string, idMax: number): Switch {
  const made = { on: active?.file === file ? active.id : none, met: new Uint8Array(idMax + 1) };
  switches.set(file, made);
  return made;
}

export function switchOn(mutant: Place | null): void {
  const last = switches.get(active?.file ?? '');
  if (last !== undefined) last.on = none;
  active = mutant;
  const next = switches.get(mutant?.file ?? '');
  if (next !== undefined) next.on = mutant?.id ?? none;
}

/** What was come upon since the last call. */
export function takeMet(): Met {
  const taken: Record<string, number[]> = {};
  for (const [file, { met }] of switches) {
    const ids = [...met.keys()].filter((id) => met[id] === 1);
    if (ids.length > 0) taken[file] = ids;
    met.fill(0);
  }
  return taken;
}

Object.assign(globalThis, { switchOfMutants: switchOf });

const asked = /stryMutAct_9fa48\("(\d+)"\)/g;
const counted = /stryCov_9fa48\((?:"\d+"(?:, )?)+\)/g;

/** A switch is asked at each place by what StrykerJS' instrumenter would have call functions, which takes several times as long. */
export function withSwitch(file: string, idMax: number, instrumented: string): string {
  const text = instrumented
    .replaceAll(asked, '(m_9fa48.met[$1] = 1, m_9fa48.on === $1)')
    .replaceAll(counted, '0');
  return `const m_9fa48 = globalThis.switchOfMutants(${JSON.stringify(file)}, ${idMax});${text}`;
}
