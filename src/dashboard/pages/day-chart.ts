// The money of each day as a chart of bars, drawn on the server: card below, cash on top. Whoever does not see it has the same
// numbers in the table beside it.

import { type Html, html } from '../../html/html.ts';

export interface Bar {
  /** What a pointer on the bar is told. */
  readonly label: string;
  /** Centimes. */
  readonly card: number;
  readonly cash: number;
}

const width = 720;
const height = 180;

/** The bars of all days, oldest first, as high as the best day allows. `label` names the chart. */
export function dayChart(bars: readonly Bar[], label: string): Html {
  const most = Math.max(...bars.map(({ card, cash }) => card + cash), 1);
  const step = width / bars.length;
  const gap = Math.min(4, step / 4);
  const high = (centimes: number) => Math.round((centimes / most) * (height - 2) * 10) / 10;
  const at = (position: number) => Math.round(position * 10) / 10;
  const groups = bars.map(({ label: told, card, cash }, i) => {
    const [x, wide] = [at(i * step + gap / 2), at(step - gap)];
    const [cardHigh, cashHigh] = [high(card), high(cash)];
    const bar = (name: string, y: number, tall: number) =>
      tall > 0 && html`<rect class="${name}" x="${x}" y="${at(y)}" width="${wide}" height="${tall}"/>`;
    return html`<g><title>${told}</title><rect class="hit" x="${x}" y="0" width="${wide}" height="${height}"/>
${bar('by-card', height - cardHigh, cardHigh)}${bar('in-cash', height - cardHigh - cashHigh, cashHigh)}</g>`;
  });
  return html`<svg class="chart" role="img" aria-label="${label}" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none">
${groups}<path class="axis" d="M0 ${height}h${width}"/></svg>`;
}
