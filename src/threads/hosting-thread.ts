// The entry of the thread through which a node that stands by is lent what it runs for the one that
// has the lease. That one connects. This node asks it for trust by beats, and may speak for what it
// was lent for as long as it is granted, counted from sending the beat: so for no longer than the
// other one may itself.

import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { TrustBorrower } from '../cluster/lent-trust.ts';
import { Link } from '../cluster/link.ts';
import { configuredAddress } from '../cluster/node.ts';
import { createNodeServer } from '../cluster/node-tls.ts';
import { WireEnds } from '../cluster/wires.ts';
import { defined } from '../core/assert.ts';
import { errorText } from '../core/errors.ts';
import { systemTimers } from '../core/scheduler.ts';
import { OwnershipBoard } from '../journal/ownership.ts';
import type { Answers } from '../rpc/questions.ts';
import { onceAMinute } from '../telemetry/once-a-minute.ts';
import { trustClocks } from '../telemetry/system-clocks.ts';
import { HostLinks, sayHere } from './host-links.ts';
import type { FromHost, FromLender, FromOtherHost, HostingThreadData, Lent } from './lending-protocol.ts';
import { ownProof } from './link-proof.ts';
import type { ThreadQuestions } from './thread-protocol.ts';
import { carryOut, commonAnswers, failThread, startOfThread } from './thread-side.ts';
import { observeThread } from './thread-telemetry.ts';

const { data, main, tell } = await startOfThread<HostingThreadData>();
const { config, identity, key } = data;
const { beatMs, trustMs } = config.cluster;
const [drainMs, drainTries] = [10, 50];
const { logger, registry } = await observeThread(config, 'hosting');
const proof = ownProof(config, key, logger, registry);
const trust = new TrustBorrower(new OwnershipBoard(data.trust, trustClocks), trustMs);

interface Lender {
  readonly link: Link;
  /** With the others that run something for it. */
  readonly hosts: HostLinks;
  readonly wires: WireEnds;
}

/** The node that this one runs partitions and edges for. */
let lender: Lender | null = null;

/** Those that other hosts have begun, by their processes. */
const hostLinks = new Map<string, Link>();

/** What has to do with the other hosts of the node that is told by `say`. */
function othersFor(say: (message: FromHost) => void): Pick<Lender, 'hosts' | 'wires'> {
  const hosts = new HostLinks({
    here: identity.process,
    proof: () => proof.now,
    beatMs,
    silentMsMax: trustMs,
    logger,
    onChange: (process, areTogether) => say({ type: areTogether ? 'together' : 'apart', process }),
  });
  const wires = new WireEnds({
    linkTo: (process) => hosts.to(process),
    onApart: (process) => say({ type: 'apart', process }),
    // Both threads are connected anew when their link is lost, and again when it is back.
    onUnmet: (process) => hostLinks.get(process)?.end(),
    unmetMsMax: trustMs,
    timers: systemTimers,
  });
  return { hosts, wires };
}

function take(socket: Socket): void {
  let beSilent = () => {};
  let otherHost: string | null = null;
  const say = (message: FromHost) => link.tell(message);
  const link: Link = new Link(socket, 'listened', {
    onControl(told) {
      const message = told as FromLender | FromOtherHost;
      if (message.type === 'lead') begin(message);
      else if (message.type === 'host') {
        otherHost = message.process;
        hostLinks.set(otherHost, link);
        beSilent = sayHere(link, beatMs);
      } else if (lender?.link !== link) return;
      else if (message.type === 'trusted') trust.granted(message.sent, message.trustMs);
      else if (message.type === 'hosts') lender.hosts.know(message.hosts);
    },
    silentMsMax: trustMs,
    onOpened(greeting, port) {
      if (otherHost !== null && lender !== null) lender.wires.offered(greeting as string, port);
      else if (lender?.link === link)
        tell({ type: 'lent', lent: greeting as Lent, term: trust.term, port }, [port]);
      else port.close();
    },
    onWire(end, give) {
      if (lender?.link === link) lender.wires.take(end, give);
    },
    onEnded() {
      beSilent();
      if (otherHost !== null && hostLinks.get(otherHost) === link) hostLinks.delete(otherHost);
      if (lender?.link !== link) return;
      const { hosts, wires } = lender;
      lender = null;
      hosts.end();
      wires.end();
      trust.lost();
      logger.warn('the link to the node that has the lease is lost');
    },
  });

  function begin({ epoch, node, release }: Extract<FromLender, { type: 'lead' }>): void {
    if (release !== identity.release) {
      say({ type: 'refused', reason: `it runs ${identity.release}, and this node ${release}` });
      link.end();
      return;
    }
    if (!trust.accepts(epoch)) {
      link.end();
      return;
    }
    lender?.link.end();
    lender = { link, ...othersFor(say) };
    trust.begin(epoch);
    logger.info({ epoch }, `node ${node} has the lease, and may have this node run partitions`);
    const beat = () => say({ type: 'beat', sent: trust.beat() });
    const beating = setInterval(beat, beatMs);
    beSilent = () => clearInterval(beating);
    beat();
    say({ type: 'ready', edges: data.edges });
  }
}

/** Strangers, who may come in any number, take nothing from nodes. */
const isLogged = {
  stranger: onceAMinute(() => performance.now()),
  node: onceAMinute(() => performance.now()),
};
const server = createNodeServer(proof.now, take, (reason, isStranger) => {
  if (isLogged[isStranger ? 'stranger' : 'node']())
    logger.warn(`somebody who connected to the port of links was refused: ${reason}`);
});
server.on('error', (error) => {
  const reason = `the port of ${config.cluster.link} can't be listened on (${errorText(error)})`;
  const message = `${reason}: choose another with PAYMENTS_CLUSTER_LINK`;
  logger.fatal(message);
  failThread(tell, message, true);
});

const common = commonAnswers(logger, registry);
const answers: Answers<ThreadQuestions> = {
  ...common,
  reread(changed) {
    proof.reread(changed.config);
    server.setSecureContext(proof.now.server);
    return common.reread(changed);
  },
  async stop() {
    server.close();
    // What the last shards say when they have ended goes out before the link ends.
    for (let tries = 0; lender?.link.isIdle === false && tries < drainTries; tries++) await wait(drainMs);
    lender?.link.end();
  },
};
main.on('message', carryOut(answers, tell));
const { port } = configuredAddress(defined(config.cluster.link, 'only nodes with a link host anything'));
server.listen({ host: config.host, port }, () => tell({ type: 'ready' }));
