// The people of the organizations, who use the dashboard: they are invited and join, sign in and out, choose a new password, get
// another role and leave, mostly two of these at once. What the pages do with the directory is done as they do it.

import type { Directory } from '../../../src/directory/directory.ts';
import { type Role, roles } from '../../../src/directory/members.ts';
import { DirectoryRefusal } from '../../../src/directory/refusal.ts';
import type { Session } from '../../../src/directory/sessions.ts';
import { changeRole, inviteMember, removeMember } from '../../../src/operator/use-cases/member-commands.ts';
import {
  changing,
  doubted,
  Invitation,
  joining,
  leaving,
  Opener,
  type Person,
  SessionOpener,
  type Settle,
  sessionLimits,
} from '../oracle/people.ts';
import type { Act } from './acts.ts';
import type { Operators } from './operators.ts';
import type { World } from './world.ts';

/** So few, that somebody is invited again who has left, and into another organization. */
const addresses = 12;
/** Beyond that a member's oldest session would end. */
const sessionsMax = 8;
const address = '192.0.2.1';
/** Links work for an hour at least, by a clock that may run wrong by minutes. */
const linksMs = 50 * 60_000;
const costs = { N: 1024, r: 8, p: 1 };

/** Begins something in the task that is under way, or within two milliseconds, which is mostly before the first is on disk. */
async function soon(act: () => Promise<void>, { clients, random }: Act): Promise<void> {
  if (random.chance(0.4)) await clients.wait(random.skewed(0.02, 2));
  await act();
}

/** Somebody is invited by an operator or a member, and uses the invitation, also twice at once. */
async function invite(acting: Act, person: Person | null): Promise<void> {
  const { random, world } = acting;
  const role = random.pick([...roles, 'owner', 'owner'] as const);
  const email = `person${random.below(addresses)}@souk.test`;
  const by = random.chance(0.7) ? person : null;
  const made = await invited(acting, email, role, by);
  if (made === null) return;
  world.note(`member: ${by?.id ?? 'an operator'} invites ${email} as ${role}`);
  // Some invitations stay open, and some are taken back.
  if (random.chance(0.3)) return;
  const accepting = Array.from({ length: random.between(1, 2) }, () => () => accept(acting, made));
  const revoking = random.chance(0.2) ? [() => revoke(acting, made)] : [];
  await Promise.all([...accepting, ...revoking].map((act) => soon(act, acting)));
  await accept(acting, made);
}

async function invited(
  { world, operators, shop: { org } }: Act,
  email: string,
  role: Role,
  by: Person | null,
): Promise<Invitation | null> {
  const { people } = world;
  const author =
    by === null ? ({ by: 'operator', name: 'root' } as const) : ({ by: 'member', name: by.id } as const);
  return operators.run((directory) => {
    const replaced = people.invitations.filter((each) => each.email === email && each.org === org);
    const { settle, made } = people.replacements(org).begin();
    const expiresMs = world.simulation.nowMs + linksMs;
    const byRight = by === null ? () => {} : people.mayHave('invites', by, org, ['owner']);
    people.invites(email, org, role);
    const services = {
      directory,
      baseUrl: 'https://pay.example',
      author,
      language: 'en',
      mail: null,
    } as const;
    return doubted([settle, ...replaced.map((each) => each.ending())], async () => {
      const { id, link } = await inviteMember(services, org, email, role);
      byRight();
      const token = link.slice(link.lastIndexOf('/') + 1);
      const invitation = made(new Invitation(token, id, { org, email, role, by: by?.id ?? null, expiresMs }));
      people.invitations.push(invitation);
      return invitation;
    });
  });
}

/** Uses a link up, if it still works. */
async function used({ links }: Directory, { people }: World, link: Opener): Promise<boolean> {
  const found = links.find(link.token);
  people.isFound(link, found !== null);
  if (found === null) return false;
  const settle = link.ending();
  const isUsed = await links.use(found);
  if (isUsed) people.isUsed(link);
  settle(isUsed ? 'done' : 'refused');
  return isUsed;
}

/** Uses an invitation, as its page does for somebody new, and for a member of another organization. */
async function accept({ world, operators }: Act, invitation: Invitation): Promise<void> {
  const { people } = world;
  const { email, org, role } = invitation;
  await operators.run(async (directory) => {
    const { members } = directory;
    const member = members.findByEmail(email);
    if (!(await used(directory, world, invitation))) return;
    if (member === undefined) {
      const joined = await doubted([], () => members.create(email, 'Person', null, { [org]: role }));
      if (joined !== null) people.joined(joined.id, email, org, role);
      return;
    }
    const settle = people.find(member.id)?.membership(org).begin(joining(role));
    await doubted(settle === undefined ? [] : [settle], () => members.join(member.id, org, role));
  });
}

async function revoke({ operators }: Act, invitation: Invitation): Promise<void> {
  await operators.run(({ links }) =>
    doubted([invitation.ending()], () => links.revoke(invitation.org, invitation.name)),
  );
}

/** Opens a session for who knows the password that the member has, or has a link. */
async function open({ members, sessions }: Directory, person: Person): Promise<void> {
  const member = members.find(person.id);
  const opened = person.endings.opening();
  const hasSamePassword = () => members.find(person.id)?.password?.hash === member?.password?.hash;
  const mayOpen = () => members.find(person.id) !== undefined && hasSamePassword();
  const made = await doubted([], () => sessions.open(person.id, address, sessionLimits, mayOpen));
  if (made !== null) person.sessions.push(opened(new SessionOpener(made.token, made.session.id)));
}

async function signIn({ operators }: Act, person: Person): Promise<void> {
  if (person.sessions.length < sessionsMax) await operators.run((directory) => open(directory, person));
}

/** A page is asked for with a session. */
async function comeBack({ world, operators }: Act, { token }: SessionOpener, person: Person): Promise<void> {
  await operators.run(async ({ members, sessions }) => {
    const opener = person.sessions.find((each) => each.token === token)!;
    const session = sessions.find(token, sessionLimits);
    world.people.isFound(opener, session !== null);
    if (session !== null) world.people.isAs(person, members.find(person.id));
  });
}

/** Ends sessions and links of a person by a command. */
function ended<T>(
  person: Person,
  openers: readonly Opener[],
  command: () => Promise<T>,
  others: readonly Settle[] = [],
): Promise<T | null> {
  return doubted([...others, person.ending(openers)], command);
}

async function signOut(acting: Act, person: Person, signedIn: SessionOpener): Promise<void> {
  const { operators, random } = acting;
  const isSame = ({ id }: SessionOpener) => id === signedIn.id;
  const way = random.pick(['this', 'others', 'all'] as const);
  const uses = random.pick([[signedIn], person.sessions]).slice(-3);
  const end = () =>
    operators.run(async ({ sessions }) => {
      const same = person.sessions.filter(isSame);
      const others = person.sessions.filter((each) => !isSame(each));
      if (way === 'this') return ended(person, same, () => sessions.end(person.id, signedIn.id));
      if (way === 'all') return ended(person, person.sessions, () => sessions.endAll(person.id));
      const session = sessions.of(person.id).find(({ id }) => id === signedIn.id);
      return session && ended(person, others, () => endOthers(sessions, session));
    });
  await Promise.all([
    soon(async () => void (await end()), acting),
    ...uses.map((each) => soon(() => comeBack(acting, each, person), acting)),
  ]);
  for (const each of person.sessions) await comeBack(acting, each, person);
}

/** A session that has ended ends no others. */
async function endOthers(sessions: Directory['sessions'], session: Session): Promise<void> {
  const wasOpen = sessions.isOpen(session);
  await sessions.endOthers(session);
  if (wasOpen && !sessions.isOpen(session)) throw new Error('nobody knows which of the two ended first');
}

/** A new password ends the other sessions; then the password is given again, which gives the session another token. */
async function newPassword({ world, operators, random }: Act, person: Person, signedIn: SessionOpener) {
  const password = { salt: '', hash: String(random.word()), cost: costs };
  await operators.run(async (directory) => {
    const { links, members, sessions } = directory;
    const member = members.find(person.id);
    const session = sessions.find(signedIn.token, sessionLimits);
    world.people.isFound(signedIn, session !== null);
    if (session === null || member === undefined) return;
    const others = person.sessions.filter(({ id }) => id !== signedIn.id);
    const changed = await ended(person, [...others, ...person.links], () =>
      members.change(
        person.id,
        (each) => {
          if (each.password?.hash === member.password?.hash && sessions.isOpen(session))
            return { ...each, password };
          throw new DirectoryRefusal('the session has ended meanwhile', 'session_over');
        },
        () => [links.endingOwn(person.email), sessions.ending(person.id, session)],
      ),
    );
    if (changed === null) return;
    const opened = person.endings.opening();
    // It has ended, or its token was exchanged.
    const same = person.sessions.filter(({ id }) => id === signedIn.id);
    const settles = same.map((each) => each.ending());
    const token = await doubted(settles, () => sessions.confirm(session));
    if (token !== null) person.sessions.push(opened(new SessionOpener(token, signedIn.id)));
  });
}

/** An operator makes a link to a new password, or to a sign-in, which is used, also twice at once. */
async function useOwnLink(acting: Act, person: Person): Promise<void> {
  const { operators, random, world } = acting;
  const kind = random.pick(['reset', 'sign_in'] as const);
  const made = await operators.run(async ({ links, members }) => {
    const refuse = () => void members.member(person.id);
    const opened = person.endings.opening();
    const { settle, made } = person.replacements.begin();
    const expiresMs = world.simulation.nowMs + linksMs;
    const replaced = person.links.filter(({ name }) => name.startsWith(kind));
    return doubted([settle, ...replaced.map((each) => each.ending())], async () => {
      const { link, token } = await links.create(person.email, { kind }, 'operator', refuse);
      const opener = made(opened(new Opener(token, `${kind} ${link.id}`, expiresMs)));
      person.links.push(opener);
      return opener;
    });
  });
  if (made === null || random.chance(0.3)) return;
  const use = () =>
    kind === 'reset' ? resetPassword(acting, person, made) : signInByLink(acting, person, made);
  await Promise.all(Array.from({ length: random.between(1, 2) }, () => soon(use, acting)));
  await use();
  await operators.run(async (directory) => world.people.audit(directory));
}

async function signInByLink({ world, operators }: Act, person: Person, link: Opener): Promise<void> {
  await operators.run(async (directory) => {
    const isMember = directory.members.find(person.id) !== undefined;
    if (isMember && (await used(directory, world, link))) await open(directory, person);
  });
}

async function resetPassword({ world, operators, random }: Act, person: Person, link: Opener): Promise<void> {
  const password = { salt: '', hash: String(random.word()), cost: costs };
  await operators.run(async (directory) => {
    const { links, members, sessions } = directory;
    if (members.find(person.id) === undefined || !(await used(directory, world, link))) return;
    const changed = await ended(person, [...person.sessions, ...person.links], () =>
      members.change(
        person.id,
        (each) => ({ ...each, password, totp: null, recoveryCodes: [] }),
        () => [links.endingOwn(person.email), sessions.ending(person.id)],
      ),
    );
    if (changed !== null) await open(directory, person);
  });
}

async function remove({ world, operators, shop: { org } }: Act, person: Person): Promise<void> {
  const { people } = world;
  await operators.run(async (directory) => {
    const own = [...person.sessions, ...person.links];
    const end = person.ending(own);
    const invitations = people.invitations
      .filter((each) => each.org === org && (each.by === person.id || each.email === person.email))
      .map((each) => each.ending());
    // Who belongs to another organization stays signed in.
    const endOwn: Settle = (result) => {
      if (result !== 'done' || person.isGone) end(result);
      else if (person.isElsewhere(org)) end('refused');
    };
    const { settle } = people.replacements(org).begin();
    const settles = [settle, person.membership(org).begin(leaving), ...invitations, endOwn];
    const removed = await doubted(settles, () => removeMember(directory, org, person.id));
    if (removed !== null) world.note(`member: ${person.id} is removed from ${org}`);
  });
}

/** Every owner is removed, all at the same time: one of them must stay. */
async function ownersLeave(acting: Act): Promise<void> {
  const { world, operators, shop } = acting;
  const owners = world.people.of(shop.org).filter((person) => person.membership(shop.org).role === 'owner');
  await Promise.all(owners.map((owner) => soon(() => remove(acting, owner), acting)));
  await operators.run(async (directory) => world.people.audit(directory));
}

async function otherRole({ world, operators, random, shop: { org } }: Act, person: Person): Promise<void> {
  const role = random.pick(roles);
  await operators.run((directory) => {
    const invitations = world.people.invitations
      .filter((each) => each.org === org)
      .filter(({ email, by }) => email === person.email || (role !== 'owner' && by === person.id));
    const settles = [
      world.people.replacements(org).begin().settle,
      person.membership(org).begin(changing(role)),
      ...invitations.map((each) => each.ending()),
    ];
    return doubted(settles, () => changeRole(directory, org, person.id, role));
  });
}

/** A member makes a key, which only some may. */
async function makeKey({ world, operators, shop }: Act, person: Person): Promise<void> {
  const mode = shop.livemode ? 'live' : 'test';
  await operators.run(async (directory) => {
    const byRight = world.people.mayHave('makes a key', person, shop.org, ['owner', 'developer']);
    await doubted([], async () => {
      await directory.createKey(shop.org, mode, 'secret', person.id);
      byRight();
    });
  });
}

/** What some of an organization do next, mostly two at once. */
export async function member(acting: Act): Promise<void> {
  const { operators, random, shops, world } = acting;
  // Most belong to one organization, so that more happens in it.
  const shop = random.chance(0.8) ? shops[0]! : acting.shop;
  const doing = { ...acting, shop };
  const mine = world.people.of(shop.org);
  // Who belongs to two organizations is not forgotten when one of them removes them.
  const elsewhere = mine.filter((each) => each.isElsewhere(shop.org));
  const chosen = random.chance(0.5) && elsewhere.length > 0 ? elsewhere : mine;
  const person = chosen.length === 0 ? null : random.pick(chosen);
  if (person === null || mine.length < 2 || random.chance(0.25)) return invite(doing, person);
  const own = person.sessions;
  const signedIn = own.length === 0 || random.chance(0.2) ? null : random.pick(own);
  const withSession = (act: (signedIn: SessionOpener) => Promise<void>) =>
    signedIn === null ? signIn(doing, person) : act(signedIn);
  const one = () => {
    switch (random.below(14)) {
      case 0:
        return withSession((each) => comeBack(doing, each, person));
      case 1:
      case 2:
        return withSession((each) => signOut(doing, person, each));
      case 3:
        return withSession((each) => newPassword(doing, person, each));
      case 4:
      case 5:
        return useOwnLink(doing, person);
      case 6:
      case 7:
        return remove(doing, person);
      case 8:
        return ownersLeave(doing);
      case 9:
      case 10:
        return otherRole(doing, person);
      case 11:
        return makeKey(doing, person);
      case 12:
        return operators.nameAndRevoke(shop, random);
      default:
        return invite(doing, person);
    }
  };
  const count = random.between(1, 2);
  await Promise.all(Array.from({ length: count }, () => soon(one, doing)));
}

/** When everything is healed. */
export async function auditPeople(world: World, operators: Operators): Promise<void> {
  if (world.people.all.length > 0) await operators.run(async (directory) => world.people.audit(directory));
}
