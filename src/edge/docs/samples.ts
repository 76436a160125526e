// A request as a program that sends it: in the shell, Node, Python and PHP, each with what the
// language brings along. The address of the service and the key are in the environment, and what
// the request needs is made first, so each program runs as it stands.

import { assert, defined } from '../../core/assert.ts';
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

/** A JSON value, written with another language's words and signs. */
interface Notation {
  readonly words: Readonly<Record<'true' | 'false' | 'null', string>>;
  /** A text in which names stand for values. */
  readonly text: (value: string) => string;
  readonly name: (name: string) => string;
  readonly object: readonly [open: string, between: string, close: string];
  /** What stands within the brackets of an object in one line. */
  readonly padding: '' | ' ';
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

/** A text that is one variable is the variable; one that has some is written by `mixed`. */
function withVariables(
  text: string,
  quoted: (text: string) => string,
  variable: (name: string) => string,
  mixed: (pieces: readonly string[]) => string,
): string {
  const pieces = piecesOf(text);
  if (pieces.length === 1) return quoted(text);
  const [before, name, after] = pieces;
  return pieces.length === 3 && before === '' && after === ''
    ? variable(defined(name, 'a name'))
    : mixed(pieces);
}

const camelCase = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

const javascript: Notation = {
  words: { true: 'true', false: 'false', null: 'null' },
  text: (value) =>
    withVariables(
      value,
      singleQuoted,
      camelCase,
      (pieces) =>
        `\`${pieces.map((piece, i) => (i % 2 === 1 ? `\${${camelCase(piece)}}` : piece)).join('')}\``,
    ),
  name: (name) => (/^[a-z_]\w*$/i.test(name) ? name : singleQuoted(name)),
  object: ['{', ': ', '}'],
  padding: ' ',
};

/** Where a value is in an answer, in languages that write it alike. */
const place = (at: readonly (string | number)[], quoted: (part: string) => string) =>
  at.map((part) => (typeof part === 'number' ? `[${part}]` : quoted(part))).join('');

/** A call of the function that prepares, with the arguments that are needed. */
function preparingCall({ method, path, idempotencyKey, body }: PreparingRequest, notation: Notation): string {
  const key = idempotencyKey === null ? notation.words.null : notation.text(idempotencyKey);
  const given = [notation.text(method), notation.text(path), key];
  if (body !== null) given.push(inOneLine(body, notation));
  return `prepare(${given.join(', ')})`;
}

function inOneLine(value: unknown, notation: Notation): string {
  if (Array.isArray(value)) return `[${value.map((item) => inOneLine(item, notation)).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return written(value, notation, '', '');
  const [open, between, close] = notation.object;
  const parts = Object.entries(value).map(
    ([name, part]) => `${notation.name(name)}${between}${inOneLine(part, notation)}`,
  );
  return `${open}${notation.padding}${parts.join(', ')}${notation.padding}${close}`;
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
    ([name, value]) => `    ${javascript.name(name)}: ${javascript.text(value)},\n`,
  );
  const calls = steps.map((step) => {
    const call = `await ${preparingCall(step, javascript)}`;
    if (step.takes === null) return `${call};`;
    const { name, at } = step.takes;
    return `const ${camelCase(name)} = (${call})${place(at, (part) => `.${part}`)};`;
  });
  return [
    ...(steps.length === 0 ? [] : [preparingNode, ...calls, '']),
    `const answer = await fetch(process.env.URL + ${javascript.text(path)}, {`,
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    '  headers: {',
    `    Authorization: \`Bearer \${process.env.KEY}\`,\n${headers.join('')}  },`,
    ...(body === null ? [] : [`  body: JSON.stringify(${written(body, javascript, '  ', '  ')}),`]),
    '});',
    answersText
      ? 'for await (const part of answer.body) process.stdout.write(part);'
      : 'console.log(answer.status, await answer.json());',
  ].join('\n');
}

const python: Notation = {
  words: { true: 'True', false: 'False', null: 'None' },
  text: (value) =>
    withVariables(
      value,
      (text) => JSON.stringify(text),
      (name) => name,
      (pieces) =>
        `f${JSON.stringify(pieces.map((piece, i) => (i % 2 === 1 ? `{${piece}}` : piece)).join(''))}`,
    ),
  name: (name) => JSON.stringify(name),
  object: ['{', ': ', '}'],
  padding: '',
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
    ([name, value]) => `        ${python.name(name)}: ${python.text(value)},\n`,
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
    `    os.environ["URL"] + ${python.text(path)},`,
    ...(method === 'GET' ? [] : [`    method="${method}",`]),
    '    headers={',
    `        "Authorization": f"Bearer {os.environ['KEY']}",\n${headers.join('')}    },`,
    ...(body === null ? [] : [`    data=json.dumps(${written(body, python, '    ', '    ')}).encode(),`]),
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
  text: (value) =>
    withVariables(
      value,
      singleQuoted,
      (name) => `$${camelCase(name)}`,
      (pieces) => `"${pieces.map((piece, i) => (i % 2 === 1 ? `{$${camelCase(piece)}}` : piece)).join('')}"`,
    ),
  name: singleQuoted,
  object: ['[', ' => ', ']'],
  padding: '',
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
  const headers = headersOf(request).map(([name, value]) => `        ${php.text(`${name}: ${value}`)},\n`);
  const calls = steps.map((step) => {
    const call = preparingCall(step, php);
    if (step.takes === null) return `${call};`;
    return `$${camelCase(step.takes.name)} = ${call}${place(step.takes.at, (part) => `[${singleQuoted(part)}]`)};`;
  });
  const address = `getenv('URL') . ${php.text(path)}`;
  assert(!path.includes('$'), 'PHP would take it for a variable');
  return [
    '<?php',
    ...(steps.length === 0 ? [] : [preparingPhp, ...calls, '']),
    "$options = ['http' => [",
    `    'method' => '${method}',`,
    `    'header' => [\n        'Authorization: Bearer ' . getenv('KEY'),\n${headers.join('')}    ],`,
    ...(body === null ? [] : [`    'content' => json_encode(${written(body, php, '    ', '    ')}),`]),
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
