import { describe, expect, test } from "vitest";
import { seededRandom } from "../testing/hostile.ts";
import { type BpfInstruction, createBpfFilter, MAX_BPF_INSTRUCTIONS } from "./bpf.ts";

const FRAME = Uint8Array.of(0x45, 0xff, 0x80, 0x01, 0x02, 0xfe, 0xdc, 0xba);
const RETURN_A: BpfInstruction = [0x16, 0, 0, 0];
const k = (code: number, operand: number): BpfInstruction => [code, 0, 0, operand];

function run(program: readonly BpfInstruction[], bytes = FRAME, wireLength = 1500): number | null {
  // The frame lies within a longer stretch of memory, of which nothing else may be read.
  const memory = new Uint8Array(bytes.length + 20).fill(0x77);
  memory.set(bytes, 10);
  return createBpfFilter(program)?.(memory, 10, bytes.length, wireLength) ?? null;
}

describe("loads", () => {
  test.each([
    ["a word", [k(0x20, 4)], 0x02fedcba], ["half a word", [k(0x28, 1)], 0xff80], ["an octet", [k(0x30, 2)], 0x80], ["a constant", [k(0x00, 0xffff_ffff)], 0xffff_ffff],
    ["the length on the wire", [k(0x80, 0)], 1500], ["a word by X", [k(0x01, 3), k(0x40, 1)], 0x02fedcba], ["half a word by X", [k(0x01, 3), k(0x48, 1)], 0x02fe],
    ["an octet by X", [k(0x01, 3), k(0x50, 4)], 0xba], ["the length of an IP header", [k(0xb1, 0), k(0x87, 0)], 20], ["X as length", [k(0x81, 0), k(0x87, 0)], 1500],
    ["memory", [k(0x00, 9), k(0x02, 15), k(0x00, 0), k(0x60, 15)], 9], ["memory by X", [k(0x01, 8), k(0x03, 0), k(0x61, 0), k(0x87, 0)], 8],
    ["memory that nobody wrote", [k(0x60, 3)], 0], ["A by way of X", [k(0x00, 7), k(0x07, 0), k(0x00, 0), k(0x87, 0)], 7],
  ] as const)("%s", (_, program, expected) => {
    expect(run([...program, RETURN_A])).toBe(expected);
  });

  test.each([
    ["a word", k(0x20, 5)], ["half a word", k(0x28, 7)], ["an octet", k(0x30, 8)], ["beyond 32 bits", k(0x20, 0xffff_ffff)], ["an IP header's length", k(0xb1, 8)],
  ] as const)("%s beyond the frame makes it refuse", (_, load) => {
    expect(run([load, k(0x06, 1)])).toBe(0);
  });

  test("X does not lead out of the frame", () => {
    expect(run([k(0x01, 0xffff_ffff), k(0x50, 1), k(0x06, 1)])).toBe(0);
  });
});

describe("arithmetic in 32 bits", () => {
  const cases: readonly (readonly [string, number, number, number, number])[] = [
    ["add", 0x04, 0xffff_ffff, 2, 1], ["subtract", 0x14, 1, 2, 0xffff_ffff], ["multiply", 0x24, 0x8000_0001, 3, 0x8000_0003], ["divide", 0x34, 0xffff_ffff, 16, 0x0fff_ffff],
    ["or", 0x44, 0x8000_0000, 1, 0x8000_0001], ["and", 0x54, 0xffff_ffff, 0x8000_0000, 0x8000_0000], ["shift left", 0x64, 3, 31, 0x8000_0000], ["shift left too far", 0x64, 3, 32, 0],
    ["shift right", 0x74, 0xffff_ffff, 31, 1], ["shift right too far", 0x74, 3, 40, 0], ["remainder", 0x94, 0xffff_ffff, 16, 15], ["exclusive or", 0xa4, 0xffff_ffff, 1, 0xffff_fffe],
  ];
  test.each(cases)("%s", (_, code, a, by, expected) => {
    expect(run([k(0x00, a), k(code, by), RETURN_A])).toBe(expected);
    expect(run([k(0x00, a), k(0x01, by), k(code | 0x08, 0), RETURN_A])).toBe(expected);
  });

  test("negate", () => expect(run([k(0x00, 1), k(0x84, 0), RETURN_A])).toBe(0xffff_ffff));

  test.each([0x3c, 0x9c])("a division by X of zero (%i) refuses the frame, one by a constant zero the program", (code) => {
    expect(run([k(0x01, 0), k(code, 0), k(0x06, 1)])).toBe(0);
    expect(run([k(code & ~0x08, 0), k(0x06, 1)])).toBeNull();
  });
});

describe("jumps", () => {
  const cases: readonly (readonly [string, number, number, number, boolean])[] = [
    ["equal", 0x15, 5, 5, true], ["not equal", 0x15, 5, 6, false], ["greater", 0x25, 0x8000_0000, 1, true], ["not greater", 0x25, 5, 5, false], ["greater or equal", 0x35, 5, 5, true],
    ["less", 0x35, 4, 5, false], ["bits set", 0x45, 0x8000_0000, 0x8000_0001, true], ["bits not set", 0x45, 2, 5, false],
  ];
  test.each(cases)("%s", (_, code, a, than, isTrue) => {
    const ends = [k(0x06, 1), k(0x06, 2)] as const;
    expect(run([k(0x00, a), [code, 0, 1, than], ...ends])).toBe(isTrue ? 1 : 2);
    expect(run([k(0x00, a), k(0x01, than), [code | 0x08, 0, 1, 0], ...ends])).toBe(isTrue ? 1 : 2);
  });

  test("always", () => expect(run([k(0x05, 1), k(0x06, 1), k(0x06, 2)])).toBe(2));

  test.each([
    ["nothing", []], ["no return at the end", [k(0x00, 1)]], ["an unknown opcode", [k(0xff, 0), k(0x06, 1)]], ["an opcode of more than 16 bits", [k(0x1_0006, 1)]],
    ["a jump out", [[0x15, 1, 0, 0], k(0x06, 1)]], ["a jump out where it is false", [[0x15, 0, 1, 0], k(0x06, 1)]], ["a jump back", [k(0x05, 0xffff_ffff), k(0x06, 1)]],
    ["a negative jump", [[0x15, -1, 0, 0], k(0x06, 1)]], ["memory that there is not", [k(0x02, 16), k(0x06, 1)]], ["a load of such memory", [k(0x61, 16), k(0x06, 1)]],
    ["too much", Array.from({ length: MAX_BPF_INSTRUCTIONS + 1 }, () => k(0x06, 1))], ["an operand that is no number", [k(0x06, Number.NaN)]],
  ] as readonly (readonly [string, readonly BpfInstruction[]])[])("%s is no program", (_, program) => {
    expect(createBpfFilter(program)).toBeNull();
  });
});

test("whatever is a program ends, and reads nothing beyond the frame", () => {
  const random = seededRandom(3);
  const codes = [0x20, 0x28, 0x30, 0x40, 0x48, 0x50, 0x60, 0x80, 0x01, 0x61, 0xb1, 0x02, 0x03, 0x0c, 0x1c, 0x3c, 0x6c, 0x9c, 0x05, 0x15, 0x2d, 0x45, 0x06, 0x16, 0x07, 0x87];
  let programs = 0;
  for (let made = 0; made < 20_000; made += 1) {
    const length = 1 + random(20);
    const program = Array.from({ length }, (_, at): BpfInstruction => {
      const code = at === length - 1 ? 0x16 : (codes[random(codes.length)] as number);
      return [code, random(4), random(4), random(3) === 0 ? random(2 ** 32) : random(16)];
    });
    const filter = createBpfFilter(program);
    if (!filter) continue;
    programs += 1;
    const results = [0x00, 0x77].map((around) => {
      const memory = new Uint8Array(40).fill(around);
      memory.set(FRAME, 16);
      return filter(memory, 16, FRAME.length, 60);
    });
    expect(results[0]).toBe(results[1]);
  }
  expect(programs).toBeGreaterThan(2000);
});
