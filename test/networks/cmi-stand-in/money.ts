// Amounts of the gateway: decimal dirhams in forms and requests, centimes in what it tells of an order.

/** Centimes of an amount in decimal dirhams; null for what is no amount. */
export function centimesOf(decimal: string): number | null {
  const [, dirhams, centimes = '00'] = /^([0-9]{1,9})(?:\.([0-9]{2}))?$/.exec(decimal) ?? [];
  return dirhams === undefined ? null : Number(dirhams + centimes);
}

export function decimalOf(centimes: number): string {
  const digits = String(centimes).padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
