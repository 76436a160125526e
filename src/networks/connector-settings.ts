// What is wrong with the settings that somebody gives for a connector. The command line and the
// dashboard ask here, so that they take the same.

import { hasHidden } from '../core/shown-text.ts';
import { type ConnectorName, type ConnectorRow, connectors } from './connectors.ts';

export interface SettingFault {
  /** The name of the setting. */
  readonly setting: string;
  readonly fault: 'missing' | 'too_short' | 'hidden' | 'address' | 'unknown';
  /** For operators. */
  readonly message: string;
}

type Values = Readonly<Record<string, string>>;

/** `addressFault` says why an address may not be used; null when it may. */
export function settingFaults(
  network: ConnectorName,
  given: { readonly settings: Values; readonly secrets: Values },
  addressFault: (address: string) => string | null,
): SettingFault[] {
  const row: ConnectorRow = connectors[network];
  const all: Values = { ...given.settings, ...given.secrets };
  const faults: SettingFault[] = [];
  const add = (setting: string, fault: SettingFault['fault'], message: string) =>
    void faults.push({ setting, fault, message });
  for (const { name, is, required, charactersMin = 1, description } of row.settings) {
    const value = (is === 'secret' ? given.secrets : given.settings)[name];
    const needing = row.settings.find((each) => each.with === name && all[each.name] !== undefined);
    if (value === undefined) {
      if (required) add(name, 'missing', `${network} needs ${name}: ${description}`);
      else if (needing) add(name, 'missing', `${network} needs ${name} when ${needing.name} is given`);
      continue;
    }
    if (value.length < charactersMin)
      add(name, 'too_short', `${name} must have at least ${charactersMin} characters`);
    if (is === 'text' && hasHidden(value)) add(name, 'hidden', `${name} has a character that is not seen`);
    const problem = is === 'address' ? addressFault(value) : null;
    if (problem !== null) add(name, 'address', `${name} can't be used: ${problem}`);
  }
  const unknown = Object.keys(all).find((name) => !row.settings.some((setting) => setting.name === name));
  if (unknown !== undefined) add(unknown, 'unknown', `${network} has no setting ${unknown}`);
  return faults;
}
