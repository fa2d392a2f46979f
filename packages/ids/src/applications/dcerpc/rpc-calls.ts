/** Calls of DCE/RPC: a request and its response are a transaction. @see C706 (DCE 1.1: Remote Procedure Call) chapter 12 */
import { Reader } from "@lanthorn/packets";
import { type ApplicationLimits, type ApplicationOutput, type Direction, STAGE_DONE } from "../application.ts";
import { FieldTransaction } from "../field-transaction.ts";

/** Bytes before the body of a PDU. */
export const RPC_HEADER_BYTES = 16;
const TYPE = { request: 0, response: 2, fault: 3, bind: 11, bindAck: 12, alterContext: 14, alterContextResponse: 15, highest: 19 } as const;
const FLAG = { last: 0x02, object: 0x80 } as const;
const LITTLE_ENDIAN = 0x10;
const OBJECT_BYTES = 16;
const MAX_CONTEXTS = 64;
/** Calls that wait for an answer, and what is kept of each, both ways. */
const MAX_CALLS = 16;
const MAX_STUB_BYTES = 64 * 1024;

/** The header of a PDU, as far as it is needed to find its end. */
export interface RpcHeader {
  readonly type: number;
  readonly flags: number;
  readonly isLittleEndian: boolean;
  /** Of the whole PDU, header and all. */
  readonly length: number;
}

/** @param bytes From the first byte of a PDU. @returns null where it is none, or fewer than 16 bytes. */
export function readRpcHeader(bytes: Uint8Array): RpcHeader | null {
  const [version, minor = 0xff, type = 0xff, flags = 0, representation = 0] = bytes;
  if (bytes.length < RPC_HEADER_BYTES || version !== 5 || minor > 1 || type > TYPE.highest || (representation & ~LITTLE_ENDIAN) !== 0) return null;
  const isLittleEndian = representation === LITTLE_ENDIAN;
  const reader = new Reader(bytes, 8);
  const length = isLittleEndian ? reader.u16le() : reader.u16();
  return length < RPC_HEADER_BYTES ? null : { type, flags, isLittleEndian, length };
}

/** The calls of one connection or pipe. */
export interface RpcCalls {
  /** @param bytes A whole PDU. */
  pdu(direction: Direction, header: RpcHeader, bytes: Uint8Array): void;
  /** Ends those that wait for an answer. */
  end(): void;
}

/** A call, and what came of the stub data that is being sent. */
interface Call {
  readonly transaction: FieldTransaction;
  readonly parts: Readonly<Record<Direction, Uint8Array[]>>;
  size: number;
}

/** Of one fragment in memory, beside its bytes. */
const PART_OVERHEAD_BYTES = 100;

interface Context {
  readonly id: number;
  readonly interface: string;
  isAccepted: boolean;
}

/** @param responseStubAt Where Suricata lets the stub data of a response begin: over TCP before the hint of the size, in pipes of SMB behind it. */
export function createRpcCalls(application: string, output: ApplicationOutput, limits: ApplicationLimits, responseStubAt: number): RpcCalls {
  const calls = new Map<number, Call>();
  let contexts: Context[] = [];

  function finish(id: number, call: Call): void {
    calls.delete(id);
    call.transaction.close(output);
  }

  function open(id: number, isLittleEndian: boolean): Call {
    const call: Call = { transaction: new FieldTransaction(application), parts: { "to-server": [], "to-client": [] }, size: 0 };
    call.transaction.isLittleEndian = isLittleEndian;
    const [oldest] = calls;
    if (oldest && calls.size >= Math.min(limits.transactionsPerFlow, MAX_CALLS)) finish(oldest[0], oldest[1]);
    calls.set(id, call);
    return call;
  }

  /** Puts a fragment behind those before. With the last the stub data can be inspected. */
  function append(call: Call, direction: Direction, part: Uint8Array, isLast: boolean): void {
    const fitting = part.slice(0, Math.max(0, MAX_STUB_BYTES - call.size));
    call.size += fitting.length + PART_OVERHEAD_BYTES;
    const parts = call.parts[direction];
    parts.push(fitting);
    call.transaction.hold(output, fitting.length + PART_OVERHEAD_BYTES);
    if (!isLast && call.size < MAX_STUB_BYTES) return;
    call.transaction.replace(direction, "dcerpc.stub_data", parts.length === 1 ? fitting : Uint8Array.from(Buffer.concat(parts)));
    parts.length = 0;
    call.transaction.setStage(direction, STAGE_DONE);
    output.onChange(call.transaction, direction);
  }

  function onRequest(id: number, { flags, isLittleEndian }: RpcHeader, reader: Reader): void {
    reader.skip(4);
    const contextId = isLittleEndian ? reader.u16le() : reader.u16();
    const operation = isLittleEndian ? reader.u16le() : reader.u16();
    if ((flags & FLAG.object) !== 0) reader.skip(OBJECT_BYTES);
    if (reader.failed) return;
    const call = calls.get(id) ?? open(id, isLittleEndian);
    const context = contexts.find((one) => one.id === contextId);
    for (const direction of ["to-server", "to-client"] as const) {
      call.transaction.setWords(direction, "dcerpc.operation", String(operation));
      if (context?.isAccepted) call.transaction.setWords(direction, "dcerpc.interface", context.interface);
    }
    call.transaction.note("rpc_operation", operation);
    if (context) call.transaction.note("rpc_interface", context.interface);
    if (call.transaction.stageOf("to-server") !== STAGE_DONE) append(call, "to-server", reader.rest(), (flags & FLAG.last) !== 0);
  }

  function onResponse(id: number, { flags, isLittleEndian }: RpcHeader, bytes: Uint8Array): void {
    const call = calls.get(id) ?? open(id, isLittleEndian);
    append(call, "to-client", bytes.subarray(responseStubAt), (flags & FLAG.last) !== 0);
    if (call.transaction.stageOf("to-client") === STAGE_DONE) finish(id, call);
  }

  return {
    pdu(direction, header, bytes) {
      const reader = new Reader(bytes, 12, header.length);
      const id = header.isLittleEndian ? reader.u32le() : reader.u32();
      if (direction === "to-server" && (header.type === TYPE.bind || header.type === TYPE.alterContext)) contexts = [...contexts, ...readContexts(reader, header)].slice(-MAX_CONTEXTS);
      else if (direction === "to-client" && (header.type === TYPE.bindAck || header.type === TYPE.alterContextResponse)) acceptContexts(contexts, reader, header);
      else if (direction === "to-server" && header.type === TYPE.request) onRequest(id, header, reader);
      else if (direction === "to-client" && header.type === TYPE.response) onResponse(id, header, bytes.subarray(0, header.length));
      else if (direction === "to-client" && header.type === TYPE.fault) {
        const call = calls.get(id);
        if (call) finish(id, call);
      }
    },
    end() {
      for (const [id, call] of calls) finish(id, call);
    },
  };
}

/** @see C706 section 12.6.4.3 */
function readContexts(reader: Reader, { isLittleEndian }: RpcHeader): readonly Context[] {
  const u16 = () => (isLittleEndian ? reader.u16le() : reader.u16());
  const found: Context[] = [];
  reader.skip(8);
  const count = reader.u8();
  reader.skip(3);
  for (let left = count; left > 0 && !reader.failed; left -= 1) {
    const id = u16();
    const syntaxes = reader.u8();
    reader.skip(1);
    const uuid = uuidText(reader.take(16), isLittleEndian);
    reader.skip(4 + syntaxes * 20);
    if (!reader.failed) found.push({ id, interface: uuid, isAccepted: false });
  }
  return found;
}

/** Results stand in the order of the contexts that were offered last. @see C706 section 12.6.4.4 */
function acceptContexts(contexts: readonly Context[], reader: Reader, { isLittleEndian }: RpcHeader): void {
  const u16 = () => (isLittleEndian ? reader.u16le() : reader.u16());
  reader.skip(8);
  reader.skip(u16());
  reader.skip((4 - (reader.offset % 4)) % 4);
  const count = reader.u8();
  reader.skip(3);
  for (const context of contexts.slice(-count)) {
    const result = u16();
    reader.skip(22);
    if (!reader.failed && result === 0) context.isAccepted = true;
  }
}

function uuidText(bytes: Uint8Array, isLittleEndian: boolean): string {
  const order = isLittleEndian ? [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15] : Array.from({ length: 16 }, (_, at) => at);
  const digits = order.map((at) => (bytes[at] ?? 0).toString(16).padStart(2, "0")).join("");
  return [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)].join("-");
}
