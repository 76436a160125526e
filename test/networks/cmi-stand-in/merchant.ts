// The merchant whom the stand-in knows, and the files that have the merchant's secrets.

export const clientId = '600002599';
export const apiUser = 'merchant';
export const secretFiles = { storeKey: 'store-key', apiPassword: 'api-password' } as const;
