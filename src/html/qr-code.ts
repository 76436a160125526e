// QR codes, drawn on the server as inline SVG: a code needs no image request and no script, and
// prints sharp.

import qrcode from 'qrcode-generator';
import { type Html, html } from './html.ts';

/** The empty margin that scanners need around the code, in modules. */
const quietZone = 4;

/** A text as an SVG image with the accessible name `label`. Digits alone take less room. */
export function qrCode(text: string, label: string): Html {
  const code = qrcode(0, 'M');
  code.addData(text, /^\d+$/.test(text) ? 'Numeric' : 'Byte');
  code.make();
  const count = code.getModuleCount();
  const size = count + 2 * quietZone;
  let path = '';
  for (let row = 0; row < count; row++) {
    for (let column = 0; column < count; column++) {
      if (code.isDark(row, column)) path += `M${column + quietZone} ${row + quietZone}h1v1h-1z`;
    }
  }
  return html`<svg class="qr" role="img" aria-label="${label}" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${size}v${size}H0z"/><path fill="#000" d="${path}"/></svg>`;
}
