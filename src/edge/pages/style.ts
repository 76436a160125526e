// The style sheet of the pages. It is in every page, allowed by its digest, so a page needs no second request. It uses
// logical properties only, so the Arabic pages are mirrored without rules of their own.

import { createHash } from 'node:crypto';
import { Html } from './html.ts';
import { tokensCss } from './tokens.ts';

const css = `${tokensCss}*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--page);color:var(--text);font:1rem/1.5 var(--font)}
h1,p,ul,dl,dd,table{margin:0}
h1{font-size:1.375rem;line-height:1.3;font-weight:650;text-wrap:balance}
a{color:var(--accent);text-underline-offset:.15em}
.test{padding:.625rem 1rem;background:var(--warn-soft);color:var(--warn);text-align:center;font-size:.875rem}
main,.languages{width:100%;max-width:28rem;margin-inline:auto;padding-inline:1rem}
.sheet{margin-block:1.5rem 1rem;padding:1.5rem;background:var(--surface);border:1px solid var(--line);border-radius:.75rem}
.stack>*+*{margin-block-start:1.25rem}
.bill{padding-block-end:1.25rem;border-block-end:1px solid var(--line)}
.merchant{color:var(--muted);overflow-wrap:anywhere}
.amount{font-size:1.875rem;line-height:1.25;font-weight:650;font-variant-numeric:tabular-nums}
.muted{color:var(--muted);font-size:.9375rem}
.notice{padding:.875rem 1rem;border:1px solid var(--bad);border-inline-start-width:.375rem;border-radius:.5rem;background:var(--bad-soft)}
.notice strong{color:var(--bad)}
.notice ul{padding-inline-start:1.25rem}
.notice a,.wrong{color:var(--bad)}
form{margin:0}
label{display:block;font-weight:600}
.hint,.wrong{display:block;font-size:.875rem;font-weight:400}
.hint{color:var(--muted)}
.wrong{margin-block-start:.375rem}
input:not([type=hidden]){display:block;width:100%;margin-block-start:.375rem;padding:.6875rem .75rem;border:1px solid var(--field);border-radius:.5rem;background:var(--surface);color:inherit;font:inherit;font-variant-numeric:tabular-nums}
input[aria-invalid=true]{border-color:var(--bad);border-width:2px}
.pair{display:grid;grid-template-columns:1fr 1fr;gap:1rem;align-items:start}
button,.button{display:block;width:100%;padding:.8125rem 1rem;border:1px solid var(--accent);border-radius:.5rem;background:var(--accent);color:var(--on-accent);font:inherit;font-weight:600;text-align:center;text-decoration:none;cursor:pointer}
button:hover,.button:hover{background:var(--accent-strong)}
button.choice{padding:1rem;background:var(--surface);color:inherit;border-color:var(--field);text-align:start}
button.choice:hover{border-color:var(--accent);background:var(--accent-soft)}
button.quiet{background:var(--surface);color:var(--accent)}
button.quiet:hover{background:var(--accent-soft)}
.choices>*+*{margin-block-start:.75rem}
:focus-visible{outline:3px solid var(--focus);outline-offset:2px}
.notice:focus{outline:2px solid var(--bad);outline-offset:-1px}
.center{text-align:center}
details{font-size:.875rem}
summary{font-weight:600;font-size:1rem;cursor:pointer}
table{width:100%;margin-block-start:.5rem;border-collapse:collapse}
th,td{padding:.375rem 0;border-block-start:1px solid var(--line);text-align:start;vertical-align:top}
th{font-weight:600}
td:first-child{white-space:nowrap;padding-inline-end:.75rem;font-variant-numeric:tabular-nums}
dl>div{padding-block:.625rem;border-block-start:1px solid var(--line)}
dt{color:var(--muted);font-size:.875rem}
dd{font-weight:600}
.code{font-size:1.75rem;line-height:1.3;letter-spacing:.02em;white-space:nowrap;font-variant-numeric:tabular-nums}
.qr{display:block;width:11rem;max-width:100%;height:auto;margin-inline:auto}
.languages{padding-block-end:1.5rem}
.languages ul{display:flex;flex-wrap:wrap;justify-content:center;gap:.25rem 1.25rem;padding:0;list-style:none;font-size:.9375rem}
.languages a,.languages span{display:inline-block;padding-block:.25rem}
@media (min-width:40rem){.sheet{margin-block-start:3rem;padding:2rem}}
@media print{
:root{color-scheme:light;--surface:#fff;--text:#000;--muted:#000;--line:#000}
body{background:#fff}
.languages,.screen{display:none}
.sheet{border:0;margin-block:1rem;padding:0}
.test{border:1px solid;background:none;color:#000}
}
`;

/** The style element. */
export const styleElement = new Html(`<style>${css}</style>`);

/** The source of the Content-Security-Policy that allows this style and no other. */
export const styleSource = `'sha256-${createHash('sha256').update(css).digest('base64')}'`;
