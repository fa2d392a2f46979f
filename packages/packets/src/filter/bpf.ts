/**
 * Classic BPF: the programs that libpcap's compiler makes of filters, run on the bytes of frames.
 * @see McCanne and Jacobson, The BSD Packet Filter, 1993; linux/filter.h; bpf(4) of FreeBSD
 */

/** One instruction: opcode, steps to skip when true and when false, operand of 32 bits. */
export type BpfInstruction = readonly [code: number, jumpTrue: number, jumpFalse: number, operand: number];

/**
 * Runs a program on a frame, which lies in `bytes` from `offset` on.
 * @param length Octets that there are.
 * @param wireLength Octets on the wire, what `len` and `greater` of pcap-filter(7) look at.
 * @returns Octets of it to keep, which may be more than there are; 0 where the filter refuses it.
 */
export type BpfFilter = (bytes: Uint8Array, offset: number, length: number, wireLength: number) => number;

/** BPF_MAXINSNS of Linux and BSD. */
export const MAX_BPF_INSTRUCTIONS = 4096;
/** BPF_MEMWORDS. */
const MEMORY_WORDS = 16;

const CLASS = 0x07;
const OPERATION = 0xf0;
const SOURCE_X = 0x08;
const MODE = 0xe0;
const MODE_MEMORY = 0x60;
const [LD, LDX, ST, STX, ALU, JMP, RET] = [0, 1, 2, 3, 4, 5, 6];
const JUMP_ALWAYS = 0x05;
const DIVIDE = 0x30;
const REMAINDER = 0x90;
const RETURN_K = 0x06;
const X_TO_A = 0x87;
/** Given by a load that does not fit: every value is 0 or more. */
const BEYOND = -1;

/** Every opcode there is, for checking before anything runs. */
const OPCODES: ReadonlySet<number> = new Set([
  // Load A: immediate, absolute and indexed in three sizes, memory, length.
  0x00, 0x20, 0x28, 0x30, 0x40, 0x48, 0x50, 0x60, 0x80,
  // Load X: immediate, memory, length, IP header's length.
  0x01, 0x61, 0x81, 0xb1,
  0x02, 0x03,
  // Add, subtract, multiply, divide, or, and, shift left and right, negate, remainder, exclusive or: by K and by X.
  0x04, 0x14, 0x24, 0x34, 0x44, 0x54, 0x64, 0x74, 0x84, 0x94, 0xa4, 0x0c, 0x1c, 0x2c, 0x3c, 0x4c, 0x5c, 0x6c, 0x7c, 0x9c, 0xac,
  // Always, equal, greater, greater or equal, bits set: by K and by X.
  0x05, 0x15, 0x25, 0x35, 0x45, 0x1d, 0x2d, 0x3d, 0x4d,
  // Return K, return A, A to X, X to A.
  0x06, 0x16, 0x07, 0x87,
]);

/**
 * Checks a program and makes it ready to run. Its jumps go forward only, so it ends after as many steps as it has instructions.
 * @returns What runs it, or null where it is none: empty, too long, an unknown opcode, a jump out of it, a store outside of memory, a
 * constant division by zero, or no return at its end. A load beyond the frame, and a division by zero, make it refuse the frame.
 */
export function createBpfFilter(program: readonly BpfInstruction[]): BpfFilter | null {
  const count = program.length;
  if (count === 0 || count > MAX_BPF_INSTRUCTIONS || !program.every((one, at) => isValid(one, count - at - 1))) return null;
  if (((program.at(-1)?.[0] ?? 0) & CLASS) !== RET) return null;
  const code = Uint8Array.from(program, (one) => one[0]);
  const jumpTrue = Uint8Array.from(program, (one) => one[1]);
  const jumpFalse = Uint8Array.from(program, (one) => one[2]);
  const operand = Uint32Array.from(program, (one) => one[3]);
  const memory = new Uint32Array(MEMORY_WORDS);
  return (bytes, offset, length, wireLength) => {
    const frame = { bytes, offset, end: Math.min(offset + length, bytes.length), wireLength, memory };
    memory.fill(0);
    let a = 0;
    let x = 0;
    for (let at = 0; at < count; at += 1) {
      const op = code[at] as number;
      const k = operand[at] as number;
      switch (op & CLASS) {
        case LD:
          a = load(op, (op & MODE) === 0x40 ? k + x : k, frame);
          if (a === BEYOND) return 0;
          break;
        case LDX:
          x = load(op, k, frame);
          if (x === BEYOND) return 0;
          break;
        case ST:
          memory[k] = a;
          break;
        case STX:
          memory[k] = x;
          break;
        case ALU: {
          const by = (op & SOURCE_X) === 0 ? k : x;
          if (by === 0 && isDivision(op)) return 0;
          a = calculate(op & OPERATION, a, by);
          break;
        }
        case JMP:
          if (op === JUMP_ALWAYS) at += k;
          else at += (holds(op & OPERATION, a, (op & SOURCE_X) === 0 ? k : x) ? jumpTrue[at] : jumpFalse[at]) as number;
          break;
        case RET:
          return op === RETURN_K ? k : a;
        default:
          if (op === X_TO_A) a = x;
          else x = a;
      }
    }
    return 0;
  };
}

interface LoadedFrom {
  readonly bytes: Uint8Array;
  readonly offset: number;
  readonly end: number;
  readonly wireLength: number;
  readonly memory: Uint32Array;
}

/** @param k The operand, to which X has been added where the load is indexed. */
function load(op: number, k: number, { bytes, offset, end, wireLength, memory }: LoadedFrom): number {
  const at = offset + k;
  switch (op) {
    case 0x28:
    case 0x48:
      return at + 2 > end ? BEYOND : ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
    case 0x30:
    case 0x50:
      return at + 1 > end ? BEYOND : (bytes[at] as number);
    case 0x20:
    case 0x40: {
      if (at + 4 > end) return BEYOND;
      const high = ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
      return ((high << 16) | ((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number)) >>> 0;
    }
    case 0xb1:
      return at + 1 > end ? BEYOND : ((bytes[at] as number) & 0x0f) << 2;
    case 0x60:
    case 0x61:
      return memory[k] as number;
    case 0x80:
    case 0x81:
      return wireLength >>> 0;
    default:
      return k;
  }
}

/** @returns 32 bits without sign; a shift by more than 31 leaves nothing. */
function calculate(operation: number, a: number, by: number): number {
  switch (operation) {
    case 0x00:
      return (a + by) >>> 0;
    case 0x10:
      return (a - by) >>> 0;
    case 0x20:
      return Math.imul(a, by) >>> 0;
    case DIVIDE:
      return Math.floor(a / by);
    case 0x40:
      return (a | by) >>> 0;
    case 0x50:
      return (a & by) >>> 0;
    case 0x60:
      return by > 31 ? 0 : (a << by) >>> 0;
    case 0x70:
      return by > 31 ? 0 : a >>> by;
    case 0x80:
      return -a >>> 0;
    case REMAINDER:
      return a % by;
    default:
      return (a ^ by) >>> 0;
  }
}

function holds(operation: number, a: number, than: number): boolean {
  switch (operation) {
    case 0x10:
      return a === than;
    case 0x20:
      return a > than;
    case 0x30:
      return a >= than;
    default:
      return (a & than) !== 0;
  }
}

function isDivision(code: number): boolean {
  return (code & CLASS) === ALU && ((code & OPERATION) === DIVIDE || (code & OPERATION) === REMAINDER);
}

/** @param after Instructions that follow. */
function isValid([code, jumpTrue, jumpFalse, operand]: BpfInstruction, after: number): boolean {
  if (!OPCODES.has(code) || !isUint(operand, 0xffff_ffff) || !isUint(jumpTrue, 0xff) || !isUint(jumpFalse, 0xff)) return false;
  switch (code & CLASS) {
    case JMP:
      return code === JUMP_ALWAYS ? operand < after : jumpTrue < after && jumpFalse < after;
    case ST:
    case STX:
      return operand < MEMORY_WORDS;
    case LD:
    case LDX:
      return (code & MODE) !== MODE_MEMORY || operand < MEMORY_WORDS;
    case ALU:
      return !isDivision(code) || (code & SOURCE_X) !== 0 || operand !== 0;
    default:
      return true;
  }
}

function isUint(value: number, most: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= most;
}
