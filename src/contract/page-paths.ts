// The paths of the hosted pages, which the API's answers contain and the edge serves, and the place
// for a session's id in the addresses of merchants' pages.

/** Where a customer pays a checkout session. */
export const checkoutPath = (session: string) => `/checkout/${session}`;
/** Where a customer opens a payment link, behind which a checkout session is made. */
export const linkPath = (link: string) => `/link/${link}`;
/** Where a customer types the card for a charge. */
export const cardPath = (charge: string) => `/pay/${charge}`;
/** Where a customer answers the bank's challenge. */
export const challengePath = (charge: string) => `${cardPath(charge)}/challenge`;
/** Where a card network's own page sends the customer back to, after a payment and after none. */
export const paidPath = (charge: string) => `${cardPath(charge)}/paid`;
export const unpaidPath = (charge: string) => `${cardPath(charge)}/unpaid`;
/** Where a customer finds the cash code of a charge. */
export const voucherPath = (charge: string) => `/voucher/${charge}`;
/** Where the page of a charge sends the form that leads back to the choice of methods. */
export const changePath = (page: string) => `${page}/change`;

/** The page behind a link that works once: an invitation, a new password, the first sign-in. */
export const signInLinkPath = (token: string) => `/dashboard/invite/${token}`;

/** Where a payment network posts what it has to report. */
export const networkPath = (connector: string, org: string, mode: string) =>
  `/networks/${connector}/${org}/${mode}`;

/** Stands for the id of the checkout session in an address to return to. */
export const sessionPlace = '{CHECKOUT_SESSION_ID}';
export const withSession = (address: string, id: string) => address.replaceAll(sessionPlace, id);
