// docs/settings.md: every setting with its variable, its default and what it may be. All of it is
// derived from the schema and the files of config/.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type ConfigKey, configKeys, expectationOf } from './config-schema.ts';

const introduction = `<!-- Written by \`npm run docs\` from src/config/config-schema.ts and config/: change those instead. -->

# Settings

Each setting is a key in \`config/default.json\`, which \`config/development.json\`, \`config/test.json\` or
\`config/production.json\` overrides by \`NODE_ENV\`, and the environment overrides all of them by the variable. In a variable a list has
commas between its items, yes and no are \`true\` and \`false\`, and an empty text is no value. A start refuses a setting that does not exist
or has a wrong value. \`npx payments config\` prints what is active. What of it to set, and when, is in [operations.md](operations.md).`;

/** `configDir` has the files of the configuration. */
export function settingsPageMarkdown(configDir: string): string {
  const valuesIn = (file: string): Values => JSON.parse(readFileSync(join(configDir, file), 'utf8'));
  const [defaults, development] = [valuesIn('default.json'), valuesIn('development.json')];
  const groups = Map.groupBy(configKeys, ({ path }) => (path.includes('.') ? groupOf(path) : ''));
  const parts = [...groups].map(([group, keys]) => {
    const rows = keys.map((key) => rowOf(key, defaults, development));
    const table = ['| variable, key | default | it is | |', '|---|---|---|---|', ...rows].join('\n');
    return group === '' ? table : `## ${group}\n\n${table}`;
  });
  return `${[introduction, ...parts].join('\n\n')}\n`;
}

type Values = Readonly<Record<string, unknown>>;

function groupOf(path: string): string {
  return path.slice(0, path.indexOf('.'));
}

function valueAt(values: Values, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => (value as Values | undefined)?.[name], values);
}

function rowOf({ path, variable, schema, description }: ConfigKey, defaults: Values, development: Values) {
  const [value, other] = [valueAt(defaults, path), valueAt(development, path)];
  const isOther = other !== undefined && !isDeepStrictEqual(other, value);
  const shown = inWords(value) + (isOther ? `; in development ${inWords(other)}` : '');
  return `| \`${variable}\` \`${path}\` | ${shown} | ${expectationOf(schema)} | ${description} |`;
}

function inWords(value: unknown): string {
  if (value === null) return 'none';
  if (Array.isArray(value)) return value.length === 0 ? 'empty' : `\`${value.join(',')}\``;
  return `\`${value}\``;
}
