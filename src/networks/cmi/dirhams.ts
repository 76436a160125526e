// Amounts as CMI writes them. Forms and callbacks have dirhams with a point (`1234.50`); the status
// and the history of an order have centimes without one (`123450`). Here they are digits all the
// way, never fractions.

/** The number of the dirham in ISO 4217. */
export const dirham = '504';

/** The currencies that people in Morocco mostly pay in, by their numbers in ISO 4217. */
const currencies: ReadonlyMap<string, string> = new Map([
  [dirham, 'mad'],
  ['978', 'eur'],
  ['840', 'usd'],
  ['826', 'gbp'],
  ['756', 'chf'],
  ['124', 'cad'],
  ['784', 'aed'],
  ['682', 'sar'],
]);

/** The code of a currency in letters; the number of one that is not listed. */
export function currencyNamed(number: string): string {
  return currencies.get(number) ?? number;
}

/** Dirhams with two decimals. `centimes` is a whole number, 0 or more. */
export function dirhamsOf(centimes: number): string {
  const digits = String(centimes).padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** The centimes of dirhams: `1234.50`, `1234.5` or `1234`. Null when it is no such amount. */
export function centimesOf(dirhams: string): number | null {
  const [, whole, decimals = ''] = /^(\d{1,12})(?:\.(\d{1,2}))?$/.exec(dirhams) ?? [];
  return whole === undefined ? null : Number(whole + decimals.padEnd(2, '0'));
}

/** The centimes of an amount in the status or history of an order; null when it is none. */
export function centimesInHistory(text: string): number | null {
  if (text.includes('.')) return centimesOf(text);
  return /^\d{1,14}$/.test(text) ? Number(text) : null;
}
