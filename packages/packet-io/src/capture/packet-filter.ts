import type { BpfInstruction } from "@lanthorn/packets";
import { LINUX, loadLibc } from "../libc.ts";

const LOAD_WORD16 = 0x28;
const LOAD_BYTE = 0x30;
const LOAD_INDEXED_WORD16 = 0x48;
const LOAD_HEADER_LENGTH = 0xb1;
const JUMP_EQUAL = 0x15;
const JUMP_SET = 0x45;
const RETURN = 0x06;
const WHOLE_FRAME = 0x0004_0000;

/** Where DHCP servers answer to, whatever port asked. @see RFC 2131 section 4.1 */
const DHCP_CLIENT_PORT = 68;

/**
 * Takes what answers a scan: every ARP and ICMP message, TCP and UDP to one port of ours, and what DHCP servers answer.
 * @param port Our end of what was asked.
 */
export function scanAnswers(port: number): readonly BpfInstruction[] {
  const rules: (readonly [label: string, ...instruction: [number, string | number, string | number, number]])[] = [
    ["", LOAD_WORD16, 0, 0, 12],
    ["", JUMP_EQUAL, "accept", 0, 0x0806],
    ["", JUMP_EQUAL, "ipv6", 0, 0x86dd],
    ["", JUMP_EQUAL, 0, "refuse", 0x0800],
    ["", LOAD_BYTE, 0, 0, 23],
    ["", JUMP_EQUAL, "accept", 0, 1],
    ["", JUMP_EQUAL, "ports", 0, 6],
    ["", JUMP_EQUAL, "ports", "refuse", 17],
    ["ports", LOAD_WORD16, 0, 0, 20],
    // Behind the first fragment there are no ports.
    ["", JUMP_SET, "refuse", 0, 0x1fff],
    ["", LOAD_HEADER_LENGTH, 0, 0, 14],
    ["", LOAD_INDEXED_WORD16, 0, 0, 16],
    ["", JUMP_EQUAL, "accept", 0, port],
    ["", JUMP_EQUAL, "accept", "refuse", DHCP_CLIENT_PORT],
    ["ipv6", LOAD_BYTE, 0, 0, 20],
    ["", JUMP_EQUAL, "accept", 0, 58],
    // Extension headers, hop-by-hop as of Multicast Listener Discovery, routing, fragment,
    // destination options: few come, and who reads sees behind them.
    ["", JUMP_EQUAL, "accept", 0, 0],
    ["", JUMP_EQUAL, "accept", 0, 43],
    ["", JUMP_EQUAL, "accept", 0, 44],
    ["", JUMP_EQUAL, "accept", 0, 60],
    ["", JUMP_EQUAL, "ports6", 0, 6],
    ["", JUMP_EQUAL, "ports6", "refuse", 17],
    ["ports6", LOAD_WORD16, 0, 0, 56],
    ["", JUMP_EQUAL, "accept", "refuse", port],
    ["accept", RETURN, 0, 0, WHOLE_FRAME],
    ["refuse", RETURN, 0, 0, 0],
  ];
  const at = new Map(rules.map(([label], index) => [label, index]));
  const distance = (target: string | number, from: number) => (typeof target === "number" ? target : (at.get(target) as number) - from - 1);
  return rules.map(([, code, yes, no, operand], index) => [code, distance(yes, index), distance(no, index), operand]);
}

/** Takes nothing. */
export const NOTHING: readonly BpfInstruction[] = [[RETURN, 0, 0, 0]];

/**
 * Gives a socket a filter: the kernel drops what it does not take before anything else looks at it.
 * @returns Whether the kernel took it.
 */
export function attachFilter(socket: number, program: readonly BpfInstruction[]): boolean {
  const libc = loadLibc();
  const code = Buffer.allocUnsafeSlow(program.length * 8);
  program.forEach(([opcode, yes, no, operand], index) => {
    code.writeUInt16LE(opcode, index * 8);
    code.writeUInt8(yes, index * 8 + 2);
    code.writeUInt8(no, index * 8 + 3);
    code.writeUInt32LE(operand, index * 8 + 4);
  });
  const header = Buffer.allocUnsafeSlow(16).fill(0);
  header.writeUInt16LE(program.length, 0);
  header.writeBigUInt64LE(libc.addressOf(code), 8);
  return libc.setsockopt(socket, LINUX.SOL_SOCKET, LINUX.SO_ATTACH_FILTER, header, 16) === 0;
}
