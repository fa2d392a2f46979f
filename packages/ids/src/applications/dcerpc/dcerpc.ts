/** DCE/RPC over TCP for rules. @see C706 chapter 12 */
import {
  type Application, type ApplicationLimits, type ApplicationOutput, type ApplicationParser, type BufferStage, type Direction, type FirstBytes,
  type RecognitionVerdict, STAGE_DONE,
} from "../application.ts";
import { WaitingBytes } from "../waiting-bytes.ts";
import { createRpcCalls, readRpcHeader, RPC_HEADER_BYTES } from "./rpc-calls.ts";

function createParser(output: ApplicationOutput, limits: ApplicationLimits): ApplicationParser {
  const calls = createRpcCalls("dcerpc", output, limits, RPC_HEADER_BYTES);
  const sides = { "to-server": new WaitingBytes(output, 0xffff), "to-client": new WaitingBytes(output, 0xffff) };

  function take(direction: Direction, bytes: Uint8Array): number {
    if (bytes.length < RPC_HEADER_BYTES) return 0;
    const header = readRpcHeader(bytes);
    if (!header) return -1;
    if (bytes.length < header.length) return 0;
    calls.pdu(direction, header, bytes);
    return header.length;
  }

  function end(): void {
    sides["to-server"].close();
    sides["to-client"].close();
    calls.end();
  }

  return {
    bytes: (direction, bytes) => sides[direction].read(bytes, (all) => take(direction, all)),
    gap: (direction) => sides[direction].close(),
    end,
  };
}

function recognize({ bytes }: FirstBytes): RecognitionVerdict {
  if (bytes[0] !== 5 || (bytes[1] ?? 0) > 1) return "no";
  if (bytes.length < RPC_HEADER_BYTES) return "more";
  return readRpcHeader(bytes) ? "yes" : "no";
}

const RPC_STAGE: BufferStage = { stage: STAGE_DONE, grows: false };

/** @see https://docs.suricata.io/en/latest/rules/dcerpc-keywords.html */
export const DCERPC_APPLICATION: Application = {
  name: "dcerpc",
  transports: ["tcp"],
  create: createParser,
  buffers: new Map([["dcerpc.stub_data", RPC_STAGE]]),
  numbers: new Map(),
  words: new Map([["dcerpc.interface", RPC_STAGE], ["dcerpc.operation", RPC_STAGE]]),
  events: new Set(),
  service: null,
  recognize,
};
