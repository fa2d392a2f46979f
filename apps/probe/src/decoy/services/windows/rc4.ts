/** RC4, which OpenSSL does not give any more, and by which NTLM hides its session key. @see MS-NLMP section 3.4.2 */

/** @param key Not empty. @returns As many octets as `data`. */
export function rc4(key: Uint8Array, data: Uint8Array): Buffer {
  const state = Uint8Array.from({ length: 256 }, (_, index) => index);
  const swap = (a: number, b: number) => {
    [state[a], state[b]] = [state[b] ?? 0, state[a] ?? 0];
  };
  for (let at = 0, other = 0; at < 256; at += 1) {
    other = other + (state[at] ?? 0) + (key[at % key.length] ?? 0) & 0xff;
    swap(at, other);
  }
  const out = Buffer.alloc(data.length);
  for (let at = 0, i = 0, j = 0; at < data.length; at += 1) {
    i = i + 1 & 0xff;
    j = j + (state[i] ?? 0) & 0xff;
    swap(i, j);
    out[at] = (data[at] ?? 0) ^ (state[(state[i] ?? 0) + (state[j] ?? 0) & 0xff] ?? 0);
  }
  return out;
}
