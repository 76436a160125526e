// The choice of how long a rolled key or signing secret goes on working.

import type { Html } from '../../html/html.ts';
import * as ui from '../layout/components.ts';
import type { PageRequest } from '../layout/row.ts';
import { sayKeys } from '../messages/keys.ts';

const choices = [0, 3_600, 86_400, 604_800] as const;
const preset = '86400';

export function overlapField<Key extends string>(
  request: ui.FormRequest<Key> & Pick<PageRequest, 'language'>,
  label: Key,
): Html {
  const say = sayKeys(request);
  const shown = choices.map((seconds) => [String(seconds), say(`overlap_${seconds}`)] as const);
  return ui.select(request, label, shown, { name: 'overlap', value: preset, fresh: true });
}

/** Null when the form has none of the choices. */
export function overlapSecondsOf(form: URLSearchParams): number | null {
  const seconds = Number(form.get('overlap') ?? preset);
  return choices.find((each) => each === seconds) ?? null;
}
