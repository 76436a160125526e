// A request as the bytes on the wire, for the generators that write them themselves.

import type { Template } from './load.ts';

/** What stands before the varying part of a request, and what stands behind it. */
export function requestText({ request, varying }: Template): readonly [before: string, after: string] {
  const headers = Object.entries(request.headers ?? {}).map(([name, value]) => `${name}: ${value}`);
  const { body } = request;
  if (body !== undefined) headers.push(`Content-Length: ${Buffer.byteLength(body)}`);
  const head = [`${request.method} ${request.path} HTTP/1.1`, 'Host: 127.0.0.1', ...headers].join('\r\n');
  const text = `${head}\r\n\r\n${body ?? ''}`;
  const at = varying === null ? text.length : text.indexOf(varying.first);
  return [text.slice(0, at), text.slice(at + (varying?.first.length ?? 0))];
}
