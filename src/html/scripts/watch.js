// Looks every few seconds whether the payment has gone on, and loads the page again when it has. A
// page that nobody sees does not look.

const main = /** @type {HTMLElement} */ (document.querySelector('main[data-stage]'));

async function look() {
  if (document.hidden) return;
  const answer = await fetch(location.href, { method: 'HEAD' }).catch(() => null);
  const stage = answer?.headers.get('payment-stage') ?? null;
  if (stage !== null && stage !== main.dataset.stage) location.reload();
}

setInterval(look, Number(main.dataset.seconds) * 1_000);
document.addEventListener('visibilitychange', look);
