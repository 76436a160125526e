// The operators' socket of a node that stands by. It tells of this node alone: what is done to the
// service is done on the node that serves.

import type { ResultOf } from '../use-cases/commands.ts';
import { OperatorFailure } from '../use-cases/failures.ts';
import { openSocket } from './server.ts';

/** What a node that stands by tells, as the service does. */
type Told = 'config' | 'doctor' | 'metrics';

interface StandbySocketOptions {
  readonly dataDir: string;
  /** The node's name. */
  readonly node: string;
  readonly tells: { readonly [N in Told]: () => Promise<ResultOf<N>> };
  readonly onFailure: (command: string, error: unknown) => void;
}

/** Fails as `openSocket` does. */
export function openStandbySocket(options: StandbySocketOptions): ReturnType<typeof openSocket> {
  const tells = new Map<string, () => Promise<unknown>>(Object.entries(options.tells));
  return openSocket(options, ({ command }) => {
    const tell = tells.get(command);
    if (tell === undefined) throw new OperatorFailure('refused', standsBy(options.node));
    return tell();
  });
}

function standsBy(node: string): string {
  return `node ${node} stands by: run the command on the node that serves, which "payments cluster status" names`;
}
