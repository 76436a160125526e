// The style sheet of the dashboard and the documentation, a file of its own that browsers keep.
// Logical properties only, so the Arabic pages are mirrored without rules of their own.

import type { Asset } from './assets.ts';
import { tokensCss } from './tokens.ts';

const css = `${tokensCss}*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--page);color:var(--text);font:1rem/1.5 var(--font);overflow-wrap:break-word}
h1,h2,h3,p,ul,ol,dl,dd,pre,table,figure{margin:0}
h1{font-size:1.5rem;line-height:1.3;text-wrap:balance}
h2{font-size:1.125rem;line-height:1.4}
h3{font-size:1rem}
a{color:var(--accent);text-underline-offset:.15em}
img,svg{max-width:100%}
code,pre{font-family:var(--mono);font-size:.9em;overflow-wrap:anywhere}
pre{padding:.75rem 1rem;overflow-x:auto;border:1px solid var(--line);border-radius:var(--radius);background:var(--raised);overflow-wrap:normal}
:focus-visible{outline:3px solid var(--focus);outline-offset:2px}
main:focus{outline:none}
.unseen{position:absolute;inline-size:1px;block-size:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.skip{position:absolute;inset-inline-start:.5rem;inset-block-start:-10rem;padding:.5rem .75rem;background:var(--surface);z-index:2}
.skip:focus{inset-block-start:.5rem}
.stack>:not([type=hidden])~*{margin-block-start:1.25rem}
.muted{color:var(--muted);font-size:.9375rem}
.test-banner{padding:.375rem 1rem;border-block-end:1px solid var(--warn);background:repeating-linear-gradient(135deg,var(--warn-soft) 0 1rem,var(--surface) 1rem 2rem);color:var(--warn);text-align:center;font-size:.875rem}
.bar{display:flex;flex-wrap:wrap;align-items:center;justify-content:space-between;gap:.5rem 1.5rem;padding:.625rem 1rem;border-block-end:1px solid var(--line);background:var(--surface)}
.test .bar{border-block-end:3px solid var(--warn)}
.switches{display:flex;flex-wrap:wrap;align-items:center;gap:.25rem .75rem;min-inline-size:0}
.organization{font-weight:650;overflow-wrap:anywhere}
.mode{padding:.0625rem .5rem;border:1px solid var(--line);border-radius:1rem;font-size:.8125rem;font-weight:600}
.mode.test{border-color:var(--warn);background:var(--warn-soft);color:var(--warn)}
.menu{position:relative}
.menu summary,.views-folded summary{cursor:pointer;padding:.25rem .25rem;font-weight:600}
.menu ul{position:absolute;inset-inline-start:0;z-index:1;min-inline-size:12rem;max-inline-size:80vw;padding:.375rem;list-style:none;border:1px solid var(--line);border-radius:var(--radius);background:var(--surface);box-shadow:var(--shadow)}
.menu.member ul{inset-inline:auto 0}
.menu li>a,.menu li button{display:block;inline-size:100%;padding:.5rem .625rem;text-align:start;text-decoration:none}
.columns{display:block}
main{max-inline-size:64rem;padding:1.25rem 1rem 2rem;min-inline-size:0;container-type:inline-size}
.narrow main{max-inline-size:30rem;margin-inline:auto}
.brand~.columns .sheet{box-shadow:var(--shadow)}
.brand~.columns .heading{justify-content:center}
main>*+*{margin-block-start:1.25rem}
.heading{display:flex;flex-wrap:wrap;align-items:center;justify-content:space-between;gap:.75rem}
.sheet{padding:1.25rem;border:1px solid var(--line);border-radius:.75rem;background:var(--surface)}
.views{display:none}
.views ul,.views-folded ul{padding:0;list-style:none}
.views p,.views-folded p{padding:.875rem .75rem .25rem;color:var(--muted);font-size:.8125rem;font-weight:600}
.icon{inline-size:1.25em;block-size:1.25em;flex:none}
.views .icon,.views-folded .icon{color:var(--muted)}
[aria-current=page] .icon{color:inherit}
.brand{padding:2rem 1rem 0;text-align:center}
.brand a{display:inline-flex;align-items:center;gap:.625rem;min-block-size:2.75rem;color:inherit;font-size:1.25rem;font-weight:700;text-decoration:none}
.mark{inline-size:2.25rem;block-size:2.25rem;fill:var(--accent);color:var(--on-accent)}
.views-folded{padding:.375rem 1rem;border-block-end:1px solid var(--line);background:var(--surface)}
.views a,.views-folded li a{display:flex;align-items:center;gap:.625rem;min-block-size:2.5rem;padding:.375rem .75rem;border-radius:.5rem;color:var(--text);text-decoration:none}
.views a:hover,.views-folded li a:hover,.menu li>a:hover{background:var(--raised)}
[aria-current=page]{background:var(--accent-soft);font-weight:650}
.test [aria-current=page]{background:var(--warn-soft);color:var(--warn)}
label,legend{display:block;font-weight:600}
fieldset{margin:0;padding:0;border:0;min-inline-size:0}
.hint,.wrong{display:block;font-size:.875rem;font-weight:400}
.hint{color:var(--muted)}
.wrong{color:var(--bad);font-weight:600}
input:not([type=hidden],[type=checkbox],[type=radio]),select,textarea{display:block;inline-size:100%;min-block-size:2.75rem;margin-block-start:.25rem;padding:.5rem .75rem;border:1px solid var(--field);border-radius:.5rem;background:var(--surface);color:inherit;font:inherit}
input[type=color]{padding:.25rem}
.wide .field>:is(input,select,textarea){max-inline-size:30rem}
.wide .field>:is([type=date],[type=number],[type=color]){max-inline-size:12rem}.wide .field>[type=datetime-local]{max-inline-size:16rem}
[aria-invalid=true]{border-color:var(--bad);border-width:2px}
.check{display:flex;align-items:flex-start;gap:.5rem;padding-block:.25rem}
.check input{inline-size:1.25rem;block-size:1.25rem;margin:.125rem 0 0;flex:none}
.check label{font-weight:400}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,14rem),1fr));gap:1rem;align-items:end}
.filters{display:flex;flex-wrap:wrap;align-items:flex-end;gap:.75rem}
.filters .field{flex:1 1 9rem;max-inline-size:16rem}
.filters .field:has([type=search]){flex-basis:100%;max-inline-size:36rem}
.inline{display:inline-block}
button,.button{display:inline-block;min-block-size:2.75rem;padding:.5625rem 1rem;border:1px solid var(--accent);border-radius:.5rem;background:var(--accent);color:var(--on-accent);font:inherit;font-weight:600;text-align:center;text-decoration:none;cursor:pointer}
button:hover,.button:hover{background:var(--accent-strong)}
button.quiet,.button.quiet{background:var(--surface);color:var(--accent)}
button.quiet:hover,.button.quiet:hover{background:var(--raised)}
button.quiet[aria-pressed=true]{border-color:var(--good);background:var(--good-soft);color:var(--good)}
button.danger{border-color:var(--bad);background:var(--surface);color:var(--bad)}
button.danger:hover{background:var(--bad-soft)}
button.plain{min-block-size:0;padding:.125rem .25rem;border:0;background:none;color:var(--accent);font-weight:400;text-decoration:underline}
.narrow main button.main{inline-size:100%}
.safe{display:flex;gap:.5rem}
[hidden]{display:none!important}
table pre{max-block-size:16rem;padding:.25rem .5rem;overflow:auto;white-space:pre-wrap;overflow-wrap:anywhere}
.actions{display:flex;flex-wrap:wrap;align-items:center;gap:.75rem}
.notice{padding:.75rem 1rem;border:1px solid var(--line);border-inline-start-width:.375rem;border-radius:.5rem;background:var(--surface)}
.notice ul{padding-inline-start:1.25rem}
.notice.bad{border-color:var(--bad);background:var(--bad-soft)}
.notice.bad a,.notice.bad strong{color:var(--bad)}
.notice.good{border-color:var(--good);background:var(--good-soft);color:var(--good)}
.notice.warn{border-color:var(--warn);background:var(--warn-soft);color:var(--warn)}
.empty{padding:2rem 1rem;border:1px dashed var(--field);border-radius:.75rem;text-align:center}
.badge{display:inline-block;padding:.0625rem .5rem;border:1px solid currentColor;border-radius:1rem;color:var(--muted);font-size:.8125rem;font-weight:600;white-space:nowrap}
.badge.good{color:var(--good);background:var(--good-soft)}
.badge.bad{color:var(--bad);background:var(--bad-soft)}
.badge.warn{color:var(--warn);background:var(--warn-soft)}
.amount,time,.numeric{font-variant-numeric:tabular-nums}
.amount,.whole{white-space:nowrap}
.copyable{overflow-wrap:anywhere}
table{inline-size:100%;border-collapse:collapse}
th,td{padding:.625rem .5rem;border-block-end:1px solid var(--line);text-align:start;vertical-align:top}
th{color:var(--muted);font-size:.8125rem;font-weight:600}
.numeric{text-align:end}
td :is(.long,a[dir=ltr],bdi[dir=ltr]){overflow-wrap:anywhere}
dl>div{display:grid;grid-template-columns:minmax(8rem,1fr) 2fr;gap:.25rem 1rem;padding-block:.5rem;border-block-end:1px solid var(--line)}
dl>div:last-child{border-block-end:0}
dt{color:var(--muted)}
dd{min-inline-size:0;overflow-wrap:anywhere}
.periods ul{display:flex;flex-wrap:wrap;gap:.25rem .5rem;padding:0;list-style:none}
.periods a{display:block;padding:.375rem .75rem;border:1px solid var(--line);border-radius:1rem;text-decoration:none}
.periods [aria-current]{border-color:var(--accent);font-weight:650}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,15rem),1fr));gap:1rem}
.figures>div,.figures>div:last-child{display:block;border-block-end:1px solid var(--line)}
.figures dd{font-size:1.5rem;font-weight:650}
.figures dd .muted{display:block;font-weight:400}
.chart{display:block;inline-size:100%;block-size:11.25rem}
.plot{display:grid;grid-template-columns:auto minmax(0,1fr);gap:.625rem}
.scale{display:flex;flex-direction:column;justify-content:space-between;margin-block:-.625rem;font-size:.8125rem;line-height:1.25rem;text-align:end;font-variant-numeric:tabular-nums}
.chart .line{stroke:var(--line);fill:none;vector-effect:non-scaling-stroke}
.figures .then{margin-block-start:.25rem}
.chart .hit{fill:transparent}
.chart g:hover .hit{fill:var(--raised)}
.chart .axis{stroke:var(--field);fill:none;vector-effect:non-scaling-stroke}
.chart.low{block-size:5.625rem}
.is-good{fill:var(--good)}
.is-bad{fill:var(--bad)}
.by-card{fill:var(--accent);background:var(--accent)}
.in-cash{fill:var(--good);background:var(--good)}
.legend{display:flex;flex-wrap:wrap;align-items:center;gap:.25rem .5rem;font-size:.875rem}
.legend span{inline-size:.875rem;block-size:.875rem;border-radius:.1875rem}
.legend span+span,.legend .in-cash{margin-inline-start:.75rem}
.ends{display:flex;justify-content:space-between}
.steps{padding:0;list-style:none}
.steps li{display:flex;gap:.625rem;padding-block:.5rem}
.steps .step{flex:none;inline-size:1.5rem;color:var(--muted)}
.steps .icon{display:block}
.steps .done{color:var(--good)}
.steps code{overflow-wrap:anywhere}
.pager{display:flex;gap:1rem}
.qr{display:block;inline-size:11rem;max-inline-size:100%;block-size:auto}
footer{padding:1rem}
.languages ul{display:flex;flex-wrap:wrap;justify-content:center;gap:.25rem 1.25rem;padding:0;list-style:none;font-size:.9375rem}
.languages a,.languages span{display:inline-block;padding-block:.25rem}
@media (min-width:40rem){
.fold{display:none}
}
@media (max-width:39.99rem){
.fold{display:flex;flex:1;order:1;align-items:center;gap:.5rem;min-block-size:2.75rem}
.fold:not(:has(~.field :is(select,input:not([type=search])))){display:none}
.fold input{inline-size:1.5rem;block-size:1.5rem;margin:0}
.fold label{font-weight:400;padding-block:.625rem}
.fold~button,.fold~a{order:2}
.fold:has(input:not(:checked))~.field:not(:has([type=search])){display:none}
.fold:has(input:not(:checked)):not(:has(~.field [type=search]))~button{display:none}
button.plain,summary,.switches a,.menu li>a,.menu li button,.pager a,.periods a,.languages a,.languages span,.filters a,.actions a,.check label{display:inline-flex;align-items:center;min-block-size:2.75rem;min-inline-size:2.75rem}
summary{display:list-item;padding-block:.625rem}
.views-folded li a{min-block-size:2.75rem}
.languages a,.languages span{justify-content:center}
.check{align-items:center;padding-block:0}
.test .bar .mode{display:none}
.bar{flex-wrap:nowrap;align-items:baseline;gap:.5rem;padding-block:.375rem}
.menu.member summary{max-inline-size:7.5rem;overflow:hidden;white-space:nowrap;text-overflow:ellipsis}
.views-folded{padding-block:0}
main{padding-block:.75rem 1rem}
main>*+*{margin-block-start:.875rem}
footer{padding-block:0}
.filters{gap:.5rem .75rem}
.filters .field{min-inline-size:0}
.filters .hint{overflow:hidden;white-space:nowrap;text-overflow:ellipsis}
details.sheet{padding:.25rem 1rem}
.filters .field{flex-basis:100%;max-inline-size:none}
.filters .field:has([type=date]){flex-basis:7rem}
.filters button{flex:1}
dl>div{grid-template-columns:1fr}
}
@container (width>54rem){
.lines :is(td,th){padding-block:.375rem}
.lines td{font-size:.9375rem}
.lines :is(time,.numeric,bdi.muted){white-space:nowrap}
.lines td>div>:is(code,a[dir=ltr]){display:inline-block;max-inline-size:25rem;overflow:hidden;white-space:nowrap;text-overflow:ellipsis;vertical-align:bottom}
.lines td>div>code{max-inline-size:11rem}
}
@container (width<=54rem){
.lines,.lines tbody,.lines td{display:block}
.lines thead{position:absolute;inline-size:1px;block-size:1px;overflow:hidden;clip-path:inset(50%)}
.lines tr{display:flex;flex-wrap:wrap;align-items:baseline;gap:0 .5rem;position:relative;padding:.25rem .75rem;border:1px solid var(--line);border-block-end-width:0;background:var(--surface);font-size:.75rem;line-height:1.25rem}
.lines tr:last-child{border-block-end-width:1px}
.lines td{min-inline-size:0;padding:0;border:0;color:var(--muted);text-align:start}
.lines td:empty,.lines td:has(>div:empty){display:none}
.lines td.numeric:nth-child(n+3)::before{content:attr(data-heading) " "}
.lines td.numeric:nth-child(n+3)>div{display:inline}
.lines td:first-child{flex:1 1 100%;font-size:1rem}
.lines tr:has(td.numeric:nth-child(2)) td:first-child{flex-basis:55%}
.lines td>div{min-inline-size:0;overflow-wrap:anywhere}
.lines td:first-child>div,.lines td:first-child>div>:only-child{overflow:hidden;white-space:nowrap;text-overflow:ellipsis}
.lines td:first-child>div>:only-child{display:inline-block;max-inline-size:100%;vertical-align:bottom}
.lines td.numeric:nth-child(2){color:var(--text);font-size:1rem;font-weight:600}
.lines td:first-child a:first-of-type::after{content:"";position:absolute;inset:0}
.lines td+td :is(a,button),.lines summary{position:relative}
.lines td:first-child>div:has(details){white-space:normal}
.lines .badge{padding-block:0;font-size:.75rem}
.lines :is(.badge,.amount){white-space:normal}
.lines td+td :is(.muted,code){font-size:inherit}
}
@container (width<=40rem){
.cards,.cards tbody,.cards tr,.cards td{display:block}
.cards thead{position:absolute;inline-size:1px;block-size:1px;overflow:hidden;clip-path:inset(50%)}
.cards tr{padding:.625rem .875rem;border:1px solid var(--line);border-radius:var(--radius);background:var(--surface)}
.cards tr+tr{margin-block-start:.75rem}
.cards td{display:grid;grid-template-columns:minmax(6rem,2fr) 3fr;gap:.75rem;padding:.25rem 0;border:0;text-align:start}
.cards td::before{content:attr(data-heading);color:var(--muted);font-size:.875rem}
.cards td>div{min-inline-size:0;overflow-wrap:anywhere}
.cards .badge,.cards .amount{white-space:normal}
}
@media (min-width:60rem){
.wide main{max-inline-size:70rem}
.wide .columns{display:grid;grid-template-columns:14rem minmax(0,1fr)}
.views{display:block;padding:1rem .75rem}
.views-folded{display:none}
main{padding:1.5rem 2rem 3rem}
}
@media print{
.bar,.views,.views-folded,.languages,.skip,.test-banner{display:none}
}
`;

export const siteStyle: Asset = { name: 'site.css', type: 'text/css; charset=utf-8', text: css };
