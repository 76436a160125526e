// The landing page: what the service is, a first request with its answer, and a picture of the page
// on which the customer pays. The request is one of those that the description has as an example.

import type { Language } from '../../contract/vocabulary.ts';
import { type Html, html } from '../../html/html.ts';
import { codeSample } from './layout.ts';
import { type DocsMessage, sayDocs } from './messages.ts';
import { type Description, referencePages, sampleFor } from './reference.ts';
import { sampleOf } from './samples.ts';

const shown = 'create_checkout_session';
/** What a reader needs of the answer; an ellipsis stands for the rest. */
const fieldsShown = ['id', 'object', 'amount', 'currency', 'status', 'url', 'payment_intent'];

export function renderHome(
  language: Language,
  description: Description,
  link: (path: string) => string,
): Html {
  const say = sayDocs(language);
  const route = referencePages(description)
    .flatMap(({ routes }) => routes)
    .find(({ operation }) => operation.operationId === shown)!;
  const { request } = sampleFor(route, description);
  const program = sampleOf('curl', { steps: [], request, answersText: false });
  return html`<p class="lead">${say('home_lead')}</p>
<p class="actions"><a class="button" href="${link('/docs/quick-start')}">${say('home_start')}</a>
<a class="button plain" href="${link('/docs')}">${say('docs')}</a>
<a class="button plain" href="${link('/docs/api')}">${say('reference')}</a>
<a class="button plain" href="${link('/dashboard')}">${say('dashboard')}</a></p>
<div class="first"><div><h2>${say('home_request')}</h2>${codeSample(program, language)}
<h2>${say('home_answer')}</h2>${codeSample(answerOf(route.operation.responses[200]), language)}</div>
<figure class="picture">${picture(language)}<figcaption>${say('home_checkout')}</figcaption></figure></div>
<p class="quiet">${say('home_merchants')}</p>`;
}

function answerOf(response: unknown): string {
  const { content } = response as { content: Record<string, { example: Record<string, unknown> }> };
  const example = content['application/json']!.example;
  const lines = fieldsShown.map((name) => `  "${name}": ${JSON.stringify(example[name])},\n`);
  return `{\n${lines.join('')}  …\n}`;
}

const width = 352;

/** The checkout as a drawing, in the reader's language and direction. */
function picture(language: Language): Html {
  const say = sayDocs(language);
  const isRightToLeft = language === 'ar';
  // From where reading begins: SVG mirrors no shapes, and anchors texts by direction.
  const start = (x: number, length = 0) => String(isRightToLeft ? width - x - length : x);
  const text = (x: number, y: number, size: number, key: DocsMessage, kind = '') =>
    html`<text x="${start(x)}" y="${String(y)}" font-size="${String(size)}" class="${kind}">${say(key)}</text>`;
  const box = (x: number, y: number, length: number, height: number, kind: string) =>
    html`<rect x="${start(x, length)}" y="${String(y)}" width="${String(length)}" height="${String(height)}" rx="8" class="${kind}"/>`;
  return html`<svg viewBox="0 0 ${String(width)} 424" role="img" aria-label="${say('home_checkout')}" direction="${isRightToLeft ? 'rtl' : 'ltr'}">
${box(1, 1, 350, 422, 'sheet')}
${text(24, 40, 15, 'picture_shop', 'muted')}${text(24, 76, 28, 'picture_amount')}${text(24, 100, 14, 'picture_order', 'muted')}
${box(24, 120, 304, 44, 'chosen')}<circle cx="${start(44)}" cy="142" r="7" class="dot"/><circle cx="${start(44)}" cy="142" r="3" class="on"/>${text(62, 147, 15, 'picture_card')}
${text(24, 188, 13, 'picture_number', 'muted')}${box(24, 196, 304, 38, 'field')}<text x="${start(36)}" y="220" font-size="15" direction="ltr" text-anchor="${isRightToLeft ? 'end' : 'start'}">4242 4242 4242 4242</text>
${text(24, 256, 13, 'picture_expiry', 'muted')}${box(24, 264, 146, 38, 'field')}<text x="${start(36)}" y="288" font-size="15" direction="ltr" text-anchor="${isRightToLeft ? 'end' : 'start'}">12 / 30</text>
${text(182, 256, 13, 'picture_code', 'muted')}${box(182, 264, 146, 38, 'field')}<text x="${start(194)}" y="288" font-size="15" direction="ltr" text-anchor="${isRightToLeft ? 'end' : 'start'}">•••</text>
${box(24, 314, 304, 44, 'field')}<circle cx="${start(44)}" cy="336" r="7" class="field"/>${text(62, 341, 15, 'picture_cash')}
${box(24, 370, 304, 40, 'pay')}<text x="176" y="395" font-size="15" font-weight="600" text-anchor="middle" class="on">${say('picture_pay')}</text>
</svg>`;
}
