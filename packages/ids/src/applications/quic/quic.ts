/** QUIC for rules: each datagram of the handshake is a transaction of one direction. @see RFC 9000 section 17.2, RFC 9001 section 5.2 */
import { createQuicParser, type QuicMessage } from "@lanthorn/traffic";
import {
  type Application, type ApplicationOutput, type ApplicationParser, type BufferStage, type FirstBytes, type RecognitionVerdict, STAGE_DONE,
} from "../application.ts";
import { FieldTransaction } from "../field-transaction.ts";
import { putHelloFields, putServerHelloFields } from "../tls/hello-fields.ts";

const HTTPS_PORT = 443;
const LONG_HEADER = 0x80;
const MAX_ID_BYTES = 20;
/** First byte, version, and the length of the destination's id. */
const MIN_BYTES = 6;

function createParser(output: ApplicationOutput): ApplicationParser {
  let current: FieldTransaction | null = null;
  let held = 0;
  const hold = (octets: number) => {
    held += octets;
    output.hold(octets);
  };
  // Keys are made for at most as many packets as a handshake takes: the parser bounds them.
  const parser = createQuicParser((message) => putMessage(current, message), hold, () => true);

  return {
    bytes(direction, bytes, at) {
      if (parser.isOver || bytes.length < MIN_BYTES || (bytes[0] as number) < LONG_HEADER) return;
      current = new FieldTransaction("quic");
      current.add(direction, "quic.version", bytes.slice(1, 5));
      parser.read(direction === "to-server" ? 0 : 1, bytes, at);
      current.setStage(direction, STAGE_DONE);
      output.onChange(current, direction);
      current.close(output, direction);
      current = null;
    },
    gap: () => undefined,
    end() {
      if (held > 0) output.hold(-held);
      held = 0;
    },
  };
}

function putMessage(transaction: FieldTransaction | null, message: QuicMessage): void {
  if (!transaction) return;
  if (message.kind === "client-hello") {
    const { serverName } = message.hello;
    if (serverName !== null) transaction.add("to-server", "quic.sni", Buffer.from(serverName, "latin1"));
    putHelloFields(transaction, message.hello);
  } else putServerHelloFields(transaction, message.hello);
}

/** Suricata asks for the server's port, and for a first packet that the client sends. */
function recognize({ flow, direction, bytes }: FirstBytes): RecognitionVerdict {
  if (flow.serverPort !== HTTPS_PORT || direction === "to-client" || bytes.length < MIN_BYTES) return "no";
  const isLong = (bytes[0] as number) >= LONG_HEADER + 0x40;
  return isLong && (bytes[5] as number) <= MAX_ID_BYTES && bytes.subarray(1, 5).some((byte) => byte !== 0) ? "yes" : "no";
}

const WHOLE: BufferStage = { stage: STAGE_DONE, grows: false };

/** `quic.ua` and CYU are of Google's QUIC before the standard, which nobody speaks any more; they are there and empty. @see https://docs.suricata.io/en/latest/rules/quic-keywords.html */
export const QUIC_APPLICATION: Application = {
  name: "quic",
  transports: ["udp"],
  create: createParser,
  buffers: new Map((["quic.sni", "quic.version", "quic.ua", "quic.cyu.hash", "quic.cyu.string", "ja3.hash", "ja3.string", "ja4.hash", "ja3s.hash", "ja3s.string"] as const).map((name) => [name, WHOLE])),
  numbers: new Map(),
  words: new Map(),
  events: new Set(),
  service: "quic",
  recognize,
};
