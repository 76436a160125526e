// The page that explains every error code, to which `doc_url` points: as HTML, and as Markdown for docs/. Both are derived
// from the error table, the English messages and the advice. The anchor of a code is the code itself.

import { type MessageKey, messages } from '../messages/table.ts';
import { declineCodes } from '../vocabulary.ts';
import { errorAdvice, typeMeanings } from './advice.ts';
import { type ErrorCode, type ErrorType, errorCodes, errors, statusesOf } from './table.ts';

interface ExplainedMessage {
  /** The decline code that comes with this message, if any. */
  readonly declineCode: string | null;
  /** English; `{name}` stands for a value. */
  readonly text: string;
}

interface ExplainedError {
  readonly code: ErrorCode;
  readonly statuses: readonly number[];
  /** The code's own message. */
  readonly message: string;
  /** The messages of its more precise reasons. */
  readonly variants: readonly ExplainedMessage[];
  readonly advice: string;
}

interface ExplainedType {
  readonly type: ErrorType;
  readonly meaning: string;
  readonly errors: readonly ExplainedError[];
}

function explainedTypes(): ExplainedType[] {
  return (Object.keys(typeMeanings) as ErrorType[]).map((type) => ({
    type,
    meaning: typeMeanings[type],
    errors: errorCodes.filter((code) => errors[code].type === type).map(explain),
  }));
}

function explain(code: ErrorCode): ExplainedError {
  const variants = (Object.keys(messages) as MessageKey[]).filter((key) => key.startsWith(`${code}.`));
  return {
    code,
    statuses: statusesOf(code),
    message: messages[code].en,
    variants: variants.map((key) => {
      const variant = key.slice(code.length + 1);
      const declineCode = declineCodes.find((known) => known === variant) ?? null;
      return { declineCode, text: messages[key].en };
    }),
    advice: errorAdvice[code],
  };
}

const title = 'Error codes';
const introduction = [
  'A refused request answers a status of 400 or more and an `error` object. Branch on `error.code`: codes are stable, messages may change.',
  '`error.param` names the parameter at fault when there is one. In the messages below, words in braces stand for values.',
];

/** The page as Markdown. */
export function errorsPageMarkdown(): string {
  const parts = [
    '<!-- Written by `npm run docs` from the error table, the messages and the advice: change those instead. -->',
    `# ${title}`,
    ...introduction,
  ];
  for (const group of explainedTypes()) {
    parts.push(`## \`${group.type}\``, group.meaning);
    for (const error of group.errors) parts.push(...errorMarkdown(error));
  }
  return `${parts.join('\n\n')}\n`;
}

function errorMarkdown(error: ExplainedError): string[] {
  const parts = [
    `### <a id="${error.code}"></a>\`${error.code}\``,
    `Status ${error.statuses.join(', ')}. ${error.message}`,
    `**What to do:** ${error.advice}`,
  ];
  const variants = error.variants.map(({ declineCode, text }) =>
    declineCode === null ? `- ${text}` : `- \`${declineCode}\`: ${text}`,
  );
  if (variants.length > 0) parts.push('More precisely:', variants.join('\n'));
  return parts;
}

const style = `
:root { color-scheme: light dark; --line: #8886; --quiet: #555; --mark: #fff3c4; --link: #0a4fb3; }
@media (prefers-color-scheme: dark) { :root { --quiet: #b8b8b8; --mark: #4a3d00; --link: #8ab8ff; } }
body { font: 1rem/1.6 system-ui, sans-serif; max-width: 46rem; margin: 0 auto; padding: 1.5rem 1rem 6rem; }
h1 { line-height: 1.2; }
h2 { margin-top: 3rem; }
section { border-top: 1px solid var(--line); padding: .5rem .75rem; }
section:target { background: var(--mark); }
h3 { margin: .5rem 0; overflow-wrap: anywhere; }
a { color: var(--link); }
a:focus-visible { outline: 3px solid; outline-offset: 2px; }
code { font-family: ui-monospace, monospace; overflow-wrap: anywhere; }
dt { color: var(--quiet); }
dd { margin: 0 0 .5rem; }
nav ul { columns: 16rem; padding: 0; list-style: none; }
`;

/**
 * The digest of the page's style for its Content-Security-Policy: `style-src '${styleHash}'`. It is a constant, because
 * this layer may not use `node:crypto`; a test compares it with the style.
 */
const styleHash = 'sha256-5sjG9U649Seli9gqO/0Ood4MPeyO/EuR2ZKDdOCuGsI=';

/** The page as a complete HTML document, in English and without scripts, and the digest of its one style. */
export function errorsPageHtml(): { readonly html: string; readonly styleHash: string } {
  const types = explainedTypes();
  const links = types.flatMap((group) =>
    group.errors.map(({ code }) => `<li><a href="#${code}"><code>${code}</code></a></li>`),
  );
  const groups = types.map((group) =>
    [
      `<h2><code>${group.type}</code></h2>`,
      `<p>${prose(group.meaning)}</p>`,
      ...group.errors.map(errorHtml),
    ].join('\n'),
  );
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${introduction.map((text) => `<p>${prose(text)}</p>`).join('\n')}
<nav aria-label="${title}"><ul>
${links.join('\n')}
</ul></nav>
${groups.join('\n')}
</main>
</body>
</html>
`;
  return { html, styleHash };
}

function errorHtml(error: ExplainedError): string {
  const variants = error.variants.map(({ declineCode, text }) => {
    const prefix = declineCode === null ? '' : `<code>${declineCode}</code>: `;
    return `<li>${prefix}${prose(text)}</li>`;
  });
  const more =
    variants.length === 0 ? '' : `<dt>More precisely</dt><dd><ul>\n${variants.join('\n')}\n</ul></dd>\n`;
  return `<section id="${error.code}" aria-labelledby="${error.code}-title">
<h3 id="${error.code}-title"><a href="#${error.code}"><code>${error.code}</code></a></h3>
<dl>
<dt>Status</dt><dd>${error.statuses.join(', ')}</dd>
<dt>Meaning</dt><dd>${prose(error.message)}</dd>
<dt>What to do</dt><dd>${prose(error.advice)}</dd>
${more}</dl>
</section>`;
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Text with `code` between backquotes, as HTML. */
function prose(text: string): string {
  return text
    .replace(/[&<>"]/g, (character) => entities[character]!)
    .replace(/`([^`]+)`/g, '<code>$1</code>');
}
