// A sample as commands for a shell, with curl. What a request needs is made by commands before it,
// each of which shows its answer and keeps an id from it.

import { idPrefixes } from '../../contract/id-prefixes.ts';
import { elementAt } from '../../core/assert.ts';
import {
  headersOf,
  type PreparingRequest,
  piecesOf,
  type Sample,
  type SampleRequest,
} from './sample-request.ts';

const singleQuoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** A text in quotes, with the variables that it names. */
function quoted(text: string): string {
  const pieces = piecesOf(text);
  if (pieces.length === 1) return singleQuoted(text);
  return `"${pieces.map((piece, i) => (i % 2 === 1 ? `$${piece.toUpperCase()}` : piece.replace(/["\\$`]/g, '\\$&'))).join('')}"`;
}

function commandOf(request: SampleRequest, options: { indented?: true; answersText?: boolean }): string {
  const { method, path, body } = request;
  const isImplied = method === 'GET' || (method === 'POST' && body !== null);
  const address = `"$URL${quoted(path).slice(1, -1)}"`;
  const unbuffered = options.answersText === true ? ' -N' : '';
  const lines = [
    `curl -sS${unbuffered} ${isImplied ? '' : `-X ${method} `}${address}`,
    `-H "Authorization: Bearer $KEY"`,
    ...headersOf(request).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === null
      ? []
      : [`-d ${quoted(options.indented ? JSON.stringify(body, null, 2) : JSON.stringify(body))}`]),
  ];
  return lines.join(' \\\n  ');
}

/** The command that finds what is taken in an answer. */
function finding(name: string, at: readonly (string | number)[]): string {
  const prefix = (idPrefixes as Readonly<Record<string, string>>)[name];
  const last = String(elementAt(at, at.length - 1));
  return prefix === undefined
    ? `grep -o '"${last}":"[^"]*"' | cut -d '"' -f 4`
    : `grep -o '"${prefix}_[0-9A-Za-z]*' | head -n 1 | tr -d '"'`;
}

function preparing(step: PreparingRequest): string {
  const command = commandOf(step, {});
  if (step.takes === null) return command;
  const { name, at } = step.takes;
  return `${name.toUpperCase()}=$(${command} \\\n  | tee /dev/stderr | ${finding(name, at)})`;
}

export function curlOf({ steps, request, answersText }: Sample): string {
  const own = commandOf(request, { indented: true, answersText });
  if (steps.length === 0) return own;
  return [
    '# What the request needs is made first, so that this runs as it stands.',
    ...steps.map(preparing),
    '',
    own,
  ].join('\n');
}
