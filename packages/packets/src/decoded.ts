/** What a decoder gives back: the value, or where and why it stopped. Decoders never throw. */
export type Decoded<T> = { readonly ok: true; readonly value: T } | Malformed;

/** Bytes that are not what their protocol says. */
export interface Malformed {
  readonly ok: false;
  /** `truncated`: the bytes end too early. `bad-value`: they are all there and one of them cannot be. */
  readonly code: "truncated" | "bad-value";
  /** The protocol that was being read: `ipv4`, `tcp`, `dhcp`. */
  readonly layer: string;
  /** Index of the first byte that was missing or wrong, counted from the start of what the decoder was given. */
  readonly offset: number;
}

/** A success. */
export function decoded<T>(value: T): Decoded<T> {
  return { ok: true, value };
}

/** A value that cannot be, at `offset`. */
export function badValue(layer: string, offset: number): Malformed {
  return { ok: false, code: "bad-value", layer, offset };
}

/** An end that comes too early; `offset` is where the missing bytes should have begun. */
export function truncated(layer: string, offset: number): Malformed {
  return { ok: false, code: "truncated", layer, offset };
}
