// The money of each day as a chart of bars, drawn on the server: card below, cash on top, with an
// axis in dirhams. Whoever does not see it has the same numbers in the table beside it.

import type { Language } from '../../contract/vocabulary.ts';
import { grouped } from '../../core/shown-number.ts';
import { type Html, html } from '../../html/html.ts';

interface Bar {
  /** Shown when the pointer is on the bar. */
  readonly label: string;
  /** Centimes. */
  readonly card: number;
  readonly cash: number;
}

const width = 720;
const height = 180;

/** The end of the axis, in dirhams: the least of 100, 200, 500, 1,000, … that no day exceeds. */
function axisEnd(most: number): number {
  let end = 100;
  for (let i = 0; end * 100 < most; i++) end *= i % 3 === 1 ? 2.5 : 2;
  return end;
}

/** The bars of all days, oldest first. `label` names the chart. */
export function dayChart(language: Language, bars: readonly Bar[], label: string): Html {
  const end = axisEnd(Math.max(...bars.map(({ card, cash }) => card + cash)));
  const most = end * 100;
  const step = width / bars.length;
  const gap = Math.min(4, step / 4);
  const high = (centimes: number) => Math.round((centimes / most) * height * 10) / 10;
  const at = (position: number) => Math.round(position * 10) / 10;
  const groups = bars.map(({ label: told, card, cash }, i) => {
    const [x, wide] = [at(i * step + gap / 2), at(step - gap)];
    const [cardHigh, cashHigh] = [high(card), high(cash)];
    const bar = (name: string, y: number, tall: number) =>
      tall > 0 && html`<rect class="${name}" x="${x}" y="${at(y)}" width="${wide}" height="${tall}"/>`;
    return html`<g><title>${told}</title><rect class="hit" x="${x}" y="0" width="${wide}" height="${height}"/>
${bar('by-card', height - cardHigh, cardHigh)}${bar('in-cash', height - cardHigh - cashHigh, cashHigh)}</g>`;
  });
  const marks = [end, end / 2, 0].map((dirhams) => html`<span>${grouped(dirhams, language)}</span>`);
  return html`<div class="plot" dir="ltr"><p class="scale muted" aria-hidden="true">${marks}</p>
<svg class="chart" role="img" aria-label="${label}" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none">
<path class="line" d="M0 0h${width}M0 ${height / 2}h${width}"/>${groups}<path class="axis" d="M0 ${height}h${width}"/></svg></div>`;
}
