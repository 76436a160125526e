// Slots: the hash of an organization, from which its shard follows. It must never change, because
// ids and cash codes contain it and data folders are laid out by it. Its test has golden values.

/** The number of slots; two base-62 characters and four decimal digits hold one. */
export const slotCount = 1024;

/** FNV-1a over UTF-16 units, and the 32-bit murmur mixer, as ids may differ only in their end. */
export function slotOf(organization: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < organization.length; i++) {
    hash = Math.imul(hash ^ organization.charCodeAt(i), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) % slotCount;
}
