// The entry of the thread over which the node that has the lease has partitions run by others. It
// connects to them, and grants them the trust that it has itself. When a link is lost, the ports of
// that node's shards are closed only once its trust is over: nobody else may run them before.

import { TrustLender } from '../cluster/lent-trust.ts';
import { Link } from '../cluster/link.ts';
import { configuredAddress, linksByOf, mismatchOf, type ReachableNode } from '../cluster/node.ts';
import { connectToNode } from '../cluster/node-tls.ts';
import { errorText } from '../core/errors.ts';
import { OwnershipBoard } from '../journal/ownership.ts';
import type { Answers } from '../rpc/questions.ts';
import { trustClocks } from '../telemetry/system-clocks.ts';
import { BackOff, redialTimes } from './back-off.ts';
import type { FromHost, FromLender, LendingThreadData, OtherHost } from './lending-protocol.ts';
import { ownProof } from './link-proof.ts';
import type { Connected, ThreadQuestions } from './thread-protocol.ts';
import { carryOut, commonAnswers, startOfThread } from './thread-side.ts';
import { observeThread } from './thread-telemetry.ts';

const { data, main, tell } = await startOfThread<LendingThreadData>();
const { config, identity, key, epoch } = data;
const { trustMs } = config.cluster;
const { logger, registry } = await observeThread(config, 'lending');
const proof = ownProof(config, key, logger, registry);
const linksBy = linksByOf(config.cluster.certFile);
const ownership = new OwnershipBoard(data.ownership, trustClocks);

/** By process. Null: the connection is being made. */
const links = new Map<string, Link | null>();
/** The number of the link with each process. */
const numbers = new Map<string, number>();
let count = 0;
/** Those that are ready, by process. */
const hosts = new Map<string, OtherHost>();
let isStopping = false;

/** Of nodes that could not be connected to, by process. */
const backOff = new BackOff(redialTimes, () => performance.now());
/** Why, as it was told last. */
const refusals = new Map<string, string>();

function refused(node: string, process: string, reason: string): void {
  backOff.failed(process);
  if (refusals.get(process) === reason) return;
  refusals.set(process, reason);
  logger.warn(`node ${node} runs nothing for this one: ${reason}`);
}

/** For how many times in a row nodes with a link were not among those that are there. */
const missed = new Map<string, number>();
/** After so many times in a row, a second each, it is given up: it can't append anything either. */
const missedMax = 5;

function endLost(there: ReadonlySet<string>): void {
  for (const [process, link] of links) {
    const count = there.has(process) ? 0 : (missed.get(process) ?? 0) + 1;
    missed.set(process, count);
    if (count >= missedMax) link?.end();
  }
}

async function dial({ node, process, link: address, linksBy: there }: ReachableNode): Promise<void> {
  const mismatch = mismatchOf(there, linksBy);
  if (mismatch !== null) {
    refused(node, process, mismatch);
    return;
  }
  links.set(process, null);
  try {
    const socket = await connectToNode(configuredAddress(address), node, proof.now);
    lead({ node, process, link: address }, socket);
  } catch (error) {
    links.delete(process);
    refused(node, process, `it can't be reached at ${address}: ${errorText(error)}`);
  }
}

function lead(host: OtherHost, socket: Awaited<ReturnType<typeof connectToNode>>): void {
  const { node, process } = host;
  const say = (message: FromLender) => link.tell(message);
  const number = ++count;
  numbers.set(process, number);
  const lent = new TrustLender(ownership, trustMs);
  let isAnswered = false;
  const link = new Link(socket, 'dialed', {
    onControl(told) {
      const message = told as FromHost;
      isAnswered = true;
      if (message.type === 'ready') {
        refusals.delete(process);
        backOff.forget(process);
        hosts.set(process, host);
        tell({ type: 'linked', node, process, linkNumber: number, edges: message.edges });
        introduce();
      } else if (message.type === 'refused') refused(node, process, message.reason);
      else if (message.type !== 'beat') tell({ type: message.type, process, other: message.process });
      else say({ type: 'trusted', sent: message.sent, trustMs: lent.grant() });
    },
    silentMsMax: trustMs,
    onEnded(closeOpened) {
      links.delete(process);
      numbers.delete(process);
      missed.delete(process);
      if (hosts.delete(process)) {
        logger.warn(`the link to node ${node} is lost`);
        tell({ type: 'unlinked', process });
      } else if (!isAnswered && !isStopping)
        refused(node, process, 'it ended the connection before it said anything: its log may tell why');
      setTimeout(closeOpened, lent.overInMs);
    },
  });
  links.set(process, link);
  say({ type: 'lead', epoch, node: identity.node, release: identity.release });
}

/** Tells the nodes that run something of each other: they link with each other, too. */
function introduce(): void {
  const told: FromLender = { type: 'hosts', hosts: [...hosts.values()] };
  for (const process of hosts.keys()) links.get(process)?.tell(told);
}

function open(connected: Connected): void {
  if (connected.type !== 'lend') return;
  const { process, lent, port } = connected;
  const link = links.get(process) ?? null;
  if (link === null) port.close();
  else link.open(lent, port);
}

const common = commonAnswers(logger, registry);
const answers: Answers<ThreadQuestions> = {
  ...common,
  reread(changed) {
    proof.reread(changed.config);
    return common.reread(changed);
  },
  lead({ nodes }) {
    endLost(new Set(nodes.map(({ process }) => process)));
    for (const node of nodes) {
      const isWanted = !node.drained && !node.leaving && !isStopping;
      if (isWanted && !links.has(node.process) && backOff.isOver(node.process)) void dial(node);
    }
    introduce();
  },
  unlink({ process, linkNumber }) {
    if (numbers.get(process) === linkNumber) links.get(process)?.end();
  },
  stop() {
    isStopping = true;
    for (const link of links.values()) link?.end();
  },
};
main.on('message', carryOut(answers, tell, { connect: open }));
tell({ type: 'ready' });
