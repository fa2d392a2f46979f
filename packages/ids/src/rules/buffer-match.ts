/** What is asked of the bytes of one buffer. */

import type { NumberTest } from "./condition.ts";
import type { PcreFlags } from "./transform.ts";

/** A number that a `byte_extract` or `byte_math` before read, by its place in `Rule.variables`. */
export interface Variable {
  readonly variable: number;
}

/** A place or a count: known now, or read from the buffer. */
export type Amount = number | Variable;

/** A value to compare or reckon with; up to 64 bits. */
export type Value = bigint | Variable;

/**
 * Bytes at a place. Relative where `distance` or `within` is not `null`: they count from the end of the match before, as 0 for `distance`
 * where only `within` is given. `startswith` is offset 0 and a depth of its length.
 */
export interface Content {
  readonly kind: "content";
  /** In lower case where `ignoreCase` is set. */
  readonly bytes: Uint8Array;
  readonly isNegated: boolean;
  readonly ignoreCase: boolean;
  readonly offset: Amount | null;
  readonly depth: Amount | null;
  readonly distance: Amount | null;
  readonly within: Amount | null;
  /** Must end where the buffer ends. */
  readonly endsWith: boolean;
}

/** A Perl-compatible expression on bytes. */
export interface Pcre {
  readonly kind: "pcre";
  /** Between the slashes, without the flags; one character a byte. */
  readonly source: string;
  readonly isNegated: boolean;
  /** R: from the end of the match before. */
  readonly isRelative: boolean;
  readonly flags: PcreFlags;
  /** Where groups 1, 2, … go to, of expressions that keep what they match. */
  readonly captures: readonly PcreCapture[];
}

/** A group of an expression that is kept with the packet, the flow or the alert. */
export interface PcreCapture {
  readonly scope: "packet" | "flow" | "alert";
  readonly name: string;
}

/** How a number stands in the buffer: as bytes, or written in digits. */
export interface NumberForm {
  readonly byteOrder: "big" | "little" | "dce";
  /** Base of its digits; `"any"` is read from its prefix (0x, 0); `null` where it is binary. */
  readonly digits: 8 | 10 | 16 | "any" | null;
}

/** `byte_test`: a number in the buffer compared. */
export interface ByteTest {
  readonly kind: "byte-test";
  /** 0, of digits alone, for as many as there are. */
  readonly count: Amount;
  readonly offset: Amount;
  readonly isRelative: boolean;
  readonly form: NumberForm;
  /** ANDed with the number, then shifted right by the mask's trailing zeros; `null` for none. */
  readonly bitmask: bigint | null;
  /** `&` and `^` ask whether that operation gives a number other than 0. */
  readonly operator: "<" | ">" | "=" | "<=" | ">=" | "&" | "^";
  readonly isNegated: boolean;
  readonly value: Value;
}

/** `byte_jump`: moves the place from which relative matches count. */
export interface ByteJump {
  readonly kind: "byte-jump";
  /** 0 moves by `postOffset` alone. */
  readonly count: Amount;
  readonly offset: Amount;
  readonly isRelative: boolean;
  readonly form: NumberForm;
  readonly bitmask: bigint | null;
  readonly multiplier: number;
  /** Rounded up to four bytes. */
  readonly isAligned: boolean;
  /** Where the jump begins: behind the number, at the buffer's beginning, or at its end. */
  readonly from: "number" | "beginning" | "end";
  readonly postOffset: Amount;
}

/** `byte_extract`: keeps a number for matches behind it. */
export interface ByteExtract {
  readonly kind: "byte-extract";
  readonly count: number;
  readonly offset: Amount;
  readonly isRelative: boolean;
  readonly form: NumberForm;
  readonly multiplier: number;
  /** Rounded up to a multiple of it; 0 for not. */
  readonly align: 0 | 2 | 4;
  readonly bitmask: bigint | null;
  readonly result: Variable;
}

/** `byte_math`: reckons with a number of the buffer and keeps what comes out. */
export interface ByteMath {
  readonly kind: "byte-math";
  readonly count: Amount;
  readonly offset: Amount;
  readonly isRelative: boolean;
  readonly form: NumberForm;
  readonly bitmask: bigint | null;
  readonly operator: "+" | "-" | "*" | "/" | "<<" | ">>";
  readonly value: Value;
  readonly result: Variable;
}

/** `isdataat`: whether there is a byte so far on. */
export interface IsDataAt {
  readonly kind: "is-data-at";
  readonly at: Amount;
  readonly isRelative: boolean;
  readonly isNegated: boolean;
}

/** `bsize` and `urilen`: how many bytes the buffer has. */
export interface BufferSize {
  readonly kind: "size";
  readonly test: NumberTest;
}

/** `base64_decode`: what it decodes is the buffer `base64_data` of this rule. */
export interface Base64Decode {
  readonly kind: "base64-decode";
  /** 0 for as many as there are. */
  readonly bytes: number;
  readonly offset: number;
  readonly isRelative: boolean;
}

/** `absent`: the buffer is not there; with `orElse`, that, or the group's other matches hold. */
export interface Absent {
  readonly kind: "absent";
  readonly orElse: boolean;
}

/** `entropy`: Shannon's, in bits a byte, from 0 to 8. */
export interface Entropy {
  readonly kind: "entropy";
  readonly offset: number;
  /** 0 for all that there are. */
  readonly bytes: number;
  readonly operator: "=" | "!=" | "<" | "<=" | ">" | ">=";
  readonly value: number;
}

/** `dataset` without files: asks whether the buffer's bytes are in a set that rules fill, or puts them in. */
export interface Dataset {
  readonly kind: "dataset";
  readonly operation: "is-set" | "is-not-set" | "set" | "unset";
  readonly name: string;
  readonly type: "string" | "md5" | "sha256" | "ipv4" | "ip";
}

/** What one keyword asks of a buffer. */
export type BufferMatch =
  | Content | Pcre | ByteTest | ByteJump | ByteExtract | ByteMath | IsDataAt | BufferSize | Base64Decode | Absent | Entropy | Dataset;
