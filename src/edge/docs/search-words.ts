// Words that mean the same to somebody who searches: in English and French, and what other services
// call a thing. All are written as the search compares them: small letters, without accents.

const groups: readonly (readonly string[])[] = [
  ['card', 'cards', 'carte', 'cartes', 'cb', 'visa', 'mastercard', 'cmi'],
  ['cash', 'especes', 'liquide', 'voucher', 'agence'],
  ['refund', 'refunds', 'remboursement', 'remboursements', 'rembourser', 'reverse', 'avoir'],
  ['3ds', '3d', '3dsecure', 'challenge', 'sca', 'authentification'],
  ['postman', 'insomnia', 'collection', 'openapi', 'swagger'],
  ['payment', 'payments', 'paiement', 'paiements', 'payer', 'pay', 'encaisser'],
  ['customer', 'customers', 'client', 'clients', 'acheteur'],
  ['error', 'errors', 'erreur', 'erreurs'],
  ['retry', 'retries', 'reessayer', 'renvoyer', 'idempotency', 'idempotence'],
  ['key', 'keys', 'cle', 'cles', 'token', 'apikey'],
  ['test', 'testing', 'tester', 'sandbox'],
  ['live', 'production', 'prod'],
  ['limit', 'limits', 'limite', 'limites', 'quota', 'throttle'],
  ['webhook', 'webhooks', 'callback', 'ipn', 'notification', 'notifications'],
  ['endpoint', 'terminaison'],
  ['event', 'events', 'evenement', 'evenements'],
  ['amount', 'montant', 'montants', 'centime', 'centimes'],
  ['declined', 'decline', 'refusee', 'refuse', 'refus'],
  ['checkout', 'session', 'sessions', 'lien'],
  ['charge', 'charges', 'debit', 'tentative'],
  ['signature', 'hmac', 'signing'],
  ['list', 'lists', 'liste', 'listes', 'pagination'],
  ['export', 'exports', 'csv', 'excel'],
  ['expire', 'expired', 'expires', 'expirer', 'expiration'],
  ['partial', 'partiel', 'partielle', 'part', 'partie'],
  ['cancel', 'canceled', 'annuler', 'annulation', 'annulee'],
];

const byWord: ReadonlyMap<string, readonly string[]> = new Map(
  groups.flatMap((group) => group.map((word) => [word, group.filter((other) => other !== word)] as const)),
);

/** Other words for the same thing. */
export function otherWordsFor(word: string): readonly string[] {
  return byWord.get(word) ?? [];
}
