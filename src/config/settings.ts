// The settings of a configuration as they are read, before it is put together: each value with the
// place where it is set.

import { defined } from '../core/assert.ts';

/** The configuration can't be used. The message is one line for the person who starts it. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

export const environments = ['development', 'test', 'production'] as const;
export type Environment = (typeof environments)[number];

/** A value and the place where it is set: `PAYMENTS_PORT`, or "port" in its file. */
export interface Setting {
  readonly value: unknown;
  readonly where: string;
}

export type Settings = Map<string, Setting>;
/** Every key has one, because `default.json` does. */
export function settingOf(settings: Settings, path: string): Setting {
  return defined(settings.get(path), path);
}
