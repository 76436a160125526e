// The page that explains every error code, to which `doc_url` points, in three languages.

import { type ExplainedError, errorsIntroduction, explainedTypes } from '../../contract/errors/page.ts';
import type { Language } from '../../contract/vocabulary.ts';
import { html } from '../../html/html.ts';
import { prose } from './fields.ts';
import type { Rendered } from './markdown.ts';
import { sayDocs } from './messages.ts';

export function renderErrors(language: Language): Rendered {
  const say = sayDocs(language);
  const types = explainedTypes(language);
  const links = types.flatMap(({ errors }) =>
    errors.map(({ code }) => html`<li><a href="#${code}"><code>${code}</code></a></li>`),
  );
  const body = html`${errorsIntroduction[language].map((text) => html`<p>${prose(text)}</p>`)}
<nav aria-label="${say('errors_title')}"><ul class="codes">${links}</ul></nav>
${types.map(
  ({ type, meaning, errors }) => html`<h2><code>${type}</code></h2>
<p>${prose(meaning)}</p>
${errors.map((error) => renderError(error, language))}`,
)}`;
  const sections = types.flatMap(({ errors }) =>
    errors.map(({ code, message, advice }) => ({
      anchor: code,
      title: code,
      text: `${message} ${advice}`.replaceAll('`', ''),
    })),
  );
  return { body, sections };
}

function renderError({ code, statuses, message, variants, advice }: ExplainedError, language: Language) {
  const say = sayDocs(language);
  const more = variants.map(({ declineCode, text }) => {
    const reason = declineCode !== null && html`<code>${declineCode}</code>: `;
    return html`<li>${reason}${prose(text)}</li>`;
  });
  return html`<section class="error" id="${code}" aria-labelledby="${code}-title">
<h3 id="${code}-title"><a href="#${code}"><code>${code}</code></a></h3>
<dl>
<dt>${say('errors_status')}</dt><dd>${statuses.join(', ')}</dd>
<dt>${say('errors_meaning')}</dt><dd>${prose(message)}</dd>
<dt>${say('errors_advice')}</dt><dd>${prose(advice)}</dd>
${more.length > 0 && html`<dt>${say('errors_variants')}</dt><dd><ul>${more}</ul></dd>`}</dl>
</section>
`;
}
