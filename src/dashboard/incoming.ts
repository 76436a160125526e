// A request as it came from an edge, read: its query, form and files, the language, and who the
// client is.

import { negotiateLanguage } from '../contract/language.ts';
import { headerBytesMax } from '../contract/limits.ts';
import { formFieldsMax, readFields } from '../core/form-fields.ts';
import type { DashboardRequest } from '../edge/dashboard/dashboard-port.ts';
import type { Visitor } from '../edge/http/visitors.ts';
import type { Incoming } from './layout/row.ts';
import { chosenLanguage } from './people/cookies.ts';

export async function readIncoming(
  request: DashboardRequest,
  gone: AbortSignal,
  prefix: string,
  addressOf: (remoteAddress: string, forwardedFor: string) => string,
  visitorOf: (remoteAddress: string, forwardedFor: string) => Visitor,
): Promise<Incoming> {
  const { method, path, query, headers, remoteAddress, isRepeated } = request;
  const { acceptLanguage, cookie, forwardedFor, secFetchSite } = headers;
  return {
    method,
    address: path,
    query: readFields(query),
    prefix,
    language: chosenLanguage(cookie) ?? negotiateLanguage(acceptLanguage),
    cookie,
    secFetchSite,
    isRepeated,
    problems: {},
    status: 200,
    gone,
    client: addressOf(remoteAddress, forwardedFor),
    visitor: visitorOf(remoteAddress, forwardedFor),
    ...(await readForm(request)),
  };
}

async function readForm({ contentType, body }: DashboardRequest): Promise<Pick<Incoming, 'form' | 'files'>> {
  const files = new Map<string, Uint8Array>();
  if (!contentType.startsWith('multipart/form-data'))
    return { form: readFields(Buffer.from(body).toString('utf8')), files };
  const form = new URLSearchParams();
  if (takesLong(contentType, body)) return { form, files };
  const headers = { 'content-type': contentType };
  // A body that is not in this form counts as empty; its key is then missing, too. The constructor
  // throws for a type that is no header's value, so it stands inside of what is caught.
  const parse = async () => new Response(Buffer.from(body), { headers }).formData();
  for (const [name, value] of await parse().catch(() => new FormData())) {
    if (typeof value === 'string') form.append(name, value);
    else if (value.size > 0) files.set(name, await value.bytes());
  }
  return { form, files };
}

/** As browsers write it. */
const formInParts = /^multipart\/form-data; *boundary=([\w-]{1,70})$/i;

/**
 * Whether a form in parts may take long to read: it has more of them than any page sends, or heads
 * that are longer. The parser takes a tenth of a microsecond for each byte of a head.
 */
function takesLong(contentType: string, body: Uint8Array): boolean {
  const [, boundary] = formInParts.exec(contentType) ?? [];
  if (boundary === undefined) return true;
  // Nothing comes before the first part, and no field after the last one.
  const text = Buffer.from(body).toString('latin1');
  const [before, ...parts] = text.split(`--${boundary}`, formFieldsMax + 3);
  if (before !== '' || parts.length > formFieldsMax + 1) return true;
  const heads = parts.map((part) => part.split('\r\n\r\n', 1)[0]!.length);
  return heads.reduce((sum, length) => sum + length, 0) > headerBytesMax;
}
