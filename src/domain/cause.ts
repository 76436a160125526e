// Who or what gave a command: each entry of the log says it, so that people can be told where a
// change came from.

/** In the order of their numbers in the log: a new one goes to the end. */
export const causeKinds = [
  /** A request of the API. */
  'request',
  /** A customer on a hosted page. */
  'customer',
  /** An operator, with the `payments` command. */
  'operator',
  /** A payment network, with the outcome of a call. */
  'network',
  /** A delivery attempt that has ended. */
  'webhook',
  /** Something was due. */
  'time',
  /** A member of the organization, in the dashboard. */
  'member',
] as const;

export interface Cause {
  readonly by: (typeof causeKinds)[number];
  /**
   * The id of the request or the member, or the name of the operator; null where the kind says it
   * all.
   */
  readonly name: string | null;
}

const unnamed = (by: Cause['by']): Cause => ({ by, name: null });

export const causes: { readonly [By in Cause['by']]: Cause } = {
  request: unnamed('request'),
  customer: unnamed('customer'),
  operator: unnamed('operator'),
  network: unnamed('network'),
  webhook: unnamed('webhook'),
  time: unnamed('time'),
  member: unnamed('member'),
};
