// The plot: a bar for the requests a second of each scenario, in one picture for each number of connections.

import type { Summary } from './report.ts';
import type { Server } from './scenarios.ts';

const colors: Readonly<Record<Server, string>> = {
  service: '#1b6e53',
  replicated: '#6d5bd0',
  bare: '#9aa5b1',
  postgres: '#b5651d',
};
const barHeight = 18;
const rowHeight = 24;
const labelWidth = 240;
const barWidthMax = 480;

/** An SVG picture of the tables. */
export function plot(
  tables: readonly { readonly title: string; readonly results: readonly Summary[] }[],
): string {
  let y = 10;
  const parts: string[] = [];
  for (const { title, results } of tables) {
    y += 24;
    parts.push(`<text x="10" y="${y}" font-weight="bold">${title}</text>`);
    const most = Math.max(...results.map(({ requestsPerSecond }) => requestsPerSecond));
    for (const { name, server, requestsPerSecond, p99Ms } of results) {
      y += rowHeight;
      const width = (requestsPerSecond / most) * barWidthMax;
      const figures = `${Math.round(requestsPerSecond).toLocaleString('en')}/s, p99 ${p99Ms.toFixed(1)} ms`;
      parts.push(
        `<text x="${labelWidth - 8}" y="${y}" text-anchor="end">${server}: ${name}</text>`,
        `<rect x="${labelWidth}" y="${y - 13}" width="${width.toFixed(1)}" height="${barHeight}" fill="${colors[server]}"/>`,
        `<text x="${labelWidth + width + 6}" y="${y}">${figures}</text>`,
      );
    }
    y += 12;
  }
  const size = `width="${labelWidth + barWidthMax + 190}" height="${y + 20}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="white"/>
${parts.join('\n')}
</svg>
`;
}
