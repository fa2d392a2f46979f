/** FNV-1a over the letters of a text, keyed: who chooses names must not choose where they meet. @returns 32 bits, unsigned. */
export function hashText(text: string, key: number): number {
  let hash = (0x811c9dc5 ^ key) >>> 0;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}
