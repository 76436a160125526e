// A request as a program that sends it: in the shell, Node, Python and PHP, each with what the
// language brings along. The address of the service and the key are in the environment, and what
// the request needs is made first, so each program runs as it stands.

import { assert } from '../../core/assert.ts';
import { curlOf } from './curl-sample.ts';
import { headersOf, type PreparingRequest, piecesOf, type Sample } from './sample-request.ts';

export const sampleLanguages = ['curl', 'Node', 'Python', 'PHP'] as const;
export type SampleLanguage = (typeof sampleLanguages)[number];

export function sampleOf(language: SampleLanguage, sample: Sample): string {
  return writers[language](sample);
}

const writers: Readonly<Record<SampleLanguage, (sample: Sample) => string>> = {
  curl: curlOf,
  Node: nodeOf,
  Python: pythonOf,
  PHP: phpOf,
};

/** How a language writes values of JSON. */
interface Notation {
  readonly words: Readonly<Record<'true' | 'false' | 'null', string>>;
  readonly quoted: (text: string) => string;
  /** What a step has taken, as a variable: by itself, and within a text. */
  readonly variable: (name: string) => string;
  readonly within: (name: string) => string;
  /** The quotes of a text with variables in it. */
  readonly around: (text: string) => string;
  readonly name: (name: string) => string;
  readonly object: readonly [open: string, between: string, close: string];
  /** What stands within the brackets of an object in one line. */
  readonly padding: '' | ' ';
  readonly indent: string;
}

/** A value of JSON. `indent`: how far its lines are indented; null: it is in one line. */
function written(value: unknown, notation: Notation, indent: string | null = notation.indent): string {
  if (value === null || typeof value === 'boolean') return notation.words[`${value}` as 'true'];
  if (typeof value === 'string') return textIn(notation, value);
  if (typeof value !== 'object') return String(value);
  const inner = indent === null ? null : indent + notation.indent;
  if (Array.isArray(value)) return `[${value.map((item) => written(item, notation, inner)).join(', ')}]`;
  const [open, between, close] = notation.object;
  const parts = Object.entries(value).map(
    ([name, part]) => `${notation.name(name)}${between}${written(part, notation, inner)}`,
  );
  if (inner === null) return `${open}${notation.padding}${parts.join(', ')}${notation.padding}${close}`;
  if (parts.length === 0) return open + close;
  return `${open}\n${parts.map((part) => `${inner}${part},\n`).join('')}${indent}${close}`;
}

/** A text in which names stand for values. One that is nothing but a variable needs no quotes. */
function textIn({ quoted, variable, within, around }: Notation, text: string): string {
  const pieces = piecesOf(text);
  const [before, name, after] = pieces;
  if (name === undefined) return quoted(text);
  if (pieces.length === 3 && before === '' && after === '') return variable(name);
  return around(pieces.map((piece, i) => (i % 2 === 1 ? within(piece) : piece)).join(''));
}

const singleQuoted = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`;

const camelCase = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

const javascript: Notation = {
  words: { true: 'true', false: 'false', null: 'null' },
  quoted: singleQuoted,
  variable: camelCase,
  within: (name) => `\${${camelCase(name)}}`,
  around: (text) => `\`${text}\``,
  name: (name) => (/^[a-z_]\w*$/i.test(name) ? name : singleQuoted(name)),
  object: ['{', ': ', '}'],
  padding: ' ',
  indent: '  ',
};

/** Where a value is in an answer, in languages that write it alike. */
const place = (at: readonly (string | number)[], quoted: (part: string) => string) =>
  at.map((part) => (typeof part === 'number' ? `[${part}]` : quoted(part))).join('');

/** A call of the function that prepares, with the arguments that are needed. */
function preparingCall({ method, path, idempotencyKey, body }: PreparingRequest, notation: Notation): string {
  const given = [method, path, idempotencyKey].map((value) => written(value, notation));
  if (body !== null) given.push(written(body, notation, null));
  return `prepare(${given.join(', ')})`;
}

const preparingNode = `// What the request needs is made first, so that this runs as it stands.
async function prepare(method, path, idempotencyKey, body = {}) {
  const answer = await fetch(process.env.URL + path, {
    method,
    headers: {
      Authorization: \`Bearer \${process.env.KEY}\`,
      ...(method === 'POST' && { 'Idempotency-Key': idempotencyKey, 'Content-Type': 'application/json' }),
    },
    body: method === 'POST' ? JSON.stringify(body) : null,
  });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}
`;

function nodeOf({ steps, request, answersText }: Sample): string {
  const { method, path, body } = request;
  const headers = headersOf(request).map(
    ([name, value]) => `    ${javascript.name(name)}: ${textIn(javascript, value)},\n`,
  );
  const calls = steps.map((step) => {
    const call = `await ${preparingCall(step, javascript)}`;
    if (step.takes === null) return `${call};`;
    const { name, at } = step.takes;
    return `const ${camelCase(name)} = (${call})${place(at, (part) => `.${part}`)};`;
  });
  return [
    ...(steps.length === 0 ? [] : [preparingNode, ...calls, '']),
    `const answer = await fetch(process.env.URL + ${textIn(javascript, path)}, {`,
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    '  headers: {',
    `    Authorization: \`Bearer \${process.env.KEY}\`,\n${headers.join('')}  },`,
    ...(body === null ? [] : [`  body: JSON.stringify(${written(body, javascript)}),`]),
    '});',
    answersText
      ? 'for await (const part of answer.body) process.stdout.write(part);'
      : 'console.log(answer.status, await answer.json());',
  ].join('\n');
}

const python: Notation = {
  words: { true: 'True', false: 'False', null: 'None' },
  quoted: (text) => JSON.stringify(text),
  variable: (name) => name,
  within: (name) => `{${name}}`,
  around: (text) => `f${JSON.stringify(text)}`,
  name: (name) => JSON.stringify(name),
  object: ['{', ': ', '}'],
  padding: '',
  indent: '    ',
};

const preparingPython = `# What the request needs is made first, so that this runs as it stands.
def prepare(method, path, idempotency_key, body={}):
    headers = {"Authorization": f"Bearer {os.environ['KEY']}"}
    data = None
    if method == "POST":
        headers |= {"Idempotency-Key": idempotency_key, "Content-Type": "application/json"}
        data = json.dumps(body).encode()
    request = urllib.request.Request(os.environ["URL"] + path, data, headers, method=method)
    try:
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as refusal:
        sys.exit(refusal.read().decode())

`;

function pythonOf({ steps, request, answersText }: Sample): string {
  const { method, path, body } = request;
  const headers = headersOf(request).map(
    ([name, value]) => `        ${python.name(name)}: ${textIn(python, value)},\n`,
  );
  const calls = steps.map((step) => {
    const call = preparingCall(step, python);
    if (step.takes === null) return call;
    return `${step.takes.name} = ${call}${place(step.takes.at, (part) => `[${JSON.stringify(part)}]`)}`;
  });
  const isJson = body !== null || !answersText || steps.length > 0;
  return [
    `import ${isJson ? 'json, ' : ''}os, sys, urllib.error, urllib.request`,
    '',
    ...(steps.length === 0 ? [] : [preparingPython, ...calls, '']),
    'request = urllib.request.Request(',
    `    os.environ["URL"] + ${textIn(python, path)},`,
    ...(method === 'GET' ? [] : [`    method="${method}",`]),
    '    headers={',
    `        "Authorization": f"Bearer {os.environ['KEY']}",\n${headers.join('')}    },`,
    ...(body === null ? [] : [`    data=json.dumps(${written(body, python)}).encode(),`]),
    ')',
    'try:',
    '    with urllib.request.urlopen(request) as answer:',
    ...(answersText
      ? ['        for line in answer:', '            print(line.decode(), end="", flush=True)']
      : ['        print(json.load(answer))']),
    'except urllib.error.HTTPError as refusal:',
    '    sys.exit(refusal.read().decode())',
  ].join('\n');
}

const php: Notation = {
  words: { true: 'true', false: 'false', null: 'null' },
  quoted: singleQuoted,
  variable: (name) => `$${camelCase(name)}`,
  within: (name) => `{$${camelCase(name)}}`,
  around: (text) => `"${text}"`,
  name: singleQuoted,
  object: ['[', ' => ', ']'],
  padding: '',
  indent: '    ',
};

const preparingPhp = `// What the request needs is made first, so that this runs as it stands.
function prepare(string $method, string $path, ?string $idempotencyKey, array $body = []): array
{
    $headers = ['Authorization: Bearer ' . getenv('KEY')];
    $content = '';
    if ($method === 'POST') {
        array_push($headers, "Idempotency-Key: $idempotencyKey", 'Content-Type: application/json');
        $content = json_encode((object) $body);
    }
    $options = ['method' => $method, 'header' => $headers, 'content' => $content, 'ignore_errors' => true];
    $answer = file_get_contents(getenv('URL') . $path, false, stream_context_create(['http' => $options]));
    $object = json_decode($answer, true);
    if (isset($object['error'])) {
        exit($answer);
    }
    return $object;
}
`;

function phpOf({ steps, request, answersText }: Sample): string {
  const { method, path, body } = request;
  const headers = headersOf(request).map(([name, value]) => `        ${textIn(php, `${name}: ${value}`)},\n`);
  const calls = steps.map((step) => {
    const call = preparingCall(step, php);
    if (step.takes === null) return `${call};`;
    return `$${camelCase(step.takes.name)} = ${call}${place(step.takes.at, (part) => `[${singleQuoted(part)}]`)};`;
  });
  const address = `getenv('URL') . ${textIn(php, path)}`;
  assert(!path.includes('$'), 'PHP would take it for a variable');
  return [
    '<?php',
    ...(steps.length === 0 ? [] : [preparingPhp, ...calls, '']),
    "$options = ['http' => [",
    `    'method' => '${method}',`,
    `    'header' => [\n        'Authorization: Bearer ' . getenv('KEY'),\n${headers.join('')}    ],`,
    ...(body === null ? [] : [`    'content' => json_encode(${written(body, php)}),`]),
    "    'ignore_errors' => true,",
    ']];',
    ...(answersText
      ? [
          `$answer = fopen(${address}, 'r', false, stream_context_create($options));`,
          'while (($line = fgets($answer)) !== false) {\n    echo $line;\n}',
        ]
      : [`echo file_get_contents(${address}, false, stream_context_create($options));`]),
  ].join('\n');
}
