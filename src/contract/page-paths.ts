// Where the hosted pages are: the addresses that the API answers with, and the paths that the pages are served at.

/** Where a customer pays a checkout session. */
export const checkoutPath = (session: string) => `/checkout/${session}`;
/** Where a customer types the card for an attempt. */
export const cardPath = (charge: string) => `/pay/${charge}`;
/** Where a customer answers the bank's challenge. */
export const challengePath = (charge: string) => `${cardPath(charge)}/challenge`;
/** Where a customer finds the cash code of an attempt. */
export const voucherPath = (charge: string) => `/voucher/${charge}`;
/** Where the form is sent that leads back to the choice, from the page of an attempt. */
export const changePath = (page: string) => `${page}/change`;
