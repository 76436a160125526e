// Bugs of nodes that share a service, as those in bugs.ts. They show in seeds with nodes only, and only those are run for them.

import { bug } from './bug.ts';

export const clusterBugs = [
  bug('the owner trusts itself for longer than a challenger waits', [
    'cluster/lease-keeper.ts',
    '    onTrusted(sent, trustMs);\n    const { successor }',
    '    onTrusted(sent, 4 * trustMs);\n    const { successor }',
  ]),
  bug('webhooks are sent without asking who owns their partition', [
    'webhooks/dispatcher.ts',
    '      if (!isHeld(actor.shard)) {',
    '      if (false) {',
  ]),
  bug('a takeover does not read the log to its end', [
    'journal/log/replicated-log.ts',
    '    if (mirrored.sequence === sequence) return;',
    '    if (mirrored.sequence >= sequence - 1) return;',
  ]),
  bug('the directory is served as the mirror has it', [
    'directory/directory-mirror.ts',
    '  if (from === end.sequence) return;',
    '  if (from !== null) return;',
  ]),
  bug('a forgotten connection is waited for', [
    'postgresql/owner-connection.ts',
    'else if (isAnswered && wasAnswered && !isOver)',
    'else if (isAnswered && !isAnswered)',
  ]),
];
