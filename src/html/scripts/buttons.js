// Buttons that need a script, and are hidden without one: `data-copy` copies its text, or when it
// is empty that of the element before the button; `data-print` prints the page. A button with
// `data-confirm` asks its question before it sends its form. A double click posts a form once.

for (const button of document.querySelectorAll('button[data-copy]')) {
  if (!(button instanceof HTMLButtonElement) || !navigator.clipboard) continue;
  button.hidden = false;
  const label = button.textContent;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(
      button.dataset.copy || (button.previousElementSibling?.textContent ?? ''),
    );
    button.textContent = button.dataset.done ?? label;
    setTimeout(() => {
      button.textContent = label;
    }, 3_000);
  });
}

for (const button of document.querySelectorAll('button[data-print]')) {
  if (!(button instanceof HTMLButtonElement)) continue;
  button.hidden = false;
  button.addEventListener('click', () => window.print());
}

/** A form that was posted is not posted again within this time: one answer would hide the other. */
const doubleClickMs = 2_000;
/** When each form was posted. @type {WeakMap<HTMLFormElement, number>} */
const postedAt = new WeakMap();

document.addEventListener('submit', (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target);
  const sinceMs = event.timeStamp - (postedAt.get(form) ?? Number.NEGATIVE_INFINITY);
  // Its property of that name may be one of its fields.
  const isPost = form.getAttribute('method') === 'post';
  const question = event.submitter?.dataset.confirm;
  if (sinceMs < doubleClickMs || (question !== undefined && !window.confirm(question)))
    event.preventDefault();
  else if (isPost) postedAt.set(form, performance.now());
});
