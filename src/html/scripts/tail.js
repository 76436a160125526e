// Keeps a list up to date while its page is open: the stream sends the list anew whenever something
// has come. A button pauses it. Without this script the page has a link that loads it again.

for (const place of document.querySelectorAll('[data-tail]')) {
  const list = place.querySelector('[data-list]');
  const toggle = place.querySelector('button');
  const refresh = place.querySelector('a[data-refresh]');
  if (!(place instanceof HTMLElement) || list === null || toggle === null) continue;
  if (refresh instanceof HTMLElement) refresh.hidden = true;
  toggle.hidden = false;

  /** @type {EventSource | null} */
  let stream = null;
  const show = () => toggle.setAttribute('aria-pressed', String(stream !== null));

  /** @param {string} markup the list, which the service has made */
  const replace = (markup) => {
    const focused = document.activeElement;
    const href = focused !== null && list.contains(focused) ? focused.getAttribute('href') : null;
    list.innerHTML = markup;
    if (href === null) return;
    const again = [...list.querySelectorAll('a')].find((link) => link.getAttribute('href') === href);
    again?.focus({ preventScroll: true });
  };

  // Between press and release a link must stay the same element: the browser sees no click on it otherwise.
  let pressed = false;
  let waiting = '';
  /** @param {string} markup */
  const receive = (markup) => {
    if (pressed) waiting = markup;
    else replace(markup);
  };
  // The click comes right after the release.
  const release = () =>
    setTimeout(() => {
      pressed = false;
      if (waiting !== '') replace(waiting);
      waiting = '';
    });
  list.addEventListener('pointerdown', () => {
    pressed = true;
  });
  for (const type of ['pointerup', 'pointercancel']) addEventListener(type, release);

  const start = () => {
    const opened = new EventSource(place.dataset.tail ?? '');
    opened.onmessage = ({ data }) => receive(data);
    // After a refusal the browser does not try again.
    opened.onerror = () => {
      if (opened.readyState === EventSource.CLOSED) stop();
    };
    stream = opened;
    show();
  };

  const stop = () => {
    stream?.close();
    stream = null;
    show();
  };

  toggle.addEventListener('click', () => (stream === null ? start() : stop()));
  start();
}
