// Operators who invite people into organizations, and take invitations back: rows of the directory that come and go.

import type { Random } from '../kernel/random.ts';
import type { Shop } from './clients.ts';
import type { Operators } from './operators.ts';

export async function invitePeople(operators: Operators, { org }: Shop, random: Random): Promise<void> {
  for (let i = random.between(5, 30); i > 0; i--) {
    const email = `member${random.below(60)}@shop.example`;
    const purpose = { kind: 'invitation', org, role: 'developer' } as const;
    const made = await operators.run((directory) => directory.links.create(email, purpose, 'operator'));
    if (made === null) return;
  }
  if (random.chance(0.5)) return;
  const open = await operators.run(async ({ links }) => links.invitationsOf(org));
  for (const { id } of open ?? []) await operators.run(({ links }) => links.revoke(org, id));
}
