// Buttons that need a script, and are hidden without one: `data-copy` copies its text, or when it
// is empty that of the element before the button; `data-print` prints the page. A button with
// `data-confirm` asks its question before it sends its form.

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

document.addEventListener('submit', (event) => {
  const question = event.submitter?.dataset.confirm;
  if (question !== undefined && !window.confirm(question)) event.preventDefault();
});
