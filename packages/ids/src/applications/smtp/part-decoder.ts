/** The body of a part without its transfer encoding, line by line. @see RFC 2045 section 6 */

/** Takes what was decoded. */
type Sink = (bytes: Uint8Array) => void;

/** One body. */
export interface PartDecoder {
  /** A line without its end; `isWhole` where it ended. */
  line(bytes: Uint8Array, isWhole: boolean): void;
}

const LINE_END = Uint8Array.of(0x0d, 0x0a);
const EQUALS = 0x3d;

/** @returns The decoder of an encoding. The line break before a boundary belongs to the boundary, except after quoted-printable, as in Suricata. */
export function createPartDecoder(encoding: "base64" | "none" | "quoted-printable", sink: Sink): PartDecoder {
  return encoding === "base64" ? createBase64(sink) : encoding === "quoted-printable" ? createQuotedPrintable(sink) : createPlain(sink);
}

function createPlain(sink: Sink): PartDecoder {
  let hasBreak = false;
  return {
    line(bytes, isWhole) {
      if (hasBreak) sink(LINE_END);
      sink(bytes);
      hasBreak = isWhole;
    },
  };
}

function createBase64(sink: Sink): PartDecoder {
  let rest = "";
  return {
    line(bytes) {
      const text = rest + Buffer.from(bytes).toString("latin1").replaceAll(/[^\d+/=A-Za-z]/g, "");
      const usable = text.length - (text.length % 4);
      rest = text.slice(usable);
      if (usable > 0) sink(Buffer.from(text.slice(0, usable), "base64"));
    },
  };
}

function createQuotedPrintable(sink: Sink): PartDecoder {
  return {
    line(bytes, isWhole) {
      const out = new Uint8Array(bytes.length + 2);
      let length = 0;
      let isSoft = false;
      for (let at = 0; at < bytes.length; at += 1) {
        const byte = bytes[at] as number;
        const value = byte === EQUALS && at + 2 < bytes.length ? Number.parseInt(String.fromCharCode(bytes[at + 1] as number, bytes[at + 2] as number), 16) : Number.NaN;
        isSoft = byte === EQUALS && at === bytes.length - 1;
        if (isSoft) break;
        out[length] = Number.isNaN(value) ? byte : value;
        length += 1;
        if (!Number.isNaN(value)) at += 2;
      }
      if (isWhole && !isSoft) out.set(LINE_END, length);
      sink(out.subarray(0, length + (isWhole && !isSoft ? 2 : 0)));
    },
  };
}
