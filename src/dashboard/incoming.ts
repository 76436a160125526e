// A request as it came from an edge, read: its query, form and files, the language, and who the
// client is.

import { negotiateLanguage } from '../contract/language.ts';
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
  if (hasManyParts(body)) return { form, files };
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

/** Whether it may have more parts than our pages send: an empty line ends the head of each. */
function hasManyParts(body: Uint8Array): boolean {
  const text = Buffer.from(body).toString('latin1');
  return text.split('\r\n\r\n', formFieldsMax + 2).length > formFieldsMax + 1;
}
