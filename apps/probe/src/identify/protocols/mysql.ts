// The MySQL handshake, which the server begins. @see MySQL Internals, "Protocol::Handshake"
import { Reader } from "@lanthorn/packets";
import type { Connection, TlsSession } from "../connection.ts";
import { claims, learned, printable, type TcpProtocol, toText } from "../protocol.ts";

const CLIENT_SSL = 0x0800;
const ERROR = 0xff;
const VERSION_10 = 10;

interface MysqlGreeting {
  /** Null where the server turns the caller away, as it does with hosts that it does not know. */
  readonly version: string | null;
  readonly message: string;
  readonly offersTls: boolean;
}

/** The version from the server's greeting, then TLS where it is offered; nobody logs in. */
export const mysql: TcpProtocol = {
  name: "mysql",
  ports: [3306, 3307, 33_060],
  recognise(bytes) {
    if (bytes.length < 5) return bytes.length === 0 || (bytes[3] ?? 0) === 0 ? "more" : "no";
    const length = (bytes[0] ?? 0) | ((bytes[1] ?? 0) << 8) | ((bytes[2] ?? 0) << 16);
    if ((bytes[3] !== 0 && bytes[3] !== 1) || (bytes[4] !== VERSION_10 && bytes[4] !== ERROR) || length > 2048 || length < 8) return "no";
    return bytes.length >= length + 4 ? (decodeMysqlGreeting(bytes) ? "yes" : "no") : "more";
  },
  async learn(first, connection) {
    const greeting = decodeMysqlGreeting(first);
    if (!greeting) return null;
    const { version, message } = greeting;
    if (version === null) {
      const isMariaDb = /MariaDB/.test(message);
      return learned("mysql", { claims: claims("mysql", 0.9, { product: isMariaDb ? "MariaDB" : "MySQL" }), banner: printable(message) });
    }
    return learned("mysql", {
      answers: [{ kind: "mysql", text: version }], banner: printable(version), tls: await startMysqlTls(connection, greeting),
    });
  },
};

async function startMysqlTls(connection: Connection, greeting: MysqlGreeting): Promise<TlsSession | null> {
  if (!greeting.offersTls) return null;
  const packet = Buffer.alloc(36);
  packet.writeUIntLE(32, 0, 3);
  packet[3] = 1;
  packet.writeUInt32LE(CLIENT_SSL | 0x0200 | 0x8000, 4);
  packet.writeUInt32LE(1 << 24, 8);
  packet[12] = 45;
  connection.send(packet);
  return connection.startTls({ timeoutMs: 3000, alpn: [] });
}

function decodeMysqlGreeting(bytes: Uint8Array): MysqlGreeting | null {
  const reader = new Reader(bytes, 4);
  const kind = reader.u8();
  if (kind === ERROR) {
    const code = reader.u16le();
    const message = toText(bytes.subarray(reader.offset), 512);
    return !reader.failed && code >= 1000 && code < 3000 ? { version: null, message, offersTls: false } : null;
  }
  const end = bytes.indexOf(0, 5);
  if (kind !== VERSION_10 || end === -1 || end > 5 + 128) return null;
  const version = toText(bytes.subarray(5, end));
  const rest = new Reader(bytes, end + 1);
  rest.take(4 + 8 + 1);
  const capabilities = rest.u16le();
  return /^\d/.test(version) && !rest.failed ? { version, message: "", offersTls: (capabilities & CLIENT_SSL) !== 0 } : null;
}
