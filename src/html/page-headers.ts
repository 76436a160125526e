// The headers of every page: it is not stored by a cache, not shown in a frame, and tells other
// sites nothing.

/**
 * The headers, with the rules of the Content-Security-Policy that a page adds to the ones of all
 * pages. `formTarget` is the one other origin that its forms may be sent to.
 */
export function pageHeaders(
  rules: readonly string[],
  formTarget?: string,
): readonly (readonly [string, string])[] {
  const policy = [
    `default-src 'none'`,
    ...rules,
    // The redirect after a form must stay on this service, because Chromium applies `form-action`
    // to redirects, too.
    `form-action 'self'${formTarget === undefined ? '' : ` ${formTarget}`}`,
    `base-uri 'none'`,
    `frame-ancestors 'none'`,
  ];
  return [
    ['cache-control', 'no-store'],
    ['content-security-policy', policy.join('; ')],
    ['x-frame-options', 'DENY'],
    ['x-content-type-options', 'nosniff'],
    // With `no-referrer` browsers would also hide the origin of the service's own forms.
    ['referrer-policy', 'same-origin'],
    ['cross-origin-opener-policy', 'same-origin'],
    ['cross-origin-resource-policy', 'same-origin'],
    ['permissions-policy', 'camera=(), geolocation=(), microphone=(), payment=()'],
    ['x-robots-tag', 'noindex, nofollow'],
  ];
}
