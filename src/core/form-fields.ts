// Texts of the form `name=value&…`: query strings, and the bodies of forms. A field with broken
// percent-encoding takes microseconds to decode, because it is an exception, so of strangers' texts
// only those with few fields are decoded.

/** More than any page's form or address has. */
export const formFieldsMax = 200;

/** The fields of a text: none when it has more than a page of ours sends. */
export function readFields(text: string): URLSearchParams {
  const isLong = text.split('&', formFieldsMax + 1).length > formFieldsMax;
  return new URLSearchParams(isLong ? '' : text);
}
