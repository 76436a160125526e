// The ways out that the configuration can name, apart from what they are made with, so that reading
// the configuration loads no mailer.

/** Sends nothing: it writes to the log. */
export const logUrl = 'log:';

export function isMailUrl(text: string): boolean {
  if (text === logUrl) return true;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    return false;
  if (url.protocol === 'file:') return url.host === '';
  return ['smtp:', 'smtps:'].includes(url.protocol) && url.hostname !== '' && /^\/?$/.test(url.pathname);
}

/** An address that needs no quotes anywhere. */
export function isSenderAddress(text: string): boolean {
  return /^[\w.+-]+@[\w-]+(\.[\w-]+)*$/.test(text);
}
