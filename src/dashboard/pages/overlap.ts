// The choice of how long a rolled key or signing secret goes on working.

import type { Language } from '../../contract/vocabulary.ts';
import type { Html } from '../../html/html.ts';
import * as ui from '../layout/components.ts';
import { sayKeys } from '../messages/keys.ts';

const choices = [0, 3_600, 86_400, 604_800] as const;
const preset = '86400';

export function overlapField(language: Language, label: string): Html {
  const say = sayKeys({ language });
  return ui.select({
    name: 'overlap',
    label,
    value: preset,
    choices: choices.map((seconds) => [String(seconds), say(`overlap_${seconds}`)]),
  });
}

/** Null when the form has none of the choices. */
export function overlapSecondsOf(form: URLSearchParams): number | null {
  const seconds = Number(form.get('overlap') ?? preset);
  return choices.find((each) => each === seconds) ?? null;
}
