/**
 * What rules do to buffers before they look into them.
 * @see https://docs.suricata.io/en/latest/rules/transforms.html
 */

import { createHash } from "node:crypto";
import { compiledExpressions } from "../../expressions/compiled-expressions.ts";
import { decodeBase64 } from "../../matching/base64.ts";
import type { Transform } from "../../rules/transform.ts";

/** Applies transforms; keeps what came out of late, by the list of instances. */
export interface Transforms {
  apply(instances: readonly Uint8Array[], transforms: readonly Transform[]): readonly Uint8Array[];
}

/** @returns Transforms with a memory of their own. */
export function createTransforms(): Transforms {
  const names = new WeakMap<readonly Transform[], string>();
  /** The last ones, in a ring: what comes of one list is asked for by several rules, one soon after the other. */
  const known: { readonly instances: readonly Uint8Array[]; readonly name: string; readonly transformed: readonly Uint8Array[] }[] = [];
  let next = 0;

  function nameOf(transforms: readonly Transform[]): string {
    const name = names.get(transforms) ?? JSON.stringify(transforms);
    names.set(transforms, name);
    return name;
  }

  function applyOne(bytes: Uint8Array, transform: Transform): Uint8Array {
    if (transform.kind !== "pcre") return change(bytes, transform);
    const group = compiledExpressions.of(transform)?.find(bytes, 0, { left: MAX_STEPS })?.groups[1];
    return group === undefined ? bytes : latin1(group);
  }

  return {
    apply: (instances, transforms) => {
      const name = nameOf(transforms);
      for (let index = 0; index < known.length; index += 1) {
        const one = known[index];
        if (one?.instances === instances && one.name === name) return one.transformed;
      }
      const transformed = instances.map((bytes) => transforms.reduce(applyOne, bytes));
      known[next] = { instances, name, transformed };
      next = (next + 1) % MAX_KNOWN;
      return transformed;
    },
  };
}

/** Of one expression. */
const MAX_STEPS = 100_000;
const MAX_KNOWN = 32;

function change(bytes: Uint8Array, transform: Exclude<Transform, { readonly kind: "pcre" }>): Uint8Array {
  switch (transform.kind) {
    case "strip-whitespace":
      return bytes.filter((byte) => !isSpace(byte));
    case "compress-whitespace":
      return bytes.filter((byte, at) => !isSpace(byte) || at === 0 || !isSpace(bytes[at - 1] ?? 0));
    case "to-lowercase":
      return bytes.map((byte) => (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte));
    case "to-uppercase":
      return bytes.map((byte) => (byte >= 0x61 && byte <= 0x7a ? byte - 0x20 : byte));
    case "to-md5":
    case "to-sha1":
    case "to-sha256":
      return createHash(transform.kind.slice(3)).update(bytes).digest();
    case "dot-prefix":
      return withDot(bytes.subarray(0, MAX_NAME_BYTES));
    case "url-decode":
      return decodeUrl(bytes);
    case "header-lowercase":
      return lowerNames(bytes);
    case "strip-pseudo-headers":
      return latin1(text(bytes).replaceAll(/^:[^\n]*\n?/gm, ""));
    case "domain":
      return latin1(domainOf(text(bytes)));
    case "top-level-domain":
      return latin1(text(bytes).split(".").at(-1) ?? "");
    case "xor":
      return bytes.map((byte, at) => byte ^ (transform.key[at % transform.key.length] ?? 0));
    case "from-base64":
      return decodeBase64(bytes, transform.offset, transform.bytes);
    case "gunzip":
    case "zlib-deflate":
      return bytes;
    default:
      return transform satisfies never;
  }
}

/** Names are shorter; a longer buffer is no name. */
const MAX_NAME_BYTES = 65_536;

function withDot(name: Uint8Array): Uint8Array {
  const dotted = new Uint8Array(name.length + 1);
  dotted[0] = 0x2e;
  dotted.set(name, 1);
  return dotted;
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}

function latin1(words: string): Uint8Array {
  return Buffer.from(words, "latin1");
}

/** A plus is a blank, and an escape that is none stays as it is. */
function decodeUrl(bytes: Uint8Array): Uint8Array {
  const out = new Uint8Array(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    const [high, low] = byte === 0x25 ? [digit(bytes[at + 1]), digit(bytes[at + 2])] : [-1, -1];
    const isEscape = high >= 0 && low >= 0;
    out[length] = isEscape ? high * 16 + low : byte === 0x2b ? 0x20 : byte;
    length += 1;
    if (isEscape) at += 2;
  }
  return out.subarray(0, length);
}

function digit(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

/** Names of headers, up to their colon, in lower case; values as they are. */
function lowerNames(bytes: Uint8Array): Uint8Array {
  let isName = true;
  return bytes.map((byte) => {
    if (byte === 0x3a) isName = false;
    if (byte === 0x0a) isName = true;
    return isName && byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte;
  });
}

/** Without the list of public suffixes: the last two parts, three where the last but one is as short as `co`. */
function domainOf(name: string): string {
  const parts = name.split(".");
  const isShort = (parts.at(-2)?.length ?? 0) <= 3 && (parts.at(-1)?.length ?? 0) === 2;
  return parts.slice(isShort ? -3 : -2).join(".");
}
