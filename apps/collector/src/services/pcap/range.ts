import type { ByteRange } from "./files/sealed-content.ts";

/**
 * The one range that a request asks for.
 * @param header `Range`, undefined for none.
 * @returns Null for the whole: where none is asked for, where the text is not understood, and where several are asked for.
 * `unsatisfiable` where it begins behind the end.
 * @see RFC 9110 section 14.2
 */
export function parseRange(header: string | undefined, size: number): ByteRange | null | "unsatisfiable" {
  const [, first = "", last = ""] = /^bytes=\s*(\d{0,15})-(\d{0,15})$/i.exec((header ?? "").trim()) ?? [];
  if (first === "" && last === "") return null;
  if (first === "") {
    const length = Number(last);
    return length === 0 || size === 0 ? "unsatisfiable" : { from: Math.max(0, size - length), to: size };
  }
  const [from, to] = [Number(first), last === "" ? size : Math.min(size, Number(last) + 1)];
  if (last !== "" && Number(last) < from) return null;
  return from >= size ? "unsatisfiable" : { from, to };
}
