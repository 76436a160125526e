// The style sheet of the pages. It is in every page, allowed by its digest, so a page needs no
// second request. It uses logical properties only, so the Arabic pages are mirrored without rules
// of their own.

import { createHash } from 'node:crypto';
import { assert } from '../../core/assert.ts';
import { Html } from '../../html/html.ts';
import { tokensCss } from '../../html/tokens.ts';

const css = `${tokensCss}
:root{--brand:var(--accent);--brand-strong:var(--accent-strong);--brand-line:var(--accent);--on-brand:var(--on-accent)}
*{box-sizing:border-box}
[hidden]{display:none!important}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;min-height:100vh;display:flex;flex-direction:column;background:var(--page);color:var(--text);font:1rem/1.5 var(--font)}
h1,p,ul,dl,dd,table,fieldset{margin:0}
fieldset{min-width:0;padding:0;border:0}
h1{font-size:1.25rem;line-height:1.3;font-weight:650;text-wrap:balance}
a{color:var(--accent);text-underline-offset:.15em}
.icon{width:1.25em;height:1.25em;flex:none;vertical-align:-.25em}
.test{padding:.5rem 1rem;background:var(--warn-soft);color:var(--warn);text-align:center;font-size:.875rem}
main{width:100%;max-width:30rem;margin-inline:auto;padding-inline:1rem}
.bill{margin-block-start:1.5rem}
.merchant{display:flex;align-items:center;gap:.75rem;color:var(--muted);overflow-wrap:anywhere}
.logo{display:grid;place-items:center;flex:none;width:2.75rem;height:2.75rem;border-radius:.75rem;object-fit:contain;font-weight:650;font-size:1.25rem}
span.logo{border:1px solid var(--brand-line);background:var(--brand);color:var(--on-brand)}
.amount{margin-block-start:.75rem;font-size:2.25rem;line-height:1.2;font-weight:650;font-variant-numeric:tabular-nums;letter-spacing:-.01em}
.what{margin-block-start:.25rem;color:var(--muted);overflow-wrap:anywhere;white-space:pre-line}
.sheet{margin-block:1.5rem 1rem;padding:1rem;background:var(--surface);border:1px solid var(--line);border-radius:1rem;box-shadow:var(--shadow)}
.stack>*+*{margin-block-start:1.25rem}
.muted{color:var(--muted);font-size:.875rem}
.center{text-align:center}
.notice{padding:.75rem 1rem;border:1px solid var(--bad);border-inline-start-width:.375rem;border-radius:var(--radius);background:var(--bad-soft)}
.notice strong,.wrong{color:var(--bad)}
.notice:focus{outline:2px solid var(--bad);outline-offset:-1px}
form{margin:0}
.field label{display:flex;flex-wrap:wrap;align-items:baseline;justify-content:space-between;gap:.125rem .5rem;font-size:.9375rem;font-weight:600}
.hint{color:var(--muted);font-size:.8125rem;font-weight:400}
.wrong{display:block;font-size:.875rem}
.wrong:not(:empty){margin-block-start:.375rem}
input[type=text]{display:block;width:100%;min-height:3rem;margin-block-start:.375rem;padding:.625rem .75rem;border:1px solid var(--field);border-radius:var(--radius);background:var(--surface);color:inherit;font:inherit;font-variant-numeric:tabular-nums}
[dir=rtl] input[type=text]{text-align:right}
input[aria-invalid=true]{border-color:var(--bad);border-width:2px}
.field+.pair,.pair+button{margin-block-start:1rem}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(7.5rem,1fr));gap:1rem;align-items:start}
.fields{gap:0 1rem}
.field+.pair.fields{margin-block-start:0}
.fields .field{display:grid;margin-block-start:1rem;grid-template-rows:subgrid;grid-row:span 3;align-items:end}
.fields .wrong{align-self:start}
.brands{display:flex;gap:.25rem}
.brand{width:2.125rem;height:1.375rem;border-radius:.25rem}
.brand.other{display:none}
.method{border:1px solid var(--field)}
.method:first-child{border-start-start-radius:var(--radius);border-start-end-radius:var(--radius)}
.method:last-child{border-end-start-radius:var(--radius);border-end-end-radius:var(--radius)}
.method+.method{border-block-start:0}
.method{position:relative}
.method>input{position:absolute;inset-block-start:1.0625rem;inset-inline-start:1rem;width:1.125rem;height:1.125rem;margin:0;accent-color:var(--accent)}
.method>label{display:flex;align-items:center;gap:.625rem;min-height:3.25rem;padding:.5rem 1rem;padding-inline-start:2.875rem;font-weight:600;cursor:pointer}
.method>label .icon{color:var(--muted)}
.method>input:checked+label .icon{color:inherit}
.panel{padding:.25rem .75rem 1rem}
.panel>*+*{margin-block-start:1rem}
.method>input:not(:checked)~.panel{display:none}
button,.button{display:flex;align-items:center;justify-content:center;gap:.5rem;width:100%;min-height:3rem;padding:.625rem 1rem;border:1px solid var(--brand-line);border-radius:var(--radius);background:var(--brand);color:var(--on-brand);font:inherit;font-weight:650;text-align:center;text-decoration:none;cursor:pointer}
button:hover,.button:hover{background:var(--brand-strong)}
button:disabled{opacity:.8;cursor:progress}
button[aria-busy=true] .icon{display:none}
button[aria-busy=true]::before{content:"";width:1.25em;height:1.25em;border:.1875rem solid;border-block-start-color:transparent;border-radius:50%;animation:turn 1s linear infinite}
button.quiet{background:var(--surface);border-color:var(--field);color:inherit}
button.quiet:hover{background:var(--raised)}
.leave{text-align:center}
.stack>.leave,.stack>.leave+*{margin-block-start:.5rem}
.away{display:inline-block;padding-block:.8125rem;color:var(--muted)}
:focus-visible{outline:3px solid var(--focus);outline-offset:2px}
details{font-size:.875rem}
summary{padding-block:.875rem;font-weight:600;cursor:pointer}
table{width:100%;margin-block-start:.5rem;border-collapse:collapse}
th,td{padding:.375rem 0;border-block-start:1px solid var(--line);text-align:start;vertical-align:top}
th{font-weight:600}
td:first-child{white-space:nowrap;padding-inline-end:.75rem;font-variant-numeric:tabular-nums}
dl{overflow-wrap:anywhere}
dl>div{display:flex;flex-wrap:wrap;justify-content:space-between;gap:0 1rem;padding-block:.625rem;border-block-start:1px solid var(--line)}
dt{color:var(--muted)}
dd{font-weight:600}
.reference{font:.8125rem/1.7 var(--mono)}
.code{padding:1rem;border:1px dashed var(--field);border-radius:var(--radius);background:var(--raised);text-align:center}
.code bdi{font-size:clamp(1.5rem,8vw,2rem);line-height:1.3;font-weight:700;letter-spacing:.04em;white-space:nowrap;font-variant-numeric:tabular-nums}
.qr{display:block;width:10rem;max-width:100%;height:auto;margin:.75rem auto 0;border-radius:.5rem}
.outcome{display:grid;place-items:center;width:4rem;height:4rem;margin-inline:auto;border-radius:50%;font-size:2.25rem}
.outcome .icon{width:1em;height:1em}
.outcome~h1,.outcome~h1+p{text-align:center}
.good{background:var(--good-soft);color:var(--good)}
.bad{background:var(--bad-soft);color:var(--bad)}
.late{background:var(--warn-soft);color:var(--warn)}
.wait{border:.375rem solid var(--line);border-block-start-color:var(--accent);animation:turn 1s linear infinite}
@keyframes turn{to{transform:rotate(1turn)}}
@media (prefers-reduced-motion:reduce){.wait,button[aria-busy=true]::before{animation-duration:6s}}
.languages{width:100%;margin-block-start:auto;padding:.5rem 1rem 1rem}
.languages ul{display:flex;flex-wrap:wrap;justify-content:center;gap:0 1.25rem;padding:0;list-style:none;font-size:.9375rem}
.languages a,.languages span{display:inline-block;padding-block:.8125rem}
.languages a{color:var(--muted)}
@media (min-width:30rem){.sheet{padding:1.75rem}.panel{padding-inline:1rem}}
@media (min-width:56rem){
main.split{display:grid;grid-template-columns:minmax(0,5fr) minmax(0,6fr);gap:3rem;max-width:62rem;align-items:start;padding-block-start:2rem}
.amount{font-size:2.75rem}
}
@media print{
:root{color-scheme:light;--surface:#fff;--raised:#fff;--text:#000;--muted:#000;--line:#999;--field:#000;--brand:#fff;--brand-line:#000;--on-brand:#000;
--good:#000;--good-soft:#fff;--bad:#000;--bad-soft:#fff;--warn:#000;--warn-soft:#fff}
@page{margin:15mm}
body{display:block;background:#fff}
main,main.split{display:block;max-width:none;padding:0}
.languages,.screen,button{display:none}
.sheet{border:0;box-shadow:none;margin-block:1rem;padding:0}
.test,.outcome{border:1px solid}
.code,dl>div{break-inside:avoid}
}
`;

/** A style element, and the source of the Content-Security-Policy that allows it. */
export interface Style {
  readonly element: Html;
  readonly source: string;
}

function styleOf(text: string): Style {
  const digest = createHash('sha256').update(text).digest('base64');
  return { element: new Html(`<style>${text}</style>`), source: `'sha256-${digest}'` };
}

export const pageStyle = styleOf(css);

/** The merchant's colour, `#rrggbb`. The border shows where the page has the same colour. */
export function brandStyle(colour: string): Style {
  assert(/^#[0-9a-f]{6}$/i.test(colour), 'a colour is six hexadecimal digits');
  return styleOf(
    `:root{--brand:${colour};--brand-strong:${colour};--brand-line:var(--field);--on-brand:${readableOn(colour)}}`,
  );
}

/** White or black: whichever has more contrast, 4.5 or more (WCAG 2, relative luminance). */
function readableOn(colour: string): '#fff' | '#000' {
  const lightness = (at: number) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  const luminance = 0.2126 * lightness(1) + 0.7152 * lightness(3) + 0.0722 * lightness(5);
  return 1.05 / (luminance + 0.05) >= (luminance + 0.05) / 0.05 ? '#fff' : '#000';
}
