import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeDns, encodeDns } from "./dns.ts";
import { decodePartialName, splitDnsName } from "./dns-name.ts";
import { parseReverseName, reverseName } from "./dns-reverse.ts";
import { fromHex } from "../testing/bytes.ts";

/** The one question's name, which begins at offset 12. */
function nameOf(hex: string) {
  const result = decodeDns(fromHex(`0000 0000 0001 0000 0000 0000 ${hex} 0001 0001`));
  return result.ok ? result.value.questions[0]?.name : result;
}

/** The name of the second of two questions, so that its pointers have where to lead. */
function secondNameOf(first: string, second: string) {
  const result = decodeDns(fromHex(`0000 0000 0002 0000 0000 0000 ${first} 0001 0001 ${second} 0001 0001`));
  return result.ok ? result.value.questions[1]?.name : result;
}

const BAD = (offset: number) => ({ ok: false, code: "bad-value", layer: "dns", offset });

/** Every text that the decoder makes of a wire name. */
const wireNames = fc.array(fc.uint8Array({ minLength: 1, maxLength: 63 }), { minLength: 1, maxLength: 4 }).filter((labels) => {
  return labels.reduce((length, label) => length + 1 + label.length, 1) <= 255;
});

describe("names as text", () => {
  test("the root is a dot, others end without one and keep their case", () => {
    expect(nameOf("00")).toBe(".");
    expect(nameOf("03 575757 02 4465 00")).toBe("WWW.De");
  });

  test("dots and backslashes in labels, blanks, controls and bytes beyond ASCII are escaped", () => {
    expect(nameOf("03 612e62 02 5c63 00")).toBe("a\\.b.\\\\c");
    expect(nameOf("05 00 20 0a 7f e9 00")).toBe("\\000\\032\\010\\127\\233");
  });

  test("every name of the wire has one text, and the text gives the same bytes", () => {
    const comesBack = fc.property(wireNames, (labels) => {
      const bytes = [...labels.flatMap((label) => [label.length, ...label]), 0];
      const hex = bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("");
      const name = nameOf(hex);
      expect(name).toMatch(/^[\x21-\x7e]+$/);
      expect([...encodeDns({ questions: [{ name: name as string, type: 1 }] }).subarray(12, 12 + bytes.length)]).toEqual(bytes);
    });
    fc.assert(comesBack);
  });

  test("a text may end with a dot and hold characters beyond ASCII", () => {
    expect(splitDnsName("Büro\\032\\.1._http._tcp.local.")).toEqual(["Büro .1", "_http", "_tcp", "local"]);
    expect(splitDnsName("B\\195\\188ro.local")).toEqual(["Büro", "local"]);
    expect(splitDnsName(".")).toEqual([]);
  });

  test.each(["", "a..b", ".a", "a..", "a\\", "a\\1", "a\\25x", "a\\256", "a".repeat(64), "é".repeat(32), `${"a".repeat(63)}.`.repeat(4)])(
    "%j is no name",
    (name) => {
      expect(() => encodeDns({ questions: [{ name, type: 1 }] })).toThrow(expect.objectContaining({ code: "unencodable" }));
    },
  );

  test("the longest name fits, 255 bytes on the wire", () => {
    const name = `${`${"a".repeat(63)}.`.repeat(3)}${"a".repeat(61)}`;
    expect(encodeDns({ questions: [{ name, type: 1 }] })).toHaveLength(12 + 255 + 4);
    expect(() => encodeDns({ questions: [{ name: `${name}a`, type: 1 }] })).toThrow(expect.objectContaining({ code: "unencodable" }));
  });
});

/** What a name at a place of a message is, read the plain way; null where it is none. */
function readPlainly(bytes: Uint8Array, place: number): { readonly labels: readonly string[]; readonly behind: number } | null {
  const labels: string[] = [];
  let [at, behind, begin, length, pointers] = [place, -1, place, 1, 0];
  for (;;) {
    const first = bytes[at];
    if (first === undefined) return null;
    if (first === 0) return { labels, behind: behind < 0 ? at + 1 : behind };
    if (first >= 0xc0) {
      const target = ((first & 0x3f) << 8) | (bytes[at + 1] ?? 0);
      if (behind < 0) behind = at + 2;
      pointers += 1;
      if (at + 1 >= bytes.length || target < 12 || target >= begin || pointers > 127) return null;
      at = begin = target;
      continue;
    }
    length += first + 1;
    if (first > 63 || length > 255 || at + 1 + first > bytes.length) return null;
    labels.push(String.fromCharCode(...bytes.subarray(at + 1, at + 1 + first)));
    at += 1 + first;
  }
}

describe("compression", () => {
  const piece = fc.oneof(
    fc.nat(40).map((back) => ({ back })), fc.constantFrom(1, 2, 63).map((letters) => ({ letters })), fc.constant({ isEnd: true as const }),
  );

  test("what a pointer leads to is the same however often it was read before", () => {
    fc.assert(fc.property(fc.array(fc.array(piece, { maxLength: 6 }), { minLength: 1, maxLength: 30 }), (names) => {
      const bytes = [0, 0, 0, 0, names.length >> 8, names.length & 0xff, 0, 0, 0, 0, 0, 0];
      const places: number[] = [];
      for (const pieces of names) {
        places.push(bytes.length);
        for (const one of pieces) {
          // To the beginning of one of the names before it, mostly.
          const target = "back" in one ? places.at(-1 - one.back) ?? 12 : 0;
          if ("letters" in one) bytes.push(one.letters, ...Array.from({ length: one.letters }, () => 0x61 + (bytes.length % 26)));
          else bytes.push(...("back" in one ? [0xc0 | (target >> 8), target & 0xff] : [0]));
          if (!("letters" in one)) break;
        }
        if (!pieces.some((one) => !("letters" in one))) bytes.push(0);
        bytes.push(0, 1, 0, 1);
      }
      const message = Uint8Array.from(bytes);
      const expected: string[] = [];
      let at = 12;
      for (const _ of names) {
        const read = readPlainly(message, at);
        if (read === null || read.behind + 4 > message.length) break;
        expected.push(read.labels.join(".") || ".");
        at = read.behind + 4;
      }
      const found = decodeDns(message);
      expect(found.ok ? found.value.questions.map(({ name }) => name) : null).toEqual(expected.length === names.length ? expected : null);
    }), { numRuns: 500 });
  });

  test("a message whose records all point to the longest name is read once", () => {
    const longest = `${`3f${"01".repeat(63)}`.repeat(3)}3d${"01".repeat(61)}00`;
    const record = "c00c 000c 0001 00000000 0002 c00c";
    const bytes = fromHex(`0000 8000 0001 03e8 0000 0000 ${longest} 000c 0001 ${record.repeat(1000)}`);
    let reads = 0;
    const counted = new Proxy(bytes, {
      get(target, key) {
        if (typeof key === "string" && /^\d+$/.test(key)) reads += 1;
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const found = decodeDns(counted);
    expect(found.ok && found.value.answers).toHaveLength(1000);
    expect(reads).toBeLessThan(4 * bytes.length);
  });

  test("a pointer gives the rest of a name", () => {
    expect(secondNameOf("03 616263 02 6465 00", "01 78 c010")).toBe("x.de");
    expect(secondNameOf("03 616263 00", "c00c")).toBe("abc");
  });

  test.each([
    ["itself", "c00c", 12],
    ["forward", "c00e", 12],
    ["the labels before it", "01 61 c00c", 14],
    ["the header", "c004", 12],
    ["the header's last byte", "c00b", 12],
  ])("a pointer to %s is a bad value", (_, hex, offset) => {
    expect(nameOf(hex)).toEqual(BAD(offset));
  });

  test("two pointers at each other are a bad value", () => {
    expect(secondNameOf("c013", "c00c")).toEqual(BAD(12));
  });

  test.each(["40", "80", "bf"])("a label of the unused kind 0x%s is a bad value", (first) => {
    expect(nameOf(`${first} 00`)).toEqual(BAD(12));
  });

  test("a name that grows beyond 255 bytes through a pointer is a bad value", () => {
    const half = `3f${"61".repeat(63)}`;
    expect(secondNameOf(`${half.repeat(3)} 3d ${"61".repeat(61)} 00`, "01 62 c00c")).toMatchObject({ ok: false, code: "bad-value" });
    expect(nameOf(`${half.repeat(3)} 3e ${"61".repeat(62)} 00`)).toMatchObject({ ok: false, code: "bad-value" });
  });

  test("a chain of pointers longer than any name has labels is a bad value", () => {
    /** The first points to a root at offset 23, each other to the one before. */
    const pointer = (index: number) => (0xc000 + (index === 0 ? 23 : 22 + 2 * index)).toString(16);
    const message = (count: number) => {
      const links = Array.from({ length: count }, (_, index) => pointer(index)).join("");
      const length = (1 + 2 * count).toString(16).padStart(4, "0");
      return decodeDns(fromHex(`
        0000 0000 0000 0002 0000 0000
        00 fde8 0001 00000000 ${length} 00 ${links}
        ${pointer(count)} 0001 0001 00000000 0004 01020304
      `));
    };
    expect(message(0)).toMatchObject({ ok: true });
    expect(message(126)).toMatchObject({ ok: true });
    expect(message(127)).toMatchObject({ ok: false, code: "bad-value" });
    expect(message(8000)).toMatchObject({ ok: false, code: "bad-value" });
  });
});

describe("partial names", () => {
  test("end with the root, or where the bytes end", () => {
    expect(decodePartialName(fromHex("03 616263 00"))).toBe("abc");
    expect(decodePartialName(fromHex("03 616263 01 64"))).toBe("abc.d");
    expect(decodePartialName(new Uint8Array(0))).toBe("");
  });

  test("are null where a label is cut or a pointer stands", () => {
    expect(decodePartialName(fromHex("03 6162"))).toBeNull();
    expect(decodePartialName(fromHex("01 61 c000"))).toBeNull();
    expect(decodePartialName(new Uint8Array(256).fill(1))).toBeNull();
  });
});

describe("reverse names", () => {
  test("put the address backwards, bytes of IPv4 and half bytes of IPv6", () => {
    expect(reverseName("192.0.2.17")).toBe("17.2.0.192.in-addr.arpa");
    expect(reverseName(Uint8Array.of(10, 1, 2, 3))).toBe("3.2.1.10.in-addr.arpa");
    expect(reverseName("2001:db8::567:89ab")).toBe("b.a.9.8.7.6.5.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa");
  });

  test("are read back, whatever their case", () => {
    const addresses = fc.constantFrom(4, 16).chain((length) => fc.uint8Array({ minLength: length, maxLength: length }));
    const comesBack = fc.property(addresses, (ip) => {
      expect(parseReverseName(reverseName(ip).toUpperCase())).toEqual(ip);
    });
    fc.assert(comesBack);
  });

  test.each(["in-addr.arpa", "2.0.192.in-addr.arpa", "x.2.0.192.in-addr.arpa", "0.8.b.d.0.1.0.0.2.ip6.arpa", "lan"])(
    "%s is no address's name",
    (name) => {
      expect(parseReverseName(name)).toBeNull();
    },
  );

  test("text that is no address has none", () => {
    for (const ip of ["lab1", "10.0.0", new Uint8Array(6)]) {
      expect(() => reverseName(ip)).toThrow(expect.objectContaining({ code: "unencodable" }));
    }
  });
});
