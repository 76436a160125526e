// API requests with their answers, as people read them in a terminal.

import type { LoggedRequest } from '../../contract/routes/logged-request.ts';
import type { Mode } from '../../contract/vocabulary.ts';
import { plain } from '../../core/shown-text.ts';
import type { Gap } from '../../request-logs/logged-request.ts';
import { formatFields, formatTime } from './table.ts';

export type Found = (LoggedRequest | Gap) & { readonly mode: Mode };

export function lineOf(found: Found): string {
  const time = formatTime(found.time);
  if ('missing' in found) return `${time}  ${found.missing} requests before this were not kept`;
  const { request, mode, status, method, path, query, code, duration_ms, idempotency_key, replayed } = found;
  const key = idempotency_key === null ? '' : ` (key ${idempotency_key}${replayed ? ', replayed' : ''})`;
  const address = query === '' ? path : `${path}?${query}`;
  return plain(
    `${time}  ${mode}  ${request}  ${status}  ${method} ${address}${code === null ? '' : `  ${code}`}  ${duration_ms} ms${key}`,
  );
}

export function inWords(
  entry: LoggedRequest & { readonly mode: Mode; readonly organization?: string },
): string {
  const { request_body, request_cut, answer_body, answer_cut, masked, duration_ms, ...rest } = entry;
  const fields = Object.fromEntries(
    Object.entries({ ...rest, duration: `${duration_ms} ms` }).map(([name, value]) => [
      name.replaceAll('_', ' '),
      plain(value === null || value === '' ? '-' : String(value)),
    ]),
  );
  const note = masked ? ['', 'What looked like a secret or a card number was left out.'] : [];
  return [
    formatFields(fields),
    ...note,
    '',
    `Request${request_cut ? ' (its beginning)' : ''}:`,
    bodyInWords(request_body),
    '',
    `Answer${answer_cut ? ' (its beginning)' : ''}:`,
    bodyInWords(answer_body),
  ].join('\n');
}

/** JSON with a field on each line, as far as it is whole. */
function bodyInWords(body: string): string {
  if (body === '') return '(none)';
  try {
    return plainLines(JSON.stringify(JSON.parse(body), null, 2));
  } catch {
    return plainLines(body);
  }
}

function plainLines(text: string): string {
  return text.split('\n').map(plain).join('\n');
}
