// A request as a program that sends it: in the shell, Node, Python and PHP, each with what the
// language brings along. All four are made from the one example of the API description.

/** A request to show. */
export interface SampleRequest {
  readonly method: string;
  /** With the query string. */
  readonly url: string;
  readonly idempotencyKey: string | null;
  /** JSON; null for a request without a body. */
  readonly body: unknown;
  /** Whether the answer is text, as an export is, and not JSON. */
  readonly answersText: boolean;
}

export const sampleLanguages = ['curl', 'Node', 'Python', 'PHP'] as const;
export type SampleLanguage = (typeof sampleLanguages)[number];

export function sampleOf(language: SampleLanguage, request: SampleRequest): string {
  return writers[language](request);
}

const writers: Readonly<Record<SampleLanguage, (request: SampleRequest) => string>> = {
  curl: curlOf,
  Node: nodeOf,
  Python: pythonOf,
  PHP: phpOf,
};

/** The headers besides the key's, which each language reads from the environment. */
function headersOf({ idempotencyKey, body }: SampleRequest): [name: string, value: string][] {
  const headers: [string, string][] = [];
  if (idempotencyKey !== null) headers.push(['Idempotency-Key', idempotencyKey]);
  if (body !== null) headers.push(['Content-Type', 'application/json']);
  return headers;
}

const shellQuoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

function curlOf(request: SampleRequest): string {
  const { method, url, body } = request;
  const isImplied = method === 'GET' || (method === 'POST' && body !== null);
  const options = [
    `curl ${isImplied ? '' : `-X ${method} `}${shellQuoted(url)}`,
    `-H "Authorization: Bearer $KEY"`,
    ...headersOf(request).map(([name, value]) => `-H ${shellQuoted(`${name}: ${value}`)}`),
    ...(body === null ? [] : [`-d ${shellQuoted(JSON.stringify(body, null, 2))}`]),
  ];
  return options.join(' \\\n  ');
}

/** A JSON value, written with another language's words and signs. */
interface Notation {
  readonly words: Readonly<Record<'true' | 'false' | 'null', string>>;
  readonly text: (value: string) => string;
  readonly name: (name: string) => string;
  readonly object: readonly [open: string, between: string, close: string];
}

function written(value: unknown, notation: Notation, indent: string, step: string): string {
  if (value === null || typeof value === 'boolean') return notation.words[`${value}` as 'true'];
  if (typeof value === 'string') return notation.text(value);
  if (typeof value !== 'object') return String(value);
  const inner = indent + step;
  if (Array.isArray(value)) {
    return `[${value.map((item) => written(item, notation, inner, step)).join(', ')}]`;
  }
  const [open, between, close] = notation.object;
  const parts = Object.entries(value).map(
    ([name, part]) => `${inner}${notation.name(name)}${between}${written(part, notation, inner, step)},\n`,
  );
  return parts.length === 0 ? open + close : `${open}\n${parts.join('')}${indent}${close}`;
}

const singleQuoted = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`;

const javascript: Notation = {
  words: { true: 'true', false: 'false', null: 'null' },
  text: singleQuoted,
  name: (name) => (/^[a-z_]\w*$/i.test(name) ? name : singleQuoted(name)),
  object: ['{', ': ', '}'],
};

function nodeOf(request: SampleRequest): string {
  const { method, url, body, answersText } = request;
  const headers = headersOf(request).map(
    ([name, value]) => `    ${javascript.name(name)}: ${javascript.text(value)},\n`,
  );
  return [
    `const answer = await fetch(${javascript.text(url)}, {`,
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    '  headers: {',
    `    Authorization: \`Bearer \${process.env.KEY}\`,\n${headers.join('')}  },`,
    ...(body === null ? [] : [`  body: JSON.stringify(${written(body, javascript, '  ', '  ')}),`]),
    '});',
    `console.log(answer.status, await answer.${answersText ? 'text' : 'json'}());`,
  ].join('\n');
}

const python: Notation = {
  words: { true: 'True', false: 'False', null: 'None' },
  text: (value) => JSON.stringify(value),
  name: (name) => JSON.stringify(name),
  object: ['{', ': ', '}'],
};

function pythonOf(request: SampleRequest): string {
  const { method, url, body, answersText } = request;
  const headers = headersOf(request).map(
    ([name, value]) => `        ${python.name(name)}: ${python.text(value)},\n`,
  );
  return [
    `import ${body === null && answersText ? '' : 'json, '}os, urllib.request`,
    '',
    'request = urllib.request.Request(',
    `    ${python.text(url)},`,
    ...(method === 'GET' ? [] : [`    method="${method}",`]),
    '    headers={',
    `        "Authorization": f"Bearer {os.environ['KEY']}",\n${headers.join('')}    },`,
    ...(body === null ? [] : [`    data=json.dumps(${written(body, python, '    ', '    ')}).encode(),`]),
    ')',
    'with urllib.request.urlopen(request) as answer:',
    `    print(${answersText ? 'answer.read().decode()' : 'json.load(answer)'})`,
  ].join('\n');
}

const php: Notation = {
  words: { true: 'true', false: 'false', null: 'null' },
  text: singleQuoted,
  name: singleQuoted,
  object: ['[', ' => ', ']'],
};

function phpOf(request: SampleRequest): string {
  const { method, url, body } = request;
  const headers = headersOf(request).map(([name, value]) => `        ${php.text(`${name}: ${value}`)},\n`);
  return [
    '<?php',
    "$options = ['http' => [",
    `    'method' => '${method}',`,
    `    'header' => [\n        'Authorization: Bearer ' . getenv('KEY'),\n${headers.join('')}    ],`,
    ...(body === null ? [] : [`    'content' => json_encode(${written(body, php, '    ', '    ')}),`]),
    "    'ignore_errors' => true,",
    ']];',
    `echo file_get_contents(${php.text(url)}, false, stream_context_create($options));`,
  ].join('\n');
}
