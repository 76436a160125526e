// The fields of the forms about people, and what is wrong with a password that is chosen.

import { type Html, html } from '../../html/html.ts';
import * as ui from '../layout/components.ts';
import type { Incoming } from '../layout/row.ts';
import { sayPeople } from '../messages/people.ts';
import { passwordCharactersMax, passwordCharactersMin, weaknessOf } from './password.ts';

export function passwordProblems(
  { language }: Pick<Incoming, 'language'>,
  password: string,
  about: { readonly email: string; readonly name: string },
): ui.Problems {
  const say = sayPeople({ language });
  const weakness = weaknessOf(password, about);
  const values = { min: passwordCharactersMin, max: passwordCharactersMax };
  return weakness === null ? {} : { password: say(weakness, values) };
}

export function newPasswordField({ language }: Pick<Incoming, 'language'>, problems: ui.Problems): Html {
  const say = sayPeople({ language });
  return ui.field({
    name: 'password',
    label: say('new_password'),
    hint: say('password_hint', { min: passwordCharactersMin }),
    type: 'password',
    problems,
    required: true,
    ltr: true,
    attributes: html`autocomplete="new-password" maxlength="${passwordCharactersMax}"`,
  });
}

/** The field of a password that the member has. */
export function knownPasswordField(name: string, label: string, problems: ui.Problems): Html {
  return ui.field({
    name,
    label,
    type: 'password',
    problems,
    required: true,
    ltr: true,
    attributes: html`autocomplete="current-password" maxlength="${passwordCharactersMax}"`,
  });
}

/** The field of a person's name. */
export function nameField(
  { language }: Pick<Incoming, 'language'>,
  value: string,
  problems: ui.Problems,
): Html {
  return ui.field({
    name: 'name',
    label: sayPeople({ language })('name'),
    value,
    problems,
    required: true,
    attributes: html`autocomplete="name" maxlength="100"`,
  });
}
