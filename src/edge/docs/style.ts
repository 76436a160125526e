// The style sheet of the documentation. Its colours are those of all pages (html/tokens.ts).
// The list of pages lies behind the content and stands beside it where there is room, so that
// phones and screen readers meet the content first.

import type { Asset } from '../../html/assets.ts';
import { tokensCss } from '../../html/tokens.ts';

const css = `${tokensCss}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%;scroll-padding-block-start:1rem}
body{margin:0;background:var(--surface);color:var(--text);font:1rem/1.6 var(--font);overflow-wrap:anywhere}
a{color:var(--accent);text-underline-offset:.15em}
a:has(>code){text-decoration:none}
a>code{border-block-end:1px solid currentcolor}
:focus-visible{outline:3px solid var(--focus);outline-offset:2px}
.skip{position:absolute;inset-inline-start:-100vw}
.skip:focus{inset-inline-start:1rem;inset-block-start:.5rem;padding:.5rem 1rem;background:var(--surface);z-index:1}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.top{display:flex;flex-wrap:wrap;align-items:center;gap:.5rem 1.5rem;padding:.75rem 1rem;background:var(--page);border-block-end:1px solid var(--line)}
.top ul,.pages ul,.toc,.languages ul{margin:0;padding:0;list-style:none}
.top ul{display:flex;flex-wrap:wrap;gap:0 1.25rem}
.top a{display:inline-block;padding-block:.5rem}
.brand{color:inherit;font-weight:700;text-decoration:none}
.search{display:flex;flex:1 1 14rem;gap:.5rem;max-width:26rem;margin-inline-start:auto}
.search input{flex:1;min-width:0;padding:.5rem .75rem;border:1px solid var(--field);border-radius:var(--radius);background:var(--surface);color:inherit;font:inherit}
button,.button{padding:.5rem 1rem;border:1px solid var(--accent);border-radius:var(--radius);background:var(--accent);color:var(--on-accent);font:inherit;font-weight:600;text-decoration:none;cursor:pointer}
button:hover,.button:hover{background:var(--accent-strong)}
.button.plain{background:var(--surface);color:var(--accent)}
.layout{max-width:78rem;margin-inline:auto}
main{min-width:0;max-width:54rem;padding:1.5rem 1rem 4rem}
.pages{padding:1.5rem 1rem 3rem;border-block-start:1px solid var(--line);font-size:.9375rem}
.pages h2{margin:1.25rem 0 .25rem;font-size:.875rem;color:var(--muted)}
.pages a{display:block;padding:.25rem .5rem;border-radius:.375rem;color:inherit;text-decoration:none}
.pages a:hover{background:var(--raised);text-decoration:underline}
.pages a[aria-current]{background:var(--accent-soft);color:var(--accent);font-weight:600}
h1{margin:0 0 .75rem;font-size:1.875rem;line-height:1.2;text-wrap:balance}
h2{margin:2.5rem 0 .5rem;font-size:1.375rem;line-height:1.3}
h3{margin:1.75rem 0 .25rem;font-size:1.0625rem}
h4{margin:1.25rem 0 .25rem;font-size:1rem}
.lead{font-size:1.125rem;color:var(--muted)}
.quiet{color:var(--muted);font-size:.9375rem}
.toc{margin-block:1rem 1.5rem;padding-inline-start:.875rem;border-inline-start:3px solid var(--line)}
.toc a{display:inline-block;padding-block:.125rem}
code,pre{font-family:var(--mono);font-size:.9em;direction:ltr;unicode-bidi:isolate}
code{padding:.1em .3em;border-radius:.25rem;background:var(--raised)}
.sample{display:grid;grid-template-columns:minmax(0,1fr) auto;gap:.5rem;align-items:start;margin-block:.75rem}
pre{margin:0;padding:.875rem 1rem;border:1px solid var(--line);border-radius:var(--radius);background:var(--raised);white-space:pre-wrap;font-size:.875rem;line-height:1.5;tab-size:4}
pre code{padding:0;background:none;font-size:inherit}
.sample button{padding:.25rem .625rem;background:var(--surface);color:var(--accent);font-size:.8125rem}
.sample button:hover{background:var(--accent-soft)}
table{width:100%;margin-block:.75rem 1rem;border-collapse:collapse;font-size:.9375rem}
th,td{overflow-wrap:break-word;padding:.375rem .75rem .375rem 0;border-block-end:1px solid var(--line);text-align:start;vertical-align:top}
.fields{margin:.5rem 0 1rem;padding:0;list-style:none}
.fields .fields{margin-inline-start:1rem;padding-inline-start:1rem;border-inline-start:2px solid var(--line)}
.fields>li{padding-block:.625rem;border-block-end:1px solid var(--line)}
.fields>li:last-child{border-block-end:0}
.fields p{margin:.125rem 0}
.must{color:var(--bad);font-size:.875rem}
.route{padding:.625rem .875rem;border:1px solid var(--line);border-radius:var(--radius);background:var(--raised);font-family:var(--mono);font-size:.9375rem}
.method{font-weight:700}
details{margin-block:.5rem}
summary{padding-block:.375rem;font-weight:600;cursor:pointer}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(16rem,100%),1fr));gap:.75rem;margin:1rem 0;padding:0;list-style:none}
.cards>li{padding:.875rem 1rem;border:1px solid var(--line);border-radius:var(--radius);background:var(--raised)}
.cards p{margin:.25rem 0 0;color:var(--muted);font-size:.9375rem}
.cards a{font-weight:600}
.actions{display:flex;flex-wrap:wrap;gap:.75rem;margin-block:1.5rem}
.first{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(20rem,100%),1fr));gap:1rem 2rem;align-items:start;margin-block:2rem}
.first h2{margin-block-start:0}
.picture{margin:0}
.picture figcaption{color:var(--muted);font-size:.9375rem}
.picture svg{display:block;width:100%;max-width:22rem;height:auto;font-family:var(--font)}
.picture .sheet{fill:var(--surface);stroke:var(--line)}
.picture .field{fill:var(--surface);stroke:var(--field)}
.picture .chosen{fill:var(--accent-soft);stroke:var(--accent)}
.picture .pay,.picture .dot{fill:var(--accent)}
.picture .on{fill:var(--on-accent)}
.picture text{fill:var(--text)}
.picture text.muted{fill:var(--muted)}
.picture text.on{fill:var(--on-accent)}
.found{padding:0;list-style:none}
.found>li{margin-block:1rem}
.found p{margin:0;color:var(--muted);font-size:.9375rem}
mark{background:var(--warn-soft);color:var(--warn)}
.error{padding:.5rem 1rem;border-block-start:1px solid var(--line)}
.error:target{background:var(--warn-soft)}
.error dt{color:var(--muted);font-size:.875rem}
.error:target dt,.error:target a{color:inherit}
.error dd{margin:0 0 .5rem}
.codes{columns:15rem;padding:0;list-style:none}
.top .languages{font-size:.875rem}
.languages ul{display:flex;flex-wrap:wrap;gap:0 1.25rem}
.languages a,.languages span{display:inline-block;padding-block:.25rem}
@media (max-width:40rem){
table,tbody,tr,td{display:block}
thead{position:absolute;clip-path:inset(50%)}
tr{padding-block:.5rem;border-block-end:1px solid var(--line)}
td{overflow-wrap:anywhere;padding:.125rem 0;border:0}
td[data-column]:not([data-column=""])::before{content:attr(data-column) ": ";color:var(--muted)}
td:empty{display:none}
.sample{grid-template-columns:minmax(0,1fr)}
.sample button{order:-1;justify-self:end}
}
@media (min-width:60rem){
.layout{display:grid;grid-template-columns:16rem minmax(0,1fr)}
.pages{grid-row:1;grid-column:1;border:0;border-inline-end:1px solid var(--line)}
.pages{position:sticky;inset-block-start:0;height:100vh;overflow-y:auto}
.layout>main{grid-row:1;grid-column:2;padding:2rem 2.5rem 5rem}
.jump{display:none}
}
@media print{.top,.pages,.sample button{display:none}}
`;

export const docsStyle: Asset = { name: 'docs.css', type: 'text/css; charset=utf-8', text: css };
