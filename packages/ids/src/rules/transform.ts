/** Transforms of buffers, in their one form. */

/** What is done to a buffer's bytes before they are matched. */
export type Transform =
  | { readonly kind: "strip-whitespace" | "compress-whitespace" | "to-lowercase" | "to-uppercase" | "to-md5" | "to-sha1" | "to-sha256" }
  /** A dot goes before the bytes. */
  | { readonly kind: "dot-prefix" }
  | { readonly kind: "url-decode" }
  /** Names of headers in lower case; pseudo headers of HTTP/2 taken out. */
  | { readonly kind: "header-lowercase" | "strip-pseudo-headers" }
  /** The registered domain of a name, or its last part. */
  | { readonly kind: "domain" | "top-level-domain" }
  /** Each byte XOR the key's, which repeats. */
  | { readonly kind: "xor"; readonly key: Uint8Array }
  /** The first group of the expression, where it matches; else no bytes change. */
  | { readonly kind: "pcre"; readonly source: string; readonly flags: PcreFlags }
  | { readonly kind: "from-base64"; readonly bytes: number; readonly offset: number; readonly mode: "rfc4648" | "rfc2045" | "strict" }
  | { readonly kind: "gunzip" | "zlib-deflate"; readonly maxBytes: number };

/** Flags of an expression, by what they do. */
export interface PcreFlags {
  /** i */
  readonly ignoreCase: boolean;
  /** s: a dot is any byte. */
  readonly dotAll: boolean;
  /** m: `^` and `$` at each line. */
  readonly multiline: boolean;
  /** x: white space and comments do not count. */
  readonly extended: boolean;
  /** A: matches at the beginning of what is searched alone. */
  readonly anchored: boolean;
  /** E: `$` is the very end. */
  readonly dollarEndOnly: boolean;
  /** G: quantifiers take as little as they can, and as much with `?`. */
  readonly ungreedy: boolean;
}
