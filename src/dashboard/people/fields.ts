// The fields of the forms about people, the forms of people who are not signed in, and what is
// wrong with a name or a password that is chosen.

import { checkedPersonName } from '../../directory/members.ts';
import { DirectoryRefusal } from '../../directory/refusal.ts';
import { type Html, html } from '../../html/html.ts';
import * as ui from '../layout/components.ts';
import { link } from '../layout/links.ts';
import { type Incoming, type MemberRequest, type Problems, refused, type Saying } from '../layout/row.ts';
import type { sayPeople } from '../messages/people.ts';
import { passwordCharactersMax, passwordCharactersMin, weaknessOf } from './password.ts';
import type { People } from './people.ts';

/** A request of anybody, and one of a member who is signed in, whose pages are about people. */
export type OpenRequest = Saying<typeof sayPeople, Incoming>;
export type OwnRequest = Saying<typeof sayPeople, MemberRequest>;

export function passwordProblems(
  { say }: OpenRequest,
  password: string,
  about: { readonly email: string; readonly name: string },
): Problems {
  const weakness = weaknessOf(password, about);
  const values = { min: passwordCharactersMin, max: passwordCharactersMax };
  return weakness === null ? {} : { password: say(weakness, values) };
}

/** What the directory has against the value of a field. */
export function problemOf(name: string, text: string, check: () => void): Problems {
  try {
    check();
    return {};
  } catch (error) {
    if (!(error instanceof DirectoryRefusal)) throw error;
    return { [name]: text };
  }
}

export function nameProblems({ say }: OpenRequest, name: string): Problems {
  return problemOf('name', say('name_invalid'), () => checkedPersonName(name));
}

/** The request of somebody who has to wait. */
export function tooMany<Request extends OpenRequest>(request: Request, waitSeconds: number): Request {
  const text =
    waitSeconds > 60
      ? request.say('too_many_attempts', { minutes: Math.ceil(waitSeconds / 60) })
      : request.say('too_many_attempts_now', { seconds: waitSeconds });
  return refused(request, { '': text }, 429);
}

/** The field of an e-mail address: of the one who fills it in, or of somebody else. */
export function emailField(
  request: Pick<OpenRequest, 'form' | 'problems' | 'say'>,
  autocomplete: 'username' | 'off',
): Html {
  return ui.field(request, 'email', {
    type: 'email',
    required: true,
    ltr: true,
    attributes: html`autocomplete="${autocomplete}" maxlength="254"`,
  });
}

export function newPasswordField(request: OpenRequest): Html {
  return ui.field(request, 'new_password', {
    name: 'password',
    hint: request.say('password_hint', { min: passwordCharactersMin }),
    type: 'password',
    required: true,
    ltr: true,
    attributes: html`autocomplete="new-password" maxlength="${passwordCharactersMax}"`,
  });
}

/** The field of a password that the member has. */
export function knownPasswordField(
  request: OpenRequest,
  label: 'password' | 'current_password',
  name: string,
): Html {
  return ui.field(request, label, {
    name,
    type: 'password',
    required: true,
    ltr: true,
    attributes: html`autocomplete="current-password" maxlength="${passwordCharactersMax}"`,
  });
}

/** The field of a person's name. */
export function nameField(request: OpenRequest, value = ''): Html {
  const attributes = html`autocomplete="name" maxlength="100"`;
  return ui.field(request, 'name', { value, required: true, attributes });
}

/**
 * A form for somebody who is not signed in, about `id`, and the cookies that its page sets: both
 * together show that the form was sent from it.
 */
export function guardedForm(
  request: Incoming,
  people: People,
  id: string,
  path: string,
  body: Html,
): { readonly form: Html; readonly cookies: readonly string[] } {
  const { field, setCookie } = people.guard.protect(id, request.cookie);
  return {
    form: html`<form method="post" action="${link(request, path)}" class="sheet stack" novalidate>${field}${body}</form>`,
    cookies: setCookie === null ? [] : [setCookie],
  };
}
