// What the customer's browser sees of the stand-in.

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string) => text.replace(/[&<>"]/g, (letter) => escapes[letter]!);

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1>${body}</html>`;
}

const hidden = (fields: Iterable<readonly [string, string]>) =>
  [...fields]
    .map(([name, value]) => `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">`)
    .join('\n');

/** Stands where CMI's page asks for the card. */
export function decisionPage(oid: string, amount: string): string {
  return page(
    'CMI stand-in',
    `<p>${escaped(oid)}: ${escaped(amount)} MAD</p>
<form method="post" action="/fim/decision">
${hidden([['oid', oid]])}
<button name="decision" value="approve">Approve</button>
<button name="decision" value="decline">Decline</button>
<button name="decision" value="fail_challenge">Fail the challenge</button>
</form>`,
  );
}

/** Takes the browser back to the merchant by itself. */
export function returnPage(address: string, fields: Iterable<readonly [string, string]>): string {
  return page(
    'Back to the merchant',
    `<form id="return" method="post" action="${escaped(address)}">
${hidden(fields)}
</form>
<script>document.getElementById('return').submit()</script>`,
  );
}

export function errorPage(problem: string): string {
  return page('Error', `<p id="problem">${escaped(problem)}</p>`);
}
