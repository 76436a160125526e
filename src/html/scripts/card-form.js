// Helps to type a card: it groups the digits of the number, marks its brand, puts the slash into
// the expiry date, and tells a wrong field as soon as it is left. The server checks everything
// again, and the form works without this script. What was typed stays in the page: the number and
// the security code are removed when the page is left.

const form = /** @type {HTMLFormElement} */ (document.querySelector('form.card'));
const number = field('number');
const expiry = field('expiry');
const cvc = field('cvc');
const fields = [number, expiry, cvc];
/** The marks of the brands, each with the ranges of the first six digits. */
const brands = /** @type {NodeListOf<SVGElement>} */ (form.querySelectorAll('.brand'));
/** If the browser is still on the page after this time, the form can be sent again. */
const sendingMs = 30_000;

/** @param {string} id */
function field(id) {
  return /** @type {HTMLInputElement} */ (document.getElementById(id));
}

/** The text with Arabic and Persian digits as ASCII ones. @param {string} text */
function asciiDigits(text) {
  return text.replace(/[٠-٩۰-۹]/g, (digit) => String(digit.charCodeAt(0) & 15));
}

/** @param {string} text */
function digitsOf(text) {
  return asciiDigits(text).replace(/\D/g, '');
}

/** @param {string} digits */
function isAmex(digits) {
  return /^3[47]/.test(digits);
}

/** The digits in the groups that are printed on cards. @param {string} digits */
function grouped(digits) {
  const groups = isAmex(digits) ? [4, 6, 5] : [4, 4, 4, 4, 3];
  let start = 0;
  const parts = groups.map((size) => {
    start += size;
    return digits.slice(start - size, start);
  });
  return parts.filter(Boolean).join(' ');
}

/** The expiry date as `MM / YY`, as far as it was typed. @param {string} text */
function spacedExpiry(text) {
  const typed = asciiDigits(text);
  const parts = /^\s*(\d{1,2})\s*[/.\s-]\s*(\d*)/.exec(typed);
  const digits = parts === null ? typed.replace(/\D/g, '') : `${parts[1]?.padStart(2, '0')}${parts[2]}`;
  const whole = /^[2-9]/.test(digits) ? `0${digits}` : digits;
  return whole.length < 2 ? text : `${whole.slice(0, 2)} / ${whole.slice(2, 6)}`;
}

/**
 * Whether a number that begins with these digits can be in a range. @param {string} digits @param
 * {string} range
 */
function within(digits, range) {
  const prefix = digits.slice(0, 6);
  const [from = '', to = ''] = range.split('-').map((end) => end.slice(0, prefix.length));
  return prefix !== '' && prefix >= from && prefix <= to;
}

/** The marks of other brands go when the number is of one of the brands. @param {string} digits */
function markBrand(digits) {
  const fits = [...brands].map(({ dataset }) =>
    (dataset.ranges ?? '').split(' ').some((range) => within(digits, range)),
  );
  const isKnown = fits.includes(true);
  for (const [i, brand] of brands.entries()) brand.classList.toggle('other', isKnown && !fits[i]);
}

/**
 * Writes the text of a field anew; the caret stays behind the same digit. @param {HTMLInputElement}
 * input @param {string} text
 */
function rewrite(input, text) {
  if (input.value === text) return;
  const caret = input.selectionStart ?? input.value.length;
  const isAtEnd = caret === input.value.length;
  const before = digitsOf(input.value.slice(0, caret)).length;
  input.value = text;
  if (document.activeElement !== input) return;
  let place = 0;
  for (let seen = 0; place < text.length && seen < before; place++) if (/\d/.test(text.charAt(place))) seen++;
  input.setSelectionRange(isAtEnd ? text.length : place, isAtEnd ? text.length : place);
}

/** @param {string} digits */
function luhnValid(digits) {
  const doubled = [...digits].reverse().map((digit, i) => Number(digit) * (1 + (i % 2)));
  return doubled.reduce((sum, value) => sum + (value > 9 ? value - 9 : value), 0) % 10 === 0;
}

function expiryValid() {
  const [, month, year] = /^(\d{2}) \/ (\d{2}|\d{4})$/.exec(spacedExpiry(expiry.value)) ?? [];
  if (month === undefined || Number(month) < 1 || Number(month) > 12) return false;
  const end = new Date((Number(year) % 100) + 2000, Number(month), 1);
  return end.getTime() > Date.now();
}

/** What is wrong with a field; '' for nothing. @param {HTMLInputElement} input */
function faultOf(input) {
  const digits = digitsOf(input.value);
  const { wrong = '', wrongMissing = '', wrongShort = '', wrongDigit = '' } = input.dataset;
  if (input.value.trim() === '') return wrongMissing;
  if (input === number && digits.length < 13) return wrongShort;
  if (input === number) return luhnValid(digits) ? '' : wrongDigit;
  if (input === expiry) return expiryValid() ? '' : wrong;
  const isWhole = digits.length === 4 || (digits.length === 3 && !isAmex(digitsOf(number.value)));
  return isWhole ? '' : wrong;
}

/** Shows at a field what is wrong with it. @param {HTMLInputElement} input */
function tell(input) {
  const message = /** @type {HTMLElement} */ (document.getElementById(`${input.id}-wrong`));
  const fault = faultOf(input);
  if (fault === '') input.removeAttribute('aria-invalid');
  else input.setAttribute('aria-invalid', 'true');
  message.textContent = fault;
}

function isByCard() {
  const chosen = form.querySelector('input[name=method]:checked');
  return !(chosen instanceof HTMLInputElement) || chosen.value === 'card';
}

/** @param {boolean} isSending */
function setSending(isSending) {
  for (const button of form.querySelectorAll('button')) {
    button.disabled = isSending;
    button.setAttribute('aria-busy', String(isSending));
    const label = /** @type {HTMLElement} */ (button.querySelector('span'));
    button.dataset.label ??= label.textContent ?? '';
    label.textContent = (isSending ? button.dataset.sending : button.dataset.label) ?? '';
  }
}

number.addEventListener('input', () => {
  const digits = digitsOf(number.value).slice(0, 19);
  rewrite(number, grouped(digits));
  markBrand(digits);
});
expiry.addEventListener('input', (event) => {
  const isDeleting = event instanceof InputEvent && event.inputType.startsWith('delete');
  if (!isDeleting) rewrite(expiry, spacedExpiry(expiry.value));
});
cvc.addEventListener('input', () => rewrite(cvc, digitsOf(cvc.value).slice(0, 4)));
for (const input of fields) {
  input.addEventListener('blur', () => {
    if (input.value !== '') tell(input);
  });
  input.addEventListener('input', () => {
    if (input.hasAttribute('aria-invalid') && faultOf(input) === '') tell(input);
  });
}

form.addEventListener('submit', (event) => {
  const wrong = isByCard() ? fields.filter((input) => faultOf(input) !== '') : [];
  for (const input of wrong) tell(input);
  const [first] = wrong;
  if (first !== undefined) {
    event.preventDefault();
    first.focus();
    return;
  }
  setSending(true);
  setTimeout(() => setSending(false), sendingMs);
});

window.addEventListener('pagehide', () => {
  number.value = '';
  cvc.value = '';
});
window.addEventListener('pageshow', (event) => {
  if (event.persisted) setSending(false);
});
